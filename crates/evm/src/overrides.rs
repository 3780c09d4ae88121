//! What a local execution pretends: other accounts, and built-in contracts at other addresses.

use rhizome_primitives::{Address, BRIDGE, Bytes, I256, REMASC, Rules, U256};
use rhizome_trie::StateError;

use crate::error::OverrideRefusal;
use crate::precompiles::{PrecompileEntry, precompile_at};
use crate::state::State;

/// What is pretended about one account. What is none stays as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AccountOverride {
    /// The account.
    pub address: Address,
    /// Wei, below 2^255.
    pub balance: Option<I256>,
    /// Transactions that it made.
    pub nonce: Option<U256>,
    /// Code; empty: none.
    pub code: Option<Bytes>,
    /// All cells there are.
    pub state: Option<Vec<(U256, U256)>>,
    /// Single cells.
    pub state_diff: Option<Vec<(U256, U256)>>,
    /// Where the built-in contract of this address can be called as well.
    pub move_precompile_to: Option<Address>,
}

/// What is pretended about all accounts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StateOverrides {
    /// Each account once, in the order in which they were given.
    pub accounts: Vec<AccountOverride>,
}

impl AccountOverride {
    fn changes_state(&self) -> bool {
        let Self { balance, nonce, code, state, state_diff, .. } = self;
        balance.is_some() || nonce.is_some() || code.is_some() || state.is_some() || state_diff.is_some()
    }

    fn apply(&self, state: &mut State) -> Result<(), StateError> {
        if let Some(balance) = self.balance {
            state.set_balance(self.address, balance)?;
        }
        if let Some(nonce) = self.nonce {
            state.set_nonce(self.address, nonce)?;
        }
        if let Some(code) = &self.code {
            if !code.is_empty() {
                state.setup_contract(self.address)?;
            }
            state.save_code(self.address, code.clone())?;
        }
        if self.state.is_some() {
            state.clear_storage(self.address)?;
        }
        for (slot, word) in self.state.iter().chain(&self.state_diff).flatten() {
            state.set_storage_word(self.address, *slot, *word)?;
        }
        Ok(())
    }
}

impl StateOverrides {
    /// Whether nothing is pretended.
    pub fn is_empty(&self) -> bool {
        self.accounts.is_empty()
    }

    /// Where built-in contracts are, or why this cannot be pretended under these rules.
    pub(crate) fn moves(&self, rules: &Rules) -> Result<Option<MovedPrecompiles>, OverrideRefusal> {
        let mut moves = Vec::new();
        for account in &self.accounts {
            let address = account.address;
            if account.state.is_some() && account.state_diff.is_some() {
                return Err(OverrideRefusal::StateAndDiff(address));
            }
            let Some(entry) = precompile_at(&address, rules) else {
                if account.move_precompile_to.is_some() {
                    return Err(OverrideRefusal::NotMovable(address));
                }
                continue;
            };
            if account.changes_state() {
                return Err(OverrideRefusal::Precompile(address));
            }
            let Some(to) = account.move_precompile_to else { continue };
            if address == BRIDGE || address == REMASC {
                return Err(OverrideRefusal::NotMovable(address));
            }
            if self.accounts.iter().any(|other| other.address == to) {
                return Err(OverrideRefusal::MovedToOverridden(to));
            }
            if moves.iter().any(|(taken, _)| *taken == to) {
                return Err(OverrideRefusal::MovedTwice(to));
            }
            moves.push((to, entry));
        }
        Ok((!moves.is_empty()).then_some(MovedPrecompiles(moves)))
    }

    /// Changes a state; cannot be taken back.
    pub(crate) fn apply(&self, state: &mut State) -> Result<(), StateError> {
        self.accounts.iter().try_for_each(|account| account.apply(state))?;
        state.settle();
        Ok(())
    }
}

/// Built-in contracts at additional addresses. They can still be called at their own (reference).
pub(crate) struct MovedPrecompiles(Vec<(Address, &'static PrecompileEntry)>);

impl MovedPrecompiles {
    pub(crate) fn precompile_at(&self, address: &Address) -> Option<&'static PrecompileEntry> {
        self.0.iter().find(|(place, _)| place == address).map(|(_, entry)| *entry)
    }
}
