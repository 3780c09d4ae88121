//! The manifest: a log of changes of the list of tables.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::bytes::LevelReader;
use super::log;
use crate::error::RskjError;

/// Order of keys that the reader understands.
const COMPARATOR: &[u8] = b"leveldb.BytewiseComparator";

/// Fields of a change.
mod tag {
    pub(super) const COMPARATOR: u64 = 1;
    pub(super) const LOG: u64 = 2;
    pub(super) const NEXT_FILE: u64 = 3;
    pub(super) const LAST_SEQUENCE: u64 = 4;
    pub(super) const COMPACTION: u64 = 5;
    pub(super) const DELETED_TABLE: u64 = 6;
    pub(super) const NEW_TABLE: u64 = 7;
    pub(super) const PREVIOUS_LOG: u64 = 9;
}

/// The files of a database.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct TableList {
    /// Numbers of the tables.
    pub(super) tables: BTreeSet<u64>,
    /// Number of the first log whose rows are not in a table.
    pub(super) log: u64,
    /// Number of a log that is still needed, or 0.
    pub(super) previous_log: u64,
}

impl TableList {
    /// Reads the manifest that the file `CURRENT` names.
    pub(super) fn read(dir: &Path) -> Result<Self, RskjError> {
        let current = dir.join("CURRENT");
        let name = fs::read_to_string(&current).map_err(RskjError::read(&current))?;
        let name = name.strip_suffix('\n').filter(|name| name.starts_with("MANIFEST-") && !name.contains(['/', '\\']));
        let path = dir.join(name.ok_or_else(|| RskjError::damaged(&current, "does not name a manifest"))?);
        let content = fs::read(&path).map_err(RskjError::read(&path))?;
        let mut list = Self::default();
        for change in log::records(&content, &path)? {
            let applied = list.apply(LevelReader(&change));
            applied.ok_or_else(|| RskjError::damaged(&path, "a change cannot be decoded"))?;
        }
        if list.log == 0 {
            return Err(RskjError::damaged(&path, "truncated: it does not name a log"));
        }
        Ok(list)
    }

    fn apply(&mut self, mut change: LevelReader<'_>) -> Option<()> {
        while !change.is_empty() {
            match change.varint()? {
                tag::COMPARATOR => (change.string()? == COMPARATOR).then_some(())?,
                tag::LOG => self.log = change.varint()?,
                tag::PREVIOUS_LOG => self.previous_log = change.varint()?,
                tag::NEXT_FILE | tag::LAST_SEQUENCE => _ = change.varint()?,
                tag::COMPACTION => {
                    let (_level, _key) = (change.varint()?, change.string()?);
                }
                tag::DELETED_TABLE => {
                    let (_level, number) = (change.varint()?, change.varint()?);
                    self.tables.remove(&number);
                }
                tag::NEW_TABLE => {
                    let (_level, number, _length) = (change.varint()?, change.varint()?, change.varint()?);
                    let (_smallest, _largest) = (change.string()?, change.string()?);
                    self.tables.insert(number);
                }
                _ => return None,
            }
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_applied_in_order() {
        let mut list = TableList::default();
        let change = [&[1, 26][..], COMPARATOR, &[2, 5, 9, 0, 3, 9, 4, 1, 7, 0, 6, 9, 1, b'a', 1, b'z']].concat();
        assert_eq!(list.apply(LevelReader(&change)), Some(()));
        assert_eq!(list.apply(LevelReader(&[5, 1, 1, b'k', 7, 1, 8, 9, 0, 0, 6, 0, 6])), Some(()));
        assert_eq!(list, TableList { tables: [8].into(), log: 5, previous_log: 0 });
        assert_eq!(list.apply(LevelReader(&[7, 1])), None);
        assert_eq!(list.apply(LevelReader(&[8])), None);
        assert_eq!(list.apply(LevelReader(&[1, 1, b'x'])), None);
    }
}
