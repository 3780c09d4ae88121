//! The undo log.

use std::sync::Arc;

use rhizome_primitives::{Address, U256};
use rhizome_trie::StateReader;
use rhizome_trie::account::AccountState;

use super::State;
use super::account::{AccountIndex, CellIndex, CellValue, Parts};
use super::code::Code;

/// A point of the undo log. Only good for the state that made it, and only until it settles.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Checkpoint(usize);

/// How one change is taken back.
#[derive(Clone)]
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
        if !self.is_recording {
            self.journal.clear();
        }
    }

    /// Keeps the undo log from now on: checkpoints stay good for [`State::at`].
    pub(crate) fn start_recording(&mut self) {
        self.is_recording = true;
    }

    /// A copy as it was at a checkpoint between two transactions, over the same base. Cells and accounts that were read
    /// later are known to it all the same.
    pub(crate) fn at(&self, checkpoint: Checkpoint, reader: Arc<dyn StateReader>) -> State {
        let mut state = State {
            accounts: self.accounts.clone(),
            cells: self.cells.clone(),
            index: self.index.clone(),
            remasc_sender: self.remasc_sender,
            ..State::new(reader)
        };
        for undo in self.journal.iter().skip(checkpoint.0).rev() {
            state.take_back(undo.clone());
        }
        state.clear_transient();
        state
    }

    /// Reads from another reader of the same base. Returns the one before.
    pub(crate) fn replace_reader(&mut self, reader: Arc<dyn StateReader>) -> Arc<dyn StateReader> {
        std::mem::replace(&mut self.reader, reader)
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
