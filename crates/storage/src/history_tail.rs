//! Changes of the last blocks of the best chain whose rows are not in the column `history` yet.
//!
//! The rows of many blocks are written together as a file of the column, past the log and the memtable: inserting them block by block
//! took 6 percent of the time of an import. Each block's changes are on the disk with the block, so a start reads the tail from them.

use std::collections::{HashMap, VecDeque};
use std::hash::BuildHasher;
use std::sync::{Arc, OnceLock};

use foldhash::fast::RandomState;
use rocksdb::WriteBatch;
use smallvec::SmallVec;

use crate::change_set::{ChangeSet, StoredValue};
use crate::columns::{self, HISTORY, HISTORY_END_KEY, META};
use crate::database::Database;
use crate::history_key::row_key;
use crate::node_files::NodeFileError;
use crate::{StorageError, table_file};

/// Name of the file while it is written, in the data directory.
const TABLE_FILE: &str = "history-rows.sst";
/// Approximate size of a row.
const ROW_BYTES: usize = 100;

/// The changes, by block and by key.
#[derive(Default)]
pub(crate) struct HistoryTail {
    /// In order of their numbers, oldest first.
    blocks: VecDeque<(u64, Arc<ChangeSet>)>,
    /// Number of changes.
    changes: usize,
    /// Made by the first read: an import without readers needs none.
    numbers: OnceLock<ChangeNumbers>,
}

/// Numbers of the blocks that change a key with some hash, ascending.
#[derive(Default)]
struct ChangeNumbers(HashMap<u64, SmallVec<[u64; 2]>, RandomState>);

impl ChangeNumbers {
    fn of(blocks: &VecDeque<(u64, Arc<ChangeSet>)>) -> Self {
        let mut numbers = Self::default();
        blocks.iter().for_each(|(number, changes)| numbers.push(*number, changes));
        numbers
    }

    fn push(&mut self, number: u64, changes: &ChangeSet) {
        for (key, _) in changes.iter() {
            self.0.entry(self.0.hasher().hash_one(key)).or_default().push(number);
        }
    }

    fn get(&self, key: &[u8]) -> &[u64] {
        self.0.get(&self.0.hasher().hash_one(key)).map_or(&[], |numbers| numbers)
    }
}

impl HistoryTail {
    /// Returns the number of changes.
    pub(crate) fn changes(&self) -> usize {
        self.changes
    }

    /// Returns the number of the last block.
    pub(crate) fn last(&self) -> Option<u64> {
        self.blocks.back().map(|(number, _)| *number)
    }

    /// Adds the block behind the last one.
    pub(crate) fn push(&mut self, number: u64, changes: Arc<ChangeSet>) {
        if let Some(numbers) = self.numbers.get_mut() {
            numbers.push(number, &changes);
        }
        self.changes = self.changes.saturating_add(changes.len());
        self.blocks.push_back((number, changes));
    }

    /// Removes the blocks from `number` on.
    pub(crate) fn truncate(&mut self, number: u64) {
        while let Some((_, changes)) = self.blocks.pop_back_if(|(last, _)| *last >= number) {
            self.changes = self.changes.saturating_sub(changes.len());
            self.numbers.take();
        }
    }

    /// Removes all blocks.
    pub(crate) fn clear(&mut self) {
        let is_read = self.numbers.get().is_some();
        *self = Self::default();
        if is_read {
            self.numbers.get_or_init(ChangeNumbers::default);
        }
    }

    /// Returns the value of a key before its first change above block `number`; `None` if no block here changes it.
    pub(crate) fn value_before_change(&self, key: &[u8], number: u64) -> Option<StoredValue> {
        let numbers = self.numbers.get_or_init(|| ChangeNumbers::of(&self.blocks)).get(key);
        let change = |changed_at: &u64| {
            let index = self.blocks.binary_search_by_key(changed_at, |(number, _)| *number).ok()?;
            self.blocks.get(index)?.1.get(key)
        };
        numbers.iter().filter(|changed_at| **changed_at > number).find_map(change).map(|change| change.before.clone())
    }

