//! Changes of executed blocks that are not written yet.

use std::collections::{HashMap, VecDeque};
use std::hash::BuildHasher;
use std::sync::Arc;

use foldhash::fast::RandomState;
use rhizome_primitives::Bytes;
use rhizome_trie::StateDelta;

/// The changes of the blocks in flight, oldest first. Clones share the changes.
#[derive(Clone, Default)]
pub(crate) struct UnwrittenChanges {
    deltas: VecDeque<Arc<StateDelta>>,
    /// Number of deltas that change a key with this hash: most keys that a block reads are in none of hundreds of deltas.
    keys: HashMap<u64, u32, RandomState>,
}

impl UnwrittenChanges {
    /// Adds the changes of the next block.
    pub(crate) fn push(&mut self, delta: Arc<StateDelta>) {
        for key in delta.writes.keys() {
            let hash = self.keys.hasher().hash_one(key);
            *self.keys.entry(hash).or_default() += 1;
        }
        self.deltas.push_back(delta);
    }

    /// Removes the changes of the oldest block.
    pub(crate) fn pop(&mut self) {
        let Some(delta) = self.deltas.pop_front() else { return };
        if self.deltas.is_empty() {
            return self.keys.clear();
        }
        for key in delta.writes.keys() {
            let hash = self.keys.hasher().hash_one(key);
            if let Some(count) = self.keys.get_mut(&hash) {
                *count -= 1;
                if *count == 0 {
                    self.keys.remove(&hash);
                }
            }
        }
    }

    /// Returns the value that the last block to change a key gave it; `None` if no block changes it.
    pub(crate) fn get(&self, key: &[u8]) -> Option<&Option<Bytes>> {
        if !self.keys.contains_key(&self.keys.hasher().hash_one(key)) {
            return None;
        }
        self.deltas.iter().rev().find_map(|delta| delta.writes.get(key))
    }

    /// Iterates over the keys that blocks change, some of them more than once.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &[u8]> {
        self.deltas.iter().flat_map(|delta| delta.writes.keys().map(Vec::as_slice))
    }
}
