//! Changes of the state by one block or by a series of blocks.
//!
//! Every executed block has one row with its changes. The rows of the best chain, undone from the head downwards, lead to
//! each earlier state; those of a branch, applied upwards, lead to its states. The same values by key and block number are
//! in the column `history`.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::Bound;

use rhizome_primitives::{B256, Bytes, keccak256};
use rhizome_trie::{KnownValue, StateDelta, Trie, TrieError};
use smallvec::SmallVec;

/// Longer values are stored once by their hash.
const INLINE_BYTES: usize = 32;
/// Hash and length of a long value.
const REFERENCE_BYTES: usize = 36;
/// Row of a value that was not written in the database of a fork. No value has this length.
const UNWRITTEN: [u8; 33] = [0; 33];

/// A value as rows have it: the bytes themselves up to 32 bytes, otherwise their Keccak hash and length. Empty if
/// the key has no value. In a fork also the fact that the key was not written: its value is that of the other chain.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StoredValue(SmallVec<[u8; REFERENCE_BYTES]>);

impl AsRef<[u8]> for StoredValue {
    fn as_ref(&self) -> &[u8] {
        self.row()
    }
}

/// Content of a [`StoredValue`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StoredValueView<'a> {
    Absent,
    Unwritten,
    Inline(&'a [u8]),
    Reference { hash: B256, length: usize },
}

impl StoredValue {
    /// Stores a value; an empty one is absent.
    pub fn new(value: Option<&Bytes>) -> Self {
        let value = value.map_or(&[][..], |value| value);
        if value.len() <= INLINE_BYTES {
            return Self(SmallVec::from_slice(value));
        }
        let mut row = SmallVec::new();
        row.extend_from_slice(keccak256(value).as_slice());
        // The trie refuses values of more than 2^24 - 1 bytes.
        row.extend_from_slice(&(value.len() as u32).to_be_bytes());
        Self(row)
    }

    /// Returns the value of a key that was not written in a fork.
    pub(crate) fn unwritten() -> Self {
        Self(SmallVec::from_slice(&UNWRITTEN))
    }

    /// Returns length in bytes and Keccak hash of the value; `None` if it is absent or unwritten.
    pub fn length_and_hash(&self) -> Option<(usize, B256)> {
        match Self::view(&self.0)? {
            StoredValueView::Absent | StoredValueView::Unwritten => None,
            StoredValueView::Inline(value) => Some((value.len(), keccak256(value))),
            StoredValueView::Reference { hash, length } => Some((length, hash)),
        }
    }

    /// Returns the bytes of the row.
    pub(crate) fn row(&self) -> &[u8] {
        &self.0
    }

    /// Returns true if the key has no value.
    pub fn is_absent(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns true if the key was not written in a fork.
    pub fn is_unwritten(&self) -> bool {
        self.0.as_slice() == UNWRITTEN
    }

    /// Returns true if the key has a value in this database.
    pub fn is_present(&self) -> bool {
        !self.is_absent() && !self.is_unwritten()
    }

    /// Returns the value as trie leaves have it; `None` if it is absent or unwritten.
    pub fn known(&self) -> Option<KnownValue<'_>> {
        match Self::view(&self.0)? {
            StoredValueView::Absent | StoredValueView::Unwritten => None,
            StoredValueView::Inline(value) => Some(KnownValue::Short(value)),
            StoredValueView::Reference { hash, length } => Some(KnownValue::Long(hash, u32::try_from(length).ok()?)),
        }
    }

    pub(crate) fn view(row: &[u8]) -> Option<StoredValueView<'_>> {
        match row.len() {
            0 => Some(StoredValueView::Absent),
            1..=INLINE_BYTES => Some(StoredValueView::Inline(row)),
            33 if row == UNWRITTEN => Some(StoredValueView::Unwritten),
            REFERENCE_BYTES => {
                let (hash, length) = row.split_at(32);
                let length = u32::from_be_bytes(length.try_into().ok()?);
                Some(StoredValueView::Reference { hash: B256::from_slice(hash), length: usize::try_from(length).ok()? })
            }
            _ => None,
        }
    }

    pub(crate) fn from_row(row: &[u8]) -> Option<Self> {
        Self::view(row).map(|_| Self(SmallVec::from_slice(row)))
    }
}

