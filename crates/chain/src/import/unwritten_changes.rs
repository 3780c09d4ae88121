//! Changes of executed blocks that are not written yet.

use std::collections::{HashMap, VecDeque};
use std::hash::BuildHasher;
use std::sync::Arc;

use foldhash::fast::RandomState;
use rhizome_primitives::Bytes;
use rhizome_trie::StateDelta;

/// Number of entries below which those of removed deltas are not looked for.
const MIN_ENTRIES: usize = 4096;

/// The changes of the blocks in flight, oldest first. Clones share the changes.
#[derive(Clone, Default)]
pub(crate) struct UnwrittenChanges {
    deltas: VecDeque<Arc<StateDelta>>,
    /// Number of the deltas that were removed.
    removed: usize,
    /// Index of the last delta that changes a key with some hash, counted from the first delta ever: most keys that a block reads are in
    /// none of hundreds of deltas. Entries of removed deltas stay until they are half of all.
    last_changes: HashMap<u64, usize, RandomState>,
    /// Number of changes in `deltas`.
    changes: usize,
}

impl UnwrittenChanges {
    /// Adds the changes of the next block.
    pub(crate) fn push(&mut self, delta: Arc<StateDelta>) {
        let index = self.removed + self.deltas.len();
        for key in delta.writes.keys() {
            self.last_changes.insert(self.last_changes.hasher().hash_one(key), index);
        }
        self.changes += delta.writes.len();
        self.deltas.push_back(delta);
    }

    /// Removes the changes of the oldest block.
    pub(crate) fn pop(&mut self) {
        let Some(delta) = self.deltas.pop_front() else { return };
        self.removed += 1;
        self.changes = self.changes.saturating_sub(delta.writes.len());
        if self.deltas.is_empty() {
            self.last_changes.clear();
        } else if self.last_changes.len() > MIN_ENTRIES.max(self.changes.saturating_mul(2)) {
            self.last_changes.retain(|_, last| *last >= self.removed);
        }
    }

    /// Returns the value that the last block to change a key gave it; `None` if no block changes it.
    pub(crate) fn get(&self, key: &[u8]) -> Option<&Option<Bytes>> {
        let last = self.last_changes.get(&self.last_changes.hasher().hash_one(key))?;
        let last = self.deltas.get(last.checked_sub(self.removed)?)?.writes.get(key);
        // The last delta changes another key if both have the same hash.
        last.or_else(|| self.deltas.iter().rev().find_map(|delta| delta.writes.get(key)))
    }

    /// Iterates over the keys that blocks change, some of them more than once.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &[u8]> {
        self.deltas.iter().flat_map(|delta| delta.writes.keys().map(Vec::as_slice))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delta(keys: std::ops::Range<usize>, value: u8) -> Arc<StateDelta> {
        let writes = keys.map(|key| (key.to_be_bytes().to_vec(), Some(Bytes::from(vec![value]))));
        Arc::new(StateDelta { writes: writes.collect(), ..StateDelta::default() })
    }

    #[test]
    fn the_last_block_in_flight_has_the_value() {
        let mut unwritten = UnwrittenChanges::default();
        let value = |unwritten: &UnwrittenChanges, key: usize| {
            unwritten.get(&key.to_be_bytes()).map(|value| value.as_ref().map(|value| value[0]))
        };
        unwritten.push(delta(0..3, 1));
        unwritten.push(delta(2..4, 2));
        assert_eq!(
            (value(&unwritten, 0), value(&unwritten, 2), value(&unwritten, 9)),
            (Some(Some(1)), Some(Some(2)), None)
        );
        unwritten.pop();
        assert_eq!((value(&unwritten, 0), value(&unwritten, 2)), (None, Some(Some(2))));
        unwritten.push(delta(0..1, 3));
        assert_eq!((value(&unwritten, 0), value(&unwritten, 3)), (Some(Some(3)), Some(Some(2))));
    }

    #[test]
    fn entries_of_removed_blocks_are_bounded() {
        let mut unwritten = UnwrittenChanges::default();
        for block in 0..100 {
            unwritten.push(delta(block * 1000..block * 1000 + 1100, block as u8));
            if block >= 3 {
                unwritten.pop();
                assert!(unwritten.last_changes.len() <= 2 * 3 * 1100, "{}", unwritten.last_changes.len());
            }
        }
        // Blocks 97 to 99 are left; each changes 100 keys that the next one changes, too.
        for (key, expected) in [(96_999, None), (97_099, Some(97)), (98_050, Some(98)), (99_099, Some(99))] {
            let found = unwritten.get(&usize::to_be_bytes(key)).and_then(|value| value.as_ref().map(|value| value[0]));
            assert_eq!(found, expected, "{key}");
        }
        (0..3).for_each(|_| unwritten.pop());
        assert!(unwritten.last_changes.is_empty() && unwritten.get(&99_000_usize.to_be_bytes()).is_none());
    }
}
