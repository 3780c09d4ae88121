//! Changes of one block in sorted lists. A long import has those of a thousand blocks in memory: a change takes 133 bytes in place of
//! 270 in a map.

use std::slice;

use crate::change_set::ValueChange;

/// Length of most keys.
const KEY_BYTES: usize = 48;

/// Changes of a block, by trie key.
#[derive(Debug, Clone, Default)]
pub(crate) struct SortedChanges {
    /// The keys, one behind the other, in ascending order.
    keys: Vec<u8>,
    /// The end of each key in `keys`, and its change.
    changes: Vec<(usize, ValueChange)>,
}

impl SortedChanges {
    pub(crate) fn with_capacity(changes: usize) -> Self {
        Self { keys: Vec::with_capacity(changes * KEY_BYTES), changes: Vec::with_capacity(changes) }
    }

    /// Returns the number of changed keys.
    pub(crate) fn len(&self) -> usize {
        self.changes.len()
    }

    /// Adds the change of a key above all others.
    pub(crate) fn push(&mut self, key: &[u8], change: ValueChange) {
        self.keys.extend_from_slice(key);
        self.changes.push((self.keys.len(), change));
    }

    /// Returns the end of the keys before the one at an index.
    fn start(&self, index: usize) -> usize {
        index.checked_sub(1).and_then(|before| self.changes.get(before)).map_or(0, |(end, _)| *end)
    }

    fn at(&self, index: usize) -> Option<(&[u8], &ValueChange)> {
        let (end, change) = self.changes.get(index)?;
        Some((self.keys.get(self.start(index)..*end)?, change))
    }

    /// Returns the number of keys below `key`.
    fn position(&self, key: &[u8]) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            if self.at(middle).is_some_and(|(found, _)| found < key) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// Returns the change of a key.
    pub(crate) fn get(&self, key: &[u8]) -> Option<&ValueChange> {
        self.at(self.position(key)).filter(|(found, _)| *found == key).map(|(_, change)| change)
    }

    /// Iterates over the changes of keys from `first` on, in key order.
    pub(crate) fn iter_from(&self, first: &[u8]) -> SortedChangeIter<'_> {
        let position = self.position(first);
        let changes = self.changes.get(position..).unwrap_or_default().iter();
        SortedChangeIter { keys: &self.keys, start: self.start(position), changes }
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut ValueChange> {
        self.changes.iter_mut().map(|(_, change)| change)
    }
}

/// Iterator over the changes of a block.
pub(crate) struct SortedChangeIter<'a> {
    keys: &'a [u8],
    /// Start of the next key.
    start: usize,
    changes: slice::Iter<'a, (usize, ValueChange)>,
}

impl<'a> Iterator for SortedChangeIter<'a> {
    type Item = (&'a [u8], &'a ValueChange);

    fn next(&mut self) -> Option<Self::Item> {
        let (end, change) = self.changes.next()?;
        let key = self.keys.get(self.start..*end)?;
        self.start = *end;
        Some((key, change))
    }
}
