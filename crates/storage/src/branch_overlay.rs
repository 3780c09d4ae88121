//! Values and trie nodes of a long branch beside the best chain, in a temporary database in the folder `branch` of the data directory.
//!
//! A branch is executed while the rows of the head stay as they are. Its changes are in memory up to a bound, and here beyond it. If
//! the branch wins, the rows of the head move to it (`branch_adoption.rs`); if not, the folder is removed. It has no write-ahead log:
//! after a kill it is only needed if an adoption has begun, before which all its rows are on the disk.

use std::fs;
use std::io::ErrorKind;
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rhizome_primitives::Bytes;
use rhizome_trie::{NodePosition, NodeRows};
use rocksdb::{ColumnFamily, DB, Options, WriteBatch, WriteOptions};

use crate::change_set::{ChangeSet, StoredValue};
use crate::columns::{self, FLAT, TRIE};
use crate::database::Database;
use crate::disk_probe::PROBE_BYTES;
use crate::node_files::NodeFileError;
use crate::{StorageError, Store};

const FOLDER: &str = "branch";
/// Size of a memtable. Each of two columns has at most three.
const WRITE_BUFFER_BYTES: usize = 8 << 20;
const BATCH_BYTES: usize = 1 << 20;

/// The folder may be removed before the last reader has closed the database.
const NO_LAST_FLUSH: &str = "avoid_flush_during_shutdown=true";

/// Rows of a branch, relative to the head that it was executed beside.
pub struct BranchOverlay {
    store: Arc<Store>,
    db: DB,
}

impl BranchOverlay {
    /// Creates an empty overlay, which readers of current nodes use from here on. Replaces rows of another branch.
    pub fn create(store: &Arc<Store>) -> Result<Arc<Self>, StorageError> {
        Self::discard(store)?;
        Self::open(store, true)
    }

    /// Opens the overlay that a kill has left, and makes readers of current nodes use it.
    pub fn reopen(store: &Arc<Store>) -> Result<Arc<Self>, StorageError> {
        Self::open(store, false)
    }

    fn open(store: &Arc<Store>, is_new: bool) -> Result<Arc<Self>, StorageError> {
        let database = &store.database;
        let options = Options::default().get_options_from_string(NO_LAST_FLUSH);
        let failed = |source| StorageError::Engine { operation: "set options for the rows of a branch", source };
        let mut options = options.map_err(failed)?;
        options.create_if_missing(is_new);
        options.create_missing_column_families(is_new);
        options.set_keep_log_file_num(1);
        let columns = columns::branch_descriptors(&database.settings.cache, WRITE_BUFFER_BYTES);
        let opened = columns.and_then(|columns| DB::open_cf_descriptors(&options, folder(store), columns));
        let db = opened.map_err(|source| match is_new {
            true => database.begin_fault(NodeFileError::Engine(source), PROBE_BYTES),
            false => database.engine_error("open the rows of a branch", source),
        })?;
        let overlay = Arc::new(Self { store: Arc::clone(store), db });
        *store.branch.write() = Some(Arc::downgrade(&overlay));
        Ok(overlay)
    }

