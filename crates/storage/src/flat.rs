//! The flat state: the state of the head as plain rows, one look-up instead of a walk through the trie.
//!
//! A value of at most 32 bytes is stored in the row. A longer value (code, long slots of the Bridge) is stored once by
//! its hash, like a trie node; its row has the hash and the length, so both are available without reading the value.

use std::iter;

use rhizome_primitives::{B256, Bytes};
use rocksdb::{Direction, IteratorMode, WriteBatch};

use crate::StorageError;
use crate::change_set::{StoredValue, StoredValueView, ValueChange};
use crate::columns::{FLAT, NODES};
use crate::database::Database;

/// Rows read at a time.
const PAGE_ROWS: usize = 1024;

/// One row of the flat state, without the bytes of its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlatEntry {
    /// Key in the trie.
    pub key: Box<[u8]>,
    /// Length of the value in bytes.
    pub length: usize,
    /// Keccak hash of the value.
    pub hash: B256,
}

/// Iterates over the whole flat state in key order, without the bytes of long values. The caller must hold the
/// writer: pages are read one after another, not from one snapshot.
pub(crate) fn entries(database: &Database) -> impl Iterator<Item = Result<FlatEntry, StorageError>> + '_ {
    let mut next = Some(Vec::new());
    let pages = iter::from_fn(move || {
        let first = next.take()?;
        let page = page(database, &first);
        if let Some(last) = page.last().and_then(|entry| entry.as_ref().ok()).filter(|_| page.len() == PAGE_ROWS) {
            // The smallest key above the last one.
            next = Some([&last.key, [0].as_slice()].concat());
        }
        Some(page)
    });
    pages.flatten()
}

/// Reads at most one page of rows from `first` on. An error ends the page.
fn page(database: &Database, first: &[u8]) -> Vec<Result<FlatEntry, StorageError>> {
    let mut page = Vec::with_capacity(PAGE_ROWS);
    let mut read = || {
        let engine = database.engine()?;
        let from = IteratorMode::From(first, Direction::Forward);
        for row in engine.db.iterator_cf(engine.column(FLAT)?, from).take(PAGE_ROWS) {
            let (key, row) = row.map_err(|source| database.engine_error("read the flat state", source))?;
            let (length, hash) =
                length_and_hash_of(&row).ok_or_else(|| StorageError::damaged_row(FLAT, &key, "cannot be decoded"))?;
            page.push(Ok(FlatEntry { key, length, hash }));
        }
        Ok(())
    };
    let read: Result<(), StorageError> = read();
    page.extend(read.err().map(Err));
    page
}

/// Returns the stored value of a trie key at the head.
pub(crate) fn get(database: &Database, key: &[u8]) -> Result<StoredValue, StorageError> {
    let row = database.decoded(FLAT, key, StoredValue::from_row)?;
    Ok(row.unwrap_or_else(|| if database.base.is_fork() { StoredValue::unwritten() } else { StoredValue::default() }))
}

fn length_and_hash_of(row: &[u8]) -> Option<(usize, B256)> {
    StoredValue::from_row(row)?.length_and_hash()
}

/// Visits keys and values below a key prefix in key order. Not atomic with a concurrent write: compare the
/// generation before and after.
pub(crate) fn visit(
    database: &Database,
    prefix: &[u8],
    mut visit: impl FnMut(&[u8], Bytes) -> Result<(), StorageError>,
) -> Result<(), StorageError> {
    visit_prefix(database, prefix, |key, row| {
        match StoredValue::view(row).ok_or_else(|| StorageError::damaged_row(FLAT, key, "cannot be decoded"))? {
            StoredValueView::Absent | StoredValueView::Unwritten => Ok(()),
            StoredValueView::Inline(value) => visit(key, Bytes::copy_from_slice(value)),
            StoredValueView::Reference { hash, .. } => {
                let value = database.by_hash(&hash)?.ok_or(StorageError::Missing { column: NODES, hash })?;
                visit(key, value.message)
            }
        }
    })
}

/// Adds the changes of the head's state to a batch. In a fork a deleted key has an empty row, which differs from a key that was not
/// written.
pub(crate) fn add_to_batch<'a>(
    database: &Database,
    batch: &mut WriteBatch,
    changes: impl IntoIterator<Item = (&'a [u8], &'a ValueChange)>,
) -> Result<(), StorageError> {
    let engine = database.engine()?;
    let column = engine.column(FLAT)?;
    for (key, change) in changes {
        if change.after.is_unwritten() || change.after.is_absent() && !database.base.is_fork() {
            batch.delete_cf(column, key);
        } else {
            batch.put_cf(column, key, change.after.row());
        }
    }
    Ok(())
}

fn visit_prefix(
    database: &Database,
    prefix: &[u8],
    visit: impl FnMut(&[u8], &[u8]) -> Result<(), StorageError>,
) -> Result<(), StorageError> {
    // Keys have at most 74 bytes: account 31, contract marker 1, hash prefix 10, slot 32.
    let mut last = prefix.to_vec();
    last.resize(prefix.len().max(96), 0xff);
    database.visit_range(FLAT, prefix, Some(&last), visit)
}
