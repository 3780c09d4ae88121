//! The undo log.

use rhizome_primitives::{Address, U256};
use rhizome_trie::account::AccountState;

use super::State;
use super::account::{AccountIndex, CellIndex, CellValue, Parts};
use super::code::Code;

/// A point of the undo log. Only good for the state that made it, and only until it settles.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Checkpoint(usize);

/// How one change is taken back.
pub(super) enum Undo {
    Value { account: AccountIndex, previous: Option<AccountState>, was_written: bool },
    Mark { account: AccountIndex, previous: bool, was_written: bool },
    Code { account: AccountIndex, previous: Code, was_written: bool },
    Cell { cell: CellIndex, previous: CellValue, was_written: bool },
    Deletion { account: AccountIndex, previous: Box<Parts> },
    Transient { address: Address, slot: U256, previous: U256 },
}

impl State {
    /// Where [`State::revert`] can come back to.
    #[inline]
    pub fn checkpoint(&self) -> Checkpoint {
        Checkpoint(self.journal.len())
    }

    /// Takes back every change made since the checkpoint.
    pub fn revert(&mut self, to: Checkpoint) {
        while self.journal.len() > to.0 {
            if let Some(undo) = self.journal.pop() {
                self.take_back(undo);
            }
        }
    }

    /// Makes everything so far final: earlier checkpoints are no longer good for anything.
    pub fn settle(&mut self) {
        self.journal.clear();
    }

    fn take_back(&mut self, undo: Undo) {
        match undo {
            Undo::Value { account, previous, was_written } => {
                let slot = &mut self.account_at(account).parts.value;
                slot.current = previous;
                slot.is_written = was_written;
            }
            Undo::Mark { account, previous, was_written } => {
                let slot = &mut self.account_at(account).parts.is_marked;
                slot.current = previous;
                slot.is_written = was_written;
            }
            Undo::Code { account, previous, was_written } => {
                let slot = &mut self.account_at(account).parts.code;
                slot.current = previous;
                slot.is_written = was_written;
            }
            Undo::Cell { cell, previous, was_written } => {
                let cell = self.cell_at(cell);
                cell.current = previous;
                cell.is_written = was_written;
            }
            Undo::Deletion { account, previous } => self.account_at(account).parts = *previous,
            Undo::Transient { address, slot, previous } => self.transient.put_back(address, slot, previous),
        }
    }
}
