//! State overrides of local calls: accounts, and precompiles at other addresses.

use rhizome_primitives::{Address, BRIDGE, Bytes, I256, REMASC, Rules, U256};
use rhizome_trie::StateError;

use crate::error::OverrideRefusal;
use crate::precompiles::{PrecompileEntry, precompile_at};
use crate::state::State;

/// Overrides of one account. `None` leaves the value unchanged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AccountOverride {
    /// The account.
    pub address: Address,
    /// Wei, below 2^255.
    pub balance: Option<I256>,
    /// Nonce.
    pub nonce: Option<U256>,
    /// Code. Empty code removes it.
    pub code: Option<Bytes>,
    /// All storage slots: other slots become zero.
    pub state: Option<Vec<(U256, U256)>>,
    /// Single storage slots.
    pub state_diff: Option<Vec<(U256, U256)>>,
    /// Additional address of the precompile at `address`.
    pub move_precompile_to: Option<Address>,
}

/// Overrides of the accounts of a local call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StateOverrides {
    /// Each account once, in the order of the request.
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
    /// Whether there are no overrides.
    pub fn is_empty(&self) -> bool {
        self.accounts.is_empty()
    }

    /// Returns the moved precompiles, or the reason why these rules do not allow the overrides.
    pub(crate) fn moved_precompiles(&self, rules: &Rules) -> Result<Option<MovedPrecompiles>, OverrideRefusal> {
        let mut moved = Vec::new();
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
            if moved.iter().any(|(new, _)| *new == to) {
                return Err(OverrideRefusal::MovedTwice(to));
            }
            moved.push((to, entry));
        }
        Ok((!moved.is_empty()).then_some(MovedPrecompiles(moved)))
    }

    /// Applies the overrides to a state. This cannot be reverted.
    pub(crate) fn apply(&self, state: &mut State) -> Result<(), StateError> {
        self.accounts.iter().try_for_each(|account| account.apply(state))?;
        state.settle();
        Ok(())
    }
}

/// Precompiles at additional addresses. As in the reference, their own address stays valid.
pub(crate) struct MovedPrecompiles(Vec<(Address, &'static PrecompileEntry)>);

impl MovedPrecompiles {
    pub(crate) fn precompile_at(&self, address: &Address) -> Option<&'static PrecompileEntry> {
        self.0.iter().find(|(moved, _)| moved == address).map(|(_, entry)| *entry)
    }
}
