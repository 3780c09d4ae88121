//! Rows of a node in a fleet, in the column `default`: blocks that are not in the block log yet, and the place up to which the node
//! has read it.
//!
//! A block is noted in its own batch, so that a crash loses no note. The place joins the batch of the next block, so that it is never
//! ahead of the blocks.

use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use rhizome_primitives::{B256, Bytes, U256};
use rocksdb::WriteBatch;

use crate::columns::{LOG_PLACE_KEY, META, UNPUBLISHED_PREFIX, position_key};
use crate::{StorageError, Store};

/// Place in a block log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogPlace {
    /// Identity of the log. A log that was deleted and created again has a different identity.
    pub log: u64,
    /// Sequence number of the last message up to which all are handled.
    pub sequence: u64,
}

impl LogPlace {
    fn encode(self) -> [u8; 16] {
        let mut row = [0; 16];
        let (log, sequence) = row.split_at_mut(8);
        log.copy_from_slice(&self.log.to_be_bytes());
        sequence.copy_from_slice(&self.sequence.to_be_bytes());
        row
    }

    fn decode(row: &[u8]) -> Option<Self> {
        let (log, sequence) = row.split_first_chunk()?;
        Some(Self { log: u64::from_be_bytes(*log), sequence: u64::from_be_bytes(sequence.try_into().ok()?) })
    }
}

/// State that the writer and the fleet share.
pub(crate) struct BlockLogState {
    /// Lowest height that may have a noted block which was not read yet, `u64::MAX` for none.
    lowest: AtomicU64,
    /// Place that the next batch of a block writes.
    place: Mutex<Option<LogPlace>>,
}

impl Default for BlockLogState {
    /// After a start all heights may have noted blocks.
    fn default() -> Self {
        Self { lowest: AtomicU64::new(0), place: Mutex::new(None) }
    }
}

/// Adds the rows of a new block to its batch.
pub(crate) fn add_to_batch(
    store: &Store,
    batch: &mut WriteBatch,
    number: u64,
    hash: &B256,
) -> Result<(), StorageError> {
    let engine = store.database.engine()?;
    let column = engine.column(META)?;
    if store.database.settings.options.notes_blocks && number > 0 {
        batch.put_cf(column, key(number, hash), []);
    }
    if let Some(place) = store.block_log.place.lock().take() {
        batch.put_cf(column, LOG_PLACE_KEY, place.encode());
    }
    Ok(())
}

/// Lets the log be read from its start after blocks were deleted: it may have them.
pub(crate) fn return_to_start(store: &Store, batch: &mut WriteBatch) -> Result<(), StorageError> {
    let waiting = store.block_log.place.lock().take();
    let Some(place) = waiting.map_or_else(|| BlockLogRows(store).place(), |place| Ok(Some(place)))? else {
        return Ok(());
    };
    let start = LogPlace { sequence: 0, ..place };
    batch.put_cf(store.database.engine()?.column(META)?, LOG_PLACE_KEY, start.encode());
    Ok(())
}

fn key(number: u64, hash: &B256) -> Vec<u8> {
    [UNPUBLISHED_PREFIX, &position_key(number, hash)].concat()
}

fn position(key: &[u8]) -> Option<(u64, B256)> {
    let (number, hash) = key.strip_prefix(UNPUBLISHED_PREFIX)?.split_first_chunk()?;
    Some((u64::from_be_bytes(*number), B256::try_from(hash).ok()?))
}

impl BlockLogState {
    /// Starts again with the rows of a database that was opened again. A place that waited is that of other rows.
    pub(crate) fn forget(&self) {
        *self.place.lock() = None;
        self.lowest.store(0, Ordering::Release);
    }

    /// Reports that a block was written.
    pub(crate) fn written(&self, number: u64) {
        self.lowest.fetch_min(number, Ordering::AcqRel);
    }
}

/// The rows of a fleet in a database. May be used beside the writer of the chain.
pub struct BlockLogRows<'a>(&'a Store);

impl<'a> BlockLogRows<'a> {
    /// Returns the rows of a database.
    pub fn new(store: &'a Store) -> Self {
        Self(store)
    }