    /// Removes the rows of a branch.
    pub fn discard(store: &Store) -> Result<(), StorageError> {
        *store.branch.write() = None;
        match fs::remove_dir_all(folder(store)) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(StorageError::from_file_error(store.dir(), error)),
            _ => Ok(()),
        }
    }

    /// Adds the values after changes that follow all others.
    pub fn put_values(&self, changes: &ChangeSet) -> Result<(), StorageError> {
        self.put_rows(FLAT, changes.iter().map(|(key, change)| (key, change.after.row())))
    }

    /// Returns the value of a key; `None` if the branch has not changed it.
    pub fn value(&self, key: &[u8]) -> Result<Option<StoredValue>, StorageError> {
        let row = self.db.get_pinned_cf(self.column(FLAT)?, key);
        let row = row.map_err(|source| self.database().engine_error("read a value of a branch", source))?;
        let decoded = row.map(|row| {
            StoredValue::from_row(&row).ok_or_else(|| StorageError::damaged_row(FLAT, key, "cannot be decoded"))
        });
        decoded.transpose()
    }

    /// Visits the changed keys that begin with a prefix.
    pub fn visit_keys(&self, prefix: &[u8], mut visit: impl FnMut(&[u8])) -> Result<(), StorageError> {
        let mut rows = self.db.raw_iterator_cf(self.column(FLAT)?);
        rows.seek(prefix);
        while let Some(key) = rows.key().filter(|key| key.starts_with(prefix)) {
            visit(key);
            rows.next();
        }
        rows.status().map_err(|source| self.database().engine_error("read the keys of a branch", source))
    }

    /// Adds the rows of a flush that follows all others.
    pub fn put_nodes(&self, rows: &NodeRows) -> Result<(), StorageError> {
        // A position without a node has an empty row: at the end the row of the head is deleted.
        self.put_rows(TRIE, rows.iter().map(|(position, message)| (position, message.unwrap_or_default())))
    }

    /// Returns the message of the node at a position; `None` without a row.
    pub(crate) fn node(&self, position: NodePosition<'_>) -> Result<Option<Bytes>, StorageError> {
        let row = self.db.get_pinned_cf(self.column(TRIE)?, position.row_key());
        let row = row.map_err(|source| self.database().engine_error("read a node of a branch", source))?;
        Ok(row.map(|row| Bytes::copy_from_slice(&row)))
    }

    /// Visits the rows of all nodes in order. An empty message: the position has no node.
    pub(crate) fn visit_nodes(
        &self,
        mut visit: impl FnMut(&[u8], &[u8]) -> Result<(), StorageError>,
    ) -> Result<(), StorageError> {
        let mut rows = self.db.raw_iterator_cf(self.column(TRIE)?);
        rows.seek_to_first();
        while let Some((position, message)) = rows.item() {
            visit(position, message)?;
            rows.next();
        }
        rows.status().map_err(|source| self.database().engine_error("read the nodes of a branch", source))
    }

    /// Writes all rows to the disk.
    pub(crate) fn persist(&self) -> Result<(), StorageError> {
        [FLAT, TRIE].into_iter().try_for_each(|name| {
            let flushed = self.db.flush_cf(self.column(name)?);
            flushed.map_err(|source| self.database().begin_fault(NodeFileError::Engine(source), 2 * WRITE_BUFFER_BYTES))
        })
    }

    /// Writes rows in several batches.
    fn put_rows<'r>(
        &self,
        name: &'static str,
        rows: impl Iterator<Item = (&'r [u8], &'r [u8])>,
    ) -> Result<(), StorageError> {
        let column = self.column(name)?;
        let mut batch = WriteBatch::default();
        for (key, row) in rows {
            batch.put_cf(column, key, row);
            if batch.size_in_bytes() >= BATCH_BYTES {
                self.write(mem::take(&mut batch))?;
            }
        }
        self.write(batch)
    }

    fn write(&self, batch: WriteBatch) -> Result<(), StorageError> {
        self.database().check_writable()?;
        let mut options = WriteOptions::default();
        options.disable_wal(true);
        let bytes = batch.size_in_bytes();
        let written = self.db.write_opt(batch, &options);
        written.map_err(|source| self.database().begin_fault(NodeFileError::Engine(source), bytes))
    }

    fn column(&self, name: &'static str) -> Result<&ColumnFamily, StorageError> {
        self.db.cf_handle(name).ok_or_else(|| StorageError::damaged_row(name, &[], "the column is missing"))
    }

    fn database(&self) -> &Database {
        &self.store.database
    }
}

fn folder(store: &Store) -> PathBuf {
    Path::join(store.dir(), FOLDER)
}
