//! Changes of the state by one block or by a series of blocks.
//!
//! Every executed block has one row with its changes. The rows of the best chain, undone from the head downwards, lead to
//! each earlier state; those of a branch, applied upwards, lead to its states. The same values by key and block number are
//! in the column `history`.

use std::collections::BTreeMap;
use std::collections::btree_map::{Entry, Range};
use std::ops::Bound;

use rhizome_primitives::{B256, Bytes, keccak256};
use rhizome_trie::{KnownValue, StateDelta, Trie, TrieError};

use crate::sorted_changes::{SortedChangeIter, SortedChanges};

/// Longer values are stored once by their hash.
const INLINE_BYTES: usize = 32;
/// Hash and length of a long value.
const REFERENCE_BYTES: usize = 36;
/// Row of a value that was not written in the database of a fork. No value has this length.
const UNWRITTEN: [u8; 33] = [0; 33];

/// A value as rows have it: the bytes themselves up to 32 bytes, otherwise their Keccak hash and length. Empty if
/// the key has no value. In a fork also the fact that the key was not written: its value is that of the other chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredValue {
    length: u8,
    /// The row, with zeros behind it.
    bytes: [u8; REFERENCE_BYTES],
}

impl Default for StoredValue {
    fn default() -> Self {
        Self { length: 0, bytes: [0; REFERENCE_BYTES] }
    }
}

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
    pub fn new(value: Option<&(impl AsRef<[u8]> + ?Sized)>) -> Self {
        Self::of_bytes(value.map_or(&[], AsRef::as_ref))
    }

    fn of_bytes(value: &[u8]) -> Self {
        if value.len() <= INLINE_BYTES {
            return Self::of_row(value);
        }
        let mut row = [0; REFERENCE_BYTES];
        let (hash, length) = row.split_at_mut(32);
        hash.copy_from_slice(keccak256(value).as_slice());
        // The trie refuses values of more than 2^24 - 1 bytes.
        length.copy_from_slice(&(value.len() as u32).to_be_bytes());
        Self::of_row(&row)
    }

    /// `row`: at most [`REFERENCE_BYTES`].
    fn of_row(row: &[u8]) -> Self {
        let mut stored = Self::default();
        if let Some(bytes) = stored.bytes.get_mut(..row.len()) {
            bytes.copy_from_slice(row);
            stored.length = row.len() as u8;
        }
        stored
    }

    /// Returns the value of a key that was not written in a fork.
    pub(crate) fn unwritten() -> Self {
        Self::of_row(&UNWRITTEN)
    }

    /// Returns length in bytes and Keccak hash of the value; `None` if it is absent or unwritten.
    pub fn length_and_hash(&self) -> Option<(usize, B256)> {
        match Self::view(self.row())? {
            StoredValueView::Absent | StoredValueView::Unwritten => None,
            StoredValueView::Inline(value) => Some((value.len(), keccak256(value))),
            StoredValueView::Reference { hash, length } => Some((length, hash)),
        }
    }

    /// Returns the bytes of the row.
    pub(crate) fn row(&self) -> &[u8] {
        self.bytes.get(..self.length.into()).unwrap_or_default()
    }

    /// Returns true if the key has no value.
    pub fn is_absent(&self) -> bool {
        self.length == 0
    }

    /// Returns true if the key was not written in a fork.
    pub fn is_unwritten(&self) -> bool {
        self.row() == UNWRITTEN
    }

    /// Returns true if the key has a value in this database.
    pub fn is_present(&self) -> bool {
        !self.is_absent() && !self.is_unwritten()
    }

    /// Returns the value as trie leaves have it; `None` if it is absent or unwritten.
    pub fn known(&self) -> Option<KnownValue<'_>> {
        match Self::view(self.row())? {
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
        Self::view(row).map(|_| Self::of_row(row))
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
#[derive(Debug, Clone)]
pub struct ChangeSet(ChangeSetForm);

#[derive(Debug, Clone)]
enum ChangeSetForm {
    Sorted(SortedChanges),
    /// Of several blocks.
    Merged(BTreeMap<Box<[u8]>, ValueChange>),
}

impl Default for ChangeSet {
    fn default() -> Self {
        Self(ChangeSetForm::Sorted(SortedChanges::default()))
    }
}

impl PartialEq for ChangeSet {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for ChangeSet {}

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
        let mut changes = SortedChanges::with_capacity(delta.writes.len());
        for (key, after) in &delta.writes {
            let before = before(key)?;
            let after = StoredValue::new(after.as_ref());
            if before != after {
                changes.push(key, ValueChange { before, after });
            }
        }
        Ok(Self(ChangeSetForm::Sorted(changes)))
    }

    /// Returns true if nothing changes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of changed keys.
    pub fn len(&self) -> usize {
        match &self.0 {
            ChangeSetForm::Sorted(changes) => changes.len(),
            ChangeSetForm::Merged(changes) => changes.len(),
        }
    }

    /// Iterates over the changes in key order.
    pub fn iter(&self) -> ChangeIter<'_> {
        self.iter_from(&[])
    }

    /// Iterates over the changes of keys from `first` on, in key order.
    fn iter_from(&self, first: &[u8]) -> ChangeIter<'_> {
        match &self.0 {
            ChangeSetForm::Sorted(changes) => ChangeIter(ChangeIterKind::Sorted(changes.iter_from(first))),
            ChangeSetForm::Merged(changes) => {
                let range = (Bound::Included(first), Bound::Unbounded);
                ChangeIter(ChangeIterKind::Merged(changes.range::<[u8], _>(range)))
            }
        }
    }

    /// Returns the change of a key.
    pub fn get(&self, key: &[u8]) -> Option<&ValueChange> {
        match &self.0 {
            ChangeSetForm::Sorted(changes) => changes.get(key),
            ChangeSetForm::Merged(changes) => changes.get(key),
        }
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
        self.iter_from(prefix).take_while(move |(key, _)| key.starts_with(prefix))
    }

    /// Returns the changes in the opposite direction.
    pub fn reversed(mut self) -> Self {
        let reverse = |change: &mut ValueChange| std::mem::swap(&mut change.before, &mut change.after);
        match &mut self.0 {
            ChangeSetForm::Sorted(changes) => changes.iter_mut().for_each(reverse),
            ChangeSetForm::Merged(changes) => changes.values_mut().for_each(reverse),
        }
        self
    }

    /// Adds changes that follow these.
    pub fn extend(&mut self, next: &Self) {
        if self.is_empty() {
            self.clone_from(next);
            return;
        }
        if let ChangeSetForm::Sorted(changes) = &self.0 {
            let changes = changes.iter_from(&[]).map(|(key, change)| (key.into(), change.clone()));
            self.0 = ChangeSetForm::Merged(changes.collect());
        }
        let ChangeSetForm::Merged(changes) = &mut self.0 else { return };
        for (key, change) in next.iter() {
            match changes.entry(key.into()) {
                Entry::Vacant(entry) => {
                    entry.insert(change.clone());
                }
                Entry::Occupied(mut entry) => {
                    entry.get_mut().after = change.after.clone();
                    if entry.get().before == entry.get().after {
                        entry.remove();
                    }
                }
            }
        }
    }

    /// Returns the row: for each change the key without the part that it shares with the key before, then both values.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut row = Vec::with_capacity(self.len() * 80);
        let mut last: &[u8] = &[];
        for (key, change) in self.iter() {
            // Keys have at most 74 bytes.
            let shared = last.iter().zip(key).take_while(|(a, b)| a == b).count().min(u8::MAX.into());
            row.push(shared as u8);
            push_part(&mut row, key.get(shared..).unwrap_or_default());
            push_part(&mut row, change.before.row());
            push_part(&mut row, change.after.row());
            last = key;
        }
        row
    }

    pub(crate) fn decode(row: &[u8]) -> Option<Self> {
        let mut changes = SortedChanges::default();
        let mut rest = row;
        let mut key = Vec::new();
        while let Some((shared, after)) = rest.split_first() {
            rest = after;
            let shared = usize::from(*shared);
            let end = take_part(&mut rest)?;
            let is_above = end > key.get(shared..)?;
            if !is_above && changes.len() > 0 {
                return None;
            }
            key.truncate(shared);
            key.extend_from_slice(end);
            let before = StoredValue::from_row(take_part(&mut rest)?)?;
            let after = StoredValue::from_row(take_part(&mut rest)?)?;
            changes.push(&key, ValueChange { before, after });
        }
        Some(Self(ChangeSetForm::Sorted(changes)))
    }
}

