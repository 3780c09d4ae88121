//! The undo log: one entry for each change.

use rhizome_primitives::{Address, U256};
use rhizome_trie::account::AccountState;

use super::State;
use super::account::{AccountIndex, AccountParts, SlotContent, SlotIndex};
use super::code::Code;

/// A position in the undo log, valid only for the state that returned it, until [`State::settle`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Checkpoint(pub(super) usize);

/// A change with the previous value.
#[derive(Clone)]
pub(super) enum Undo {
    Value { account: AccountIndex, previous: Option<AccountState>, was_written: bool },
    Mark { account: AccountIndex, previous: bool, was_written: bool },
    Code { account: AccountIndex, previous: Code, was_written: bool },
    Slot { slot: SlotIndex, previous: SlotContent, was_written: bool },
    Deletion { account: AccountIndex, previous: Box<AccountParts> },
    Transient { address: Address, slot: U256, previous: U256 },
}

impl Undo {
    /// Restores the previous value.
    pub(super) fn apply(self, state: &mut State) {
        match self {
            Undo::Value { account, previous, was_written } => {
                let value = &mut state.account_at(account).parts.value;
                value.current = previous;
                value.is_written = was_written;
            }
            Undo::Mark { account, previous, was_written } => {
                let mark = &mut state.account_at(account).parts.is_marked;
                mark.current = previous;
                mark.is_written = was_written;
            }
            Undo::Code { account, previous, was_written } => {
                let code = &mut state.account_at(account).parts.code;
                code.current = previous;
                code.is_written = was_written;
            }
            Undo::Slot { slot, previous, was_written } => {
                let record = state.slot_at(slot);
                record.current = previous;
                record.is_written = was_written;
            }
            Undo::Deletion { account, previous } => state.account_at(account).parts = *previous,
            Undo::Transient { address, slot, previous } => _ = state.transient.set(address, slot, previous),
        }
    }
}
