//! Transient storage (RSKIP-446): words that live until the end of the transaction.

use crate::hash_maps::HashMap;
use rhizome_primitives::{Address, U256};

#[derive(Default)]
pub(super) struct Transient(HashMap<(Address, U256), U256>);

impl Transient {
    /// Returns a word, zero if absent.
    pub(super) fn get(&self, address: &Address, slot: &U256) -> U256 {
        self.0.get(&(*address, *slot)).copied().unwrap_or_default()
    }

    /// Writes a word. Returns the previous word.
    pub(super) fn set(&mut self, address: Address, slot: U256, word: U256) -> U256 {
        self.0.insert((address, slot), word).unwrap_or_default()
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}
