//! Takeover of a state that comes from peers: the database gets the state after a block, and blocks, without execution.
//!
//! A marker row is written in the batch that deletes the state of genesis; the batch that makes the block the head deletes it. A
//! kill in between leaves the marker: the takeover is repeated from the files that are left, or given up.

use std::collections::BTreeMap;
use std::path::Path;

use rhizome_primitives::B256;
use rocksdb::WriteBatch;

use crate::change_set::{StoredValue, StoredValueView};
use crate::columns::{
    self, FIRST_RECEIPTS_KEY, FLAT, FLUSHED_KEY, HEAD_KEY, LAST_KEY, META, OLDEST_STATE_KEY, TAKEOVER_KEY, VALUES,
};
use crate::older_blocks::{self, TakenBlock};
use crate::record::FlushedTrie;
use crate::state_files::{self, StateRows};
use crate::{StorageError, Store, history_tail};

/// Replacement of the state of a new database.
pub struct StateTakeover<'a> {
    store: &'a Store,
}

impl<'a> StateTakeover<'a> {
    /// Creates the replacement of the state of a database. Changes nothing.
    pub fn new(store: &'a Store) -> Self {
        Self { store }
    }

    /// Writes rows as files of a folder. Replaces files with the same name. A file that was not written to its end is the caller's
    /// to notice.
    pub fn write_files(&self, folder: &Path, name: &str, rows: StateRows) -> Result<(), StorageError> {
        state_files::write(&self.store.database, folder, name, rows)
    }

    /// Replaces the state of the database by that of files, which are moved. Readers of the state before fail from here on. The
    /// head stays until [`StateTakeover::finish`].
    pub fn begin(&self, folder: &Path, names: &[String]) -> Result<(), StorageError> {
        self.store.database.check_writable()?;
        if !self.is_under_way()? {
            let mut batch = WriteBatch::default();
            let engine = self.store.database.engine()?;
            for name in state_files::COLUMNS {
                let column = engine.column(name)?;
                // The state of genesis is small.
                self.store.database.visit_range(name, &[], None, |key, _| {
                    batch.delete_cf(column, key);
                    Ok(())
                })?;
            }
            batch.put_cf(engine.column(META)?, TAKEOVER_KEY, []);
            self.store.write_new_head(batch)?;
            self.flush_unless_temporary()?;
        }
        self.store.nodes.clear();
        names.iter().try_for_each(|name| state_files::ingest(&self.store.database, folder, name))
    }

    /// Whether the state was replaced, and the head not yet.
    pub fn is_under_way(&self) -> Result<bool, StorageError> {
        self.store.database.has_row(META, TAKEOVER_KEY)
    }

    /// Makes the last one of `blocks`, ascending and part of the best chain, the head. Its state must be taken over. Older states
    /// cannot be read from here on. Returns the generation of the flat state after the write.
    pub fn finish(&self, blocks: &[TakenBlock]) -> Result<u64, StorageError> {
        let Some(head) = blocks.last() else { return Ok(self.store.generation()) };
        self.store.database.check_writable()?;
        let mut batch = WriteBatch::default();
        older_blocks::add_to_batch(self.store, &mut batch, blocks)?;
        let engine = self.store.database.engine()?;
        let values = engine.column(VALUES)?;
        for (hash, count) in self.references()? {
            batch.put_cf(values, columns::references_key(&hash), count.to_be_bytes());
        }
        let meta = engine.column(META)?;
        let flushed = FlushedTrie { number: head.number, hash: head.hash, root: head.state_root };
        batch.put_cf(meta, HEAD_KEY, head.hash);
        batch.put_cf(meta, FLUSHED_KEY, flushed.encode());
        batch.put_cf(meta, OLDEST_STATE_KEY, head.number.to_be_bytes());
        batch.put_cf(meta, FIRST_RECEIPTS_KEY, head.number.saturating_add(1).to_be_bytes());
        history_tail::put_end(&self.store.database, &mut batch, head.number)?;
        batch.delete_cf(meta, TAKEOVER_KEY);
        let generation = self.store.main_hashes.change(|| {
            let mut tail = self.store.history_tail.write();
            let generation = self.store.write_new_head(batch)?;
            tail.clear();
            Ok::<_, StorageError>(generation)
        })?;
        self.flush_unless_temporary()?;
        self.store.kept.load(&self.store.database)?;
        Ok(generation)
    }

    /// Gives up a takeover that cannot be finished: the database has no head and no state afterwards, as a new one.
    pub fn give_up(&self) -> Result<(), StorageError> {
        let mut batch = WriteBatch::default();
        let engine = self.store.database.engine()?;
        for name in state_files::COLUMNS {
            batch.delete_range_cf(engine.column(name)?, &[][..], &LAST_KEY[..]);
        }
        let meta = engine.column(META)?;
        batch.delete_cf(meta, HEAD_KEY);
        batch.delete_cf(meta, FLUSHED_KEY);
        batch.delete_cf(meta, TAKEOVER_KEY);
        self.store.write_new_head(batch)?;
        self.store.nodes.clear();
        Ok(())
    }

    /// Counts the keys of the flat state by the long value that they have.
    fn references(&self) -> Result<BTreeMap<B256, i64>, StorageError> {
        let mut counts = BTreeMap::new();
        self.store.database.visit_range(FLAT, &[], None, |_, row| {
            if let Some(StoredValueView::Reference { hash, .. }) = StoredValue::view(row) {
                *counts.entry(hash).or_default() += 1;
            }
            Ok(())
        })?;
        Ok(counts)
    }

    fn flush_unless_temporary(&self) -> Result<(), StorageError> {
        if self.store.database.settings.is_temporary { Ok(()) } else { self.store.flush() }
    }
}
