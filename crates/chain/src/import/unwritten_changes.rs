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
    /// Number of the deltas that were removed.
    removed: usize,
    /// The keys that deltas change, by hash: most keys that a block reads are in none of hundreds of deltas.
    keys: HashMap<u64, ChangedKey, RandomState>,
}

/// Deltas that change a key with some hash.
#[derive(Clone, Default)]
struct ChangedKey {
    count: u32,
    /// Index of the last one, counted from the first delta ever.
    last: usize,
}

impl UnwrittenChanges {
    /// Adds the changes of the next block.
    pub(crate) fn push(&mut self, delta: Arc<StateDelta>) {
        let index = self.removed + self.deltas.len();
        for key in delta.writes.keys() {
            let changed = self.keys.entry(self.keys.hasher().hash_one(key)).or_default();
            changed.count += 1;
            changed.last = index;
        }
        self.deltas.push_back(delta);
    }

    /// Removes the changes of the oldest block.
    pub(crate) fn pop(&mut self) {
        let Some(delta) = self.deltas.pop_front() else { return };
        self.removed += 1;
        if self.deltas.is_empty() {
            return self.keys.clear();
        }
        for key in delta.writes.keys() {
            let hash = self.keys.hasher().hash_one(key);
            if let Some(changed) = self.keys.get_mut(&hash) {
                changed.count -= 1;
                if changed.count == 0 {
                    self.keys.remove(&hash);
                }
            }
        }
    }

    /// Returns the value that the last block to change a key gave it; `None` if no block changes it.
    pub(crate) fn get(&self, key: &[u8]) -> Option<&Option<Bytes>> {
        let changed = self.keys.get(&self.keys.hasher().hash_one(key))?;
        let index = changed.last.checked_sub(self.removed)?;
        // The last delta changes another key if both have the same hash.
        let last = self.deltas.get(index)?.writes.get(key);
        last.or_else(|| self.deltas.iter().rev().find_map(|delta| delta.writes.get(key)))
    }

    /// Iterates over the keys that blocks change, some of them more than once.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &[u8]> {
        self.deltas.iter().flat_map(|delta| delta.writes.keys().map(Vec::as_slice))
    }
}