    /// Whether blocks may have been noted since the last read.
    pub fn has_unread(&self) -> bool {
        self.0.block_log.lowest.load(Ordering::Acquire) != u64::MAX
    }

    /// Returns number and hash of noted blocks, lowest first, at most `most`. Blocks that were returned before and are still noted may
    /// be left out; [`BlockLogRows::read_again`] brings them back.
    pub fn unpublished(&self, most: usize) -> Result<Vec<(u64, B256)>, StorageError> {
        let lowest = self.0.block_log.lowest.swap(u64::MAX, Ordering::AcqRel);
        let found = if lowest == u64::MAX { Ok(Vec::new()) } else { self.noted(lowest, most) };
        match &found {
            Ok(found) if found.len() < most => {}
            Ok(found) => self.0.block_log.written(found.last().map_or(lowest, |(number, _)| *number)),
            Err(_) => self.0.block_log.written(lowest),
        }
        found
    }

    /// Lets the next read begin at a height again.
    pub fn read_again(&self, number: u64) {
        self.0.block_log.written(number);
    }

    fn noted(&self, lowest: u64, most: usize) -> Result<Vec<(u64, B256)>, StorageError> {
        let database = &self.0.database;
        let engine = database.engine()?;
        let mut rows = engine.db.raw_iterator_cf(engine.column(META)?);
        let mut found = Vec::new();
        rows.seek(key(lowest, &B256::ZERO));
        while found.len() < most
            && let Some(block) = rows.key().and_then(position)
        {
            found.push(block);
            rows.next();
        }
        rows.status().map_err(|source| database.engine_error("read noted blocks", source))?;
        Ok(found)
    }

    /// Returns encoding and total difficulty of a block.
    pub fn block(&self, hash: &B256) -> Result<Option<(Bytes, U256)>, StorageError> {
        Ok(self.0.block(hash)?.map(|block| (block.raw, block.total_difficulty)))
    }

    /// Whether a block is stored.
    pub fn has_block(&self, hash: &B256) -> Result<bool, StorageError> {
        self.0.has_block(hash)
    }

    /// Deletes the notes of blocks.
    pub fn remove(&self, blocks: &[(u64, B256)]) -> Result<(), StorageError> {
        let engine = self.0.database.engine()?;
        let column = engine.column(META)?;
        let mut batch = WriteBatch::default();
        blocks.iter().for_each(|(number, hash)| batch.delete_cf(column, key(*number, hash)));
        self.0.database.write_batch(batch)
    }

    /// Notes all stored blocks from a height on, on the best chain and beside it, and sets the place, in one batch.
    pub fn note_from(&self, number: u64, place: LogPlace) -> Result<(), StorageError> {
        let engine = self.0.database.engine()?;
        let column = engine.column(META)?;
        let mut batch = WriteBatch::default();
        let first = number.max(1);
        for height in first..=self.0.highest_number()?.unwrap_or_default() {
            for entry in self.0.rows_at(height)? {
                batch.put_cf(column, key(height, &entry.hash), []);
            }
        }
        batch.put_cf(column, LOG_PLACE_KEY, place.encode());
        self.0.database.write_batch(batch)?;
        self.0.block_log.written(first);
        Ok(())
    }

    /// Returns the place on the disk.
    pub fn place(&self) -> Result<Option<LogPlace>, StorageError> {
        self.0.database.decoded(META, LOG_PLACE_KEY, LogPlace::decode)
    }

    /// Lets the batch of the next block write the place.
    pub fn set_place(&self, place: LogPlace) {
        *self.0.block_log.place.lock() = Some(place);
    }

    /// Writes a place that no block has written.
    pub fn write_place(&self) -> Result<(), StorageError> {
        let Some(place) = *self.0.block_log.place.lock() else { return Ok(()) };
        let mut batch = WriteBatch::default();
        batch.put_cf(self.0.database.engine()?.column(META)?, LOG_PLACE_KEY, place.encode());
        self.0.database.write_batch(batch)?;
        let mut waiting = self.0.block_log.place.lock();
        if *waiting == Some(place) {
            *waiting = None;
        }
        Ok(())
    }
}