/// A value before and after a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValueChange {
    /// The value before.
    pub before: StoredValue,
    /// The value after.
    pub after: StoredValue,
}

/// Changes between two states, by trie key.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChangeSet {
    changes: BTreeMap<Box<[u8]>, ValueChange>,
}

impl ChangeSet {
    /// Returns the changes that a delta makes. `before` returns the value of a key before it. The delta must not delete
    /// accounts as a whole: their keys are deleted one by one.
    pub fn of<E>(delta: &StateDelta, mut before: impl FnMut(&[u8]) -> Result<Option<Bytes>, E>) -> Result<Self, E> {
        Self::of_stored(delta, |key| Ok(StoredValue::new(before(key)?.as_ref())))
    }

    /// Like [`ChangeSet::of`], with the values before in their stored form.
    pub(crate) fn of_stored<E>(
        delta: &StateDelta,
        mut before: impl FnMut(&[u8]) -> Result<StoredValue, E>,
    ) -> Result<Self, E> {
        let mut set = Self::default();
        for (key, after) in &delta.writes {
            let before = before(key)?;
            let after = StoredValue::new(after.as_ref());
            if before != after {
                set.changes.insert(key.as_slice().into(), ValueChange { before, after });
            }
        }
        Ok(set)
    }

    /// Returns true if nothing changes.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// Returns the number of changed keys.
    pub fn len(&self) -> usize {
        self.changes.len()
    }

    /// Iterates over the changes in key order.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], &ValueChange)> {
        self.changes.iter().map(|(key, change)| (&**key, change))
    }

    /// Returns the change of a key.
    pub fn get(&self, key: &[u8]) -> Option<&ValueChange> {
        self.changes.get(key)
    }

    /// Returns the value of a key before its change, for the trie; `None` if it is unchanged or had none.
    pub fn known_before(&self, key: &[u8]) -> Option<KnownValue<'_>> {
        self.get(key)?.before.known()
    }

    /// Makes the changes to a trie whose source has the long values.
    pub fn apply_to(&self, trie: &mut Trie) -> Result<(), TrieError> {
        let after = self.iter().map(|(key, change)| (key, change.after.known()));
        trie.apply_stored(after, &|key| self.known_before(key))
    }

    /// Iterates over the changes of keys that begin with a prefix.
    pub fn below<'a>(&'a self, prefix: &'a [u8]) -> impl Iterator<Item = (&'a [u8], &'a ValueChange)> {
        let from = (Bound::Included(prefix), Bound::Unbounded);
        let changes = self.changes.range::<[u8], _>(from).map(|(key, change)| (&**key, change));
        changes.take_while(move |(key, _)| key.starts_with(prefix))
    }

    /// Returns the changes in the opposite direction.
    pub fn reversed(mut self) -> Self {
        for change in self.changes.values_mut() {
            std::mem::swap(&mut change.before, &mut change.after);
        }
        self
    }

    /// Adds changes that follow these.
    pub fn extend(&mut self, next: Self) {
        for (key, change) in next.changes {
            match self.changes.entry(key) {
                Entry::Vacant(entry) => {
                    entry.insert(change);
                }
                Entry::Occupied(mut entry) => {
                    entry.get_mut().after = change.after;
                    if entry.get().before == entry.get().after {
                        entry.remove();
                    }
                }
            }
        }
    }

    /// Returns the row: for each change the key without the part that it shares with the key before, then both values.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut row = Vec::with_capacity(self.changes.len() * 80);
        let mut last: &[u8] = &[];
        for (key, change) in &self.changes {
            // Keys have at most 74 bytes.
            let shared = last.iter().zip(&**key).take_while(|(a, b)| a == b).count().min(u8::MAX.into());
            row.push(shared as u8);
            push_part(&mut row, key.get(shared..).unwrap_or_default());
            push_part(&mut row, change.before.row());
            push_part(&mut row, change.after.row());
            last = key;
        }
        row
    }

    pub(crate) fn decode(row: &[u8]) -> Option<Self> {
        let mut set = Self::default();
        let mut rest = row;
        let mut key = Vec::new();
        while let Some((shared, after)) = rest.split_first() {
            rest = after;
            if usize::from(*shared) > key.len() {
                return None;
            }
            key.truncate(usize::from(*shared));
            key.extend_from_slice(take_part(&mut rest)?);
            let before = StoredValue::from_row(take_part(&mut rest)?)?;
            let after = StoredValue::from_row(take_part(&mut rest)?)?;
            set.changes.insert(key.as_slice().into(), ValueChange { before, after });
        }
        Some(set)
    }
}

