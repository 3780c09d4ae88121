//! Transient storage (RSKIP-446): words that live until the end of the transaction.

use crate::hash_maps::HashMap;
use rhizome_primitives::{Address, U256};

use super::State;
use super::journal::Undo;

#[derive(Default)]
pub(super) struct Transient(HashMap<(Address, U256), U256>);

impl Transient {
    pub(super) fn put_back(&mut self, address: Address, slot: U256, word: U256) {
        self.0.insert((address, slot), word);
    }
}

impl State {
    /// The word of a transient cell, zero if there is none.
    pub fn transient_word(&self, address: &Address, slot: &U256) -> U256 {
        self.transient.0.get(&(*address, *slot)).copied().unwrap_or_default()
    }

    /// Writes a transient cell.
    pub fn set_transient_word(&mut self, address: Address, slot: U256, word: U256) {
        let previous = self.transient.0.insert((address, slot), word).unwrap_or_default();
        self.journal.push(Undo::Transient { address, slot, previous });
    }

    /// Empties the transient storage at the end of a transaction; cannot be reverted.
    pub fn clear_transient(&mut self) {
        self.transient.0.clear();
    }
}