    /// Iterates over the keys below a prefix that blocks above `number` change, and whether they had a value before. The first change
    /// of a key comes first.
    pub(crate) fn below<'a>(&'a self, prefix: &'a [u8], number: u64) -> impl Iterator<Item = (&'a [u8], bool)> {
        let later = self.blocks.iter().filter(move |(changed_at, _)| *changed_at > number);
        later.flat_map(|(_, changes)| changes.below(prefix)).map(|(key, change)| (key, change.before.is_present()))
    }

    /// Returns the rows of the blocks up to `last`, in the order of their keys.
    fn rows(&self, last: u64) -> impl Iterator<Item = (Vec<u8>, &[u8])> {
        let mut rows: Vec<(&[u8], u64, &StoredValue)> = Vec::with_capacity(self.changes);
        for (number, changes) in self.blocks.iter().take_while(|(number, _)| *number <= last) {
            rows.extend(changes.iter().map(|(key, change)| (key, *number, &change.before)));
        }
        // A row key begins with the length of the key.
        rows.sort_unstable_by_key(|(key, number, _)| (key.len(), *key, *number));
        rows.into_iter().map(|(key, number, before)| (row_key(key, number), before.row()))
    }

    /// Adds the rows of the blocks up to `last` to a batch.
    pub(crate) fn add_to_batch(
        &self,
        database: &Database,
        batch: &mut WriteBatch,
        last: u64,
    ) -> Result<(), StorageError> {
        let engine = database.engine()?;
        let column = engine.column(HISTORY)?;
        self.rows(last).for_each(|(key, before)| batch.put_cf(column, key, before));
        Ok(())
    }

    /// Adds the rows of all blocks to the column as one file.
    pub(crate) fn ingest(&self, database: &Database) -> Result<(), StorageError> {
        if self.changes == 0 {
            return Ok(());
        }
        let engine = database.engine()?;
        let (column, path) = (engine.column(HISTORY)?, database.dir().join(TABLE_FILE));
        let ingest = || {
            if !database.settings.is_temporary {
                // The file survives a loss of power, so the blocks have to survive, too.
                engine.db.flush_wal(true).map_err(NodeFileError::Engine)?;
            }
            let options = columns::history_file_options(&database.settings.cache).map_err(NodeFileError::Engine)?;
            table_file::write(&path, &options, self.rows(u64::MAX))?;
            table_file::ingest(&engine.db, column, &path)
        };
        ingest().map_err(|error| database.begin_fault(error, self.changes * ROW_BYTES))
    }
}

/// Makes a block the last one whose changes are in the column.
pub(crate) fn put_end(database: &Database, batch: &mut WriteBatch, last: u64) -> Result<(), StorageError> {
    batch.put_cf(database.engine()?.column(META)?, HISTORY_END_KEY, last.to_be_bytes());
    Ok(())
}

#[cfg(test)]
mod tests {
    use rhizome_primitives::Bytes;
    use rhizome_trie::StateDelta;

    use super::*;

    fn changes(writes: &[(&str, &str, &str)]) -> Arc<ChangeSet> {
        let value = |text: &str| (!text.is_empty()).then(|| Bytes::copy_from_slice(text.as_bytes()));
        let after = writes.iter().map(|(key, _, after)| (key.as_bytes().to_vec(), value(after)));
        let delta = StateDelta { writes: after.collect(), ..StateDelta::default() };
        let before = |key: &[u8]| writes.iter().find(|(name, ..)| name.as_bytes() == key).and_then(|row| value(row.1));
        Arc::new(ChangeSet::of(&delta, |key| Ok::<_, ()>(before(key))).unwrap())
    }

    fn tail() -> HistoryTail {
        let mut tail = HistoryTail::default();
        tail.push(7, changes(&[("a", "", "1"), ("ab", "x", "")]));
        tail.push(8, changes(&[("b", "5", "6")]));
        tail.push(9, changes(&[("a", "1", "2")]));
        tail
    }

    fn before(tail: &HistoryTail, key: &str, number: u64) -> Option<StoredValue> {
        tail.value_before_change(key.as_bytes(), number)
    }

    fn stored(text: &'static str) -> Option<StoredValue> {
        Some(StoredValue::new(Some(text.as_bytes())))
    }

    #[test]
    fn the_first_later_change_has_the_value() {
        let tail = tail();
        assert_eq!(before(&tail, "a", 6), stored(""));
        assert_eq!(before(&tail, "a", 7), stored("1"));
        assert_eq!(before(&tail, "a", 8), stored("1"));
        assert_eq!(before(&tail, "a", 9), None);
        assert_eq!(before(&tail, "b", 0), stored("5"));
        assert_eq!(before(&tail, "c", 0), None);
        let below: Vec<_> = tail.below(b"a", 6).collect();
        assert_eq!(below, [(&b"a"[..], false), (b"ab", true), (b"a", true)]);
    }

    #[test]
    fn removed_blocks_leave_no_changes() {
        let mut tail = tail();
        tail.truncate(8);
        assert_eq!((before(&tail, "a", 7), before(&tail, "b", 0)), (None, None));
        assert_eq!((before(&tail, "a", 6), tail.changes()), (stored(""), 2));
        tail.push(8, changes(&[("a", "1", "3")]));
        assert_eq!(before(&tail, "a", 7), stored("1"));
        tail.clear();
        assert_eq!((before(&tail, "a", 6), tail.changes()), (None, 0));
        tail.push(9, changes(&[("a", "3", "4")]));
        assert_eq!(before(&tail, "a", 6), stored("3"));
    }

    #[test]
    fn reads_see_blocks_from_before_and_after_the_first_read() {
        let mut tail = tail();
        assert_eq!((before(&tail, "a", 8), before(&tail, "d", 0)), (stored("1"), None));
        tail.push(10, changes(&[("a", "2", "3"), ("d", "", "1")]));
        assert_eq!((before(&tail, "a", 9), before(&tail, "d", 9)), (stored("2"), stored("")));
    }
}