/// Replacement of the state after a block, other than by its transactions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplacedState {
    /// State root that the transactions of the block led to.
    pub original_root: B256,
    /// Changes from that state to the stored one.
    pub changes: ChangeSet,
}

impl ReplacedState {
    pub(crate) fn new(original_root: B256) -> Self {
        Self { original_root, changes: ChangeSet::default() }
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        [self.original_root.as_slice(), &self.changes.encode()].concat()
    }

    pub(crate) fn decode(row: &[u8]) -> Option<Self> {
        let (root, changes) = row.split_at_checked(32)?;
        Some(Self { original_root: B256::from_slice(root), changes: ChangeSet::decode(changes)? })
    }
}

/// Appends at most 255 bytes behind their length.
fn push_part(row: &mut Vec<u8>, part: &[u8]) {
    row.push(part.len() as u8);
    row.extend_from_slice(part);
}

fn take_part<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (length, after) = rest.split_first()?;
    let (part, after) = after.split_at_checked(usize::from(*length))?;
    *rest = after;
    Some(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delta(writes: &[(&str, Option<&[u8]>)]) -> StateDelta {
        let writes = writes.iter().map(|(key, value)| (key.as_bytes().to_vec(), value.map(Bytes::copy_from_slice)));
        StateDelta { writes: writes.collect(), ..StateDelta::default() }
    }

    fn changes(writes: &[(&str, Option<&[u8]>)], before: &[(&str, &[u8])]) -> ChangeSet {
        let find = |key: &[u8]| before.iter().find(|(name, _)| name.as_bytes() == key);
        let read = |key: &[u8]| Ok::<_, ()>(find(key).map(|(_, value)| Bytes::copy_from_slice(value)));
        ChangeSet::of(&delta(writes), read).unwrap()
    }

    #[test]
    fn rows_round_trip() {
        let long = [7; 33];
        let set = changes(
            &[("account", Some(b"1")), ("account/slot", Some(&long)), ("account/slot2", None), ("b", Some(b""))],
            &[("account/slot2", &long), ("b", b"x")],
        );
        assert_eq!(set.len(), 4);
        let row = set.encode();
        assert_eq!(ChangeSet::decode(&row), Some(set.clone()));
        for length in 1..row.len() {
            // A row that ends behind a change is a shorter set; any other is damaged.
            assert!(ChangeSet::decode(&row[..length]).is_none_or(|set| set.len() < 4), "{length}");
        }
        assert!(set.get(b"b").unwrap().after.is_absent());
        let reference = StoredValue::view(set.get(b"account/slot").unwrap().after.row());
        assert_eq!(reference, Some(StoredValueView::Reference { hash: keccak256(long), length: 33 }));
    }

    #[test]
    fn a_value_that_stays_is_no_change() {
        assert!(changes(&[("a", Some(b"1")), ("b", None)], &[("a", b"1")]).is_empty());
    }

    #[test]
    fn changes_that_are_undone_vanish() {
        let mut set = changes(&[("a", Some(b"2")), ("b", Some(b"1"))], &[("a", b"1")]);
        let undone = set.clone().reversed();
        set.extend(changes(&[("a", Some(b"3"))], &[("a", b"2")]));
        assert_eq!(set.get(b"a").unwrap().before, StoredValue::new(Some(&Bytes::from_static(b"1"))));
        set.extend(changes(&[("a", Some(b"2"))], &[("a", b"3")]));
        set.extend(undone);
        assert!(set.is_empty());
    }
}