/// Iterator over changes in key order. One type for both kinds, so that its code is in the program once.
pub struct ChangeIter<'a>(ChangeIterKind<'a>);

enum ChangeIterKind<'a> {
    Sorted(SortedChangeIter<'a>),
    Merged(Range<'a, Box<[u8]>, ValueChange>),
}

impl<'a> Iterator for ChangeIter<'a> {
    type Item = (&'a [u8], &'a ValueChange);

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            ChangeIterKind::Sorted(changes) => changes.next(),
            ChangeIterKind::Merged(changes) => changes.next().map(|(key, change)| (&**key, change)),
        }
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
    fn rows_with_keys_out_of_order_are_rejected() {
        let change = |key: &&str| [&[0, key.len() as u8], key.as_bytes(), &[1, 1, 1, 2]].concat();
        let row = |keys: &[&str]| keys.iter().flat_map(change).collect::<Vec<u8>>();
        assert!(ChangeSet::decode(&row(&["a", "ab", "b"])).is_some());
        for keys in [["a", "b", "ab"], ["a", "b", "b"], ["b", "c", ""]] {
            assert_eq!(ChangeSet::decode(&row(&keys)), None);
        }
    }

    #[test]
    fn changes_of_one_block_and_of_several_have_the_same_content() {
        let keys = ["", "a", "ab", "abc", "b", "ba"];
        let writes: Vec<_> = keys.iter().map(|key| (*key, Some(&b"1"[..]))).collect();
        let of_block = changes(&writes, &[]);
        let mut merged = changes(writes.get(..3).unwrap(), &[]);
        merged.extend(&changes(writes.get(3..).unwrap(), &[]));
        assert_eq!(of_block, merged);
        assert_eq!(of_block.encode(), merged.encode());
        for prefix in ["", "a", "ab", "abcd", "b", "c"] {
            let below = |set: &ChangeSet| set.below(prefix.as_bytes()).map(|(key, _)| key.to_vec()).collect::<Vec<_>>();
            let expected: Vec<_> =
                keys.iter().filter(|key| key.starts_with(prefix)).map(|key| key.as_bytes()).collect();
            assert_eq!(
                (below(&of_block), below(&merged)),
                (expected.iter().map(|key| key.to_vec()).collect(), below(&of_block))
            );
            let found = |set: &ChangeSet| set.get(prefix.as_bytes()).cloned();
            assert_eq!(found(&of_block), found(&merged));
            assert_eq!(found(&of_block).is_some(), keys.contains(&prefix));
        }
    }

    #[test]
    fn a_value_that_stays_is_no_change() {
        assert!(changes(&[("a", Some(b"1")), ("b", None)], &[("a", b"1")]).is_empty());
    }

    #[test]
    fn changes_that_are_undone_vanish() {
        let mut set = changes(&[("a", Some(b"2")), ("b", Some(b"1"))], &[("a", b"1")]);
        let undone = set.clone().reversed();
        set.extend(&changes(&[("a", Some(b"3"))], &[("a", b"2")]));
        assert_eq!(set.get(b"a").unwrap().before, StoredValue::new(Some(b"1")));
        set.extend(&changes(&[("a", Some(b"2"))], &[("a", b"3")]));
        set.extend(&undone);
        assert!(set.is_empty());
    }
}
