//! Blocks below the ones of a takeover. They are written downwards, without execution and without receipts; the head and its
//! state do not change.
//!
//! Total difficulties of all blocks of a takeover follow from a lower bound for the highest one: headers name no uncles. With block
//! 1 the difference to the true ones is known. It is written once, and added when rows are read.

use rhizome_primitives::{Address, B256, U256};
use rocksdb::WriteBatch;

use crate::columns::{BLOCKS, DIFFICULTY_CORRECTION_KEY, HEIGHTS, META, TRANSACTIONS};
use crate::database::Database;
use crate::record::{self, HeightEntry};
use crate::{StorageError, Store};

/// A block that is stored without execution and without receipts.
#[derive(Debug, Clone)]
pub struct TakenBlock {
    /// Hash of the block.
    pub hash: B256,
    /// Number of the block.
    pub number: u64,
    /// Encoding of the block.
    pub raw: Vec<u8>,
    /// Total difficulty of the block, counted down from that of the state's block, modulo 2^256.
    pub counted_difficulty: U256,
    /// State root of the header.
    pub state_root: B256,
    /// Sender of each transaction, zero for REMASC.
    pub senders: Vec<Address>,
    /// Hash of each transaction.
    pub transaction_hashes: Vec<B256>,
}

/// The lower end of the stored blocks.
pub struct OlderBlocks<'a> {
    store: &'a Store,
}

impl<'a> OlderBlocks<'a> {
    /// Returns the lower end of a database.
    pub fn new(store: &'a Store) -> Self {
        Self { store }
    }

    /// Returns the number of the lowest stored block above genesis; `None` if there is only genesis. All blocks of the best chain
    /// above it are stored.
    pub fn lowest_number(&self) -> Result<Option<u64>, StorageError> {
        let engine = self.store.database.engine()?;
        let mut rows = engine.db.raw_iterator_cf(engine.column(HEIGHTS)?);
        rows.seek(1_u64.to_be_bytes());
        let number = rows.key().and_then(|key| key.try_into().ok()).map(u64::from_be_bytes);
        rows.status().map_err(|source| self.store.database.engine_error("read the lowest block", source))?;
        Ok(number)
    }

    /// Returns the total difficulty of a block modulo 2^256, also if it was counted down below zero; `None` if the block is not
    /// stored.
    pub fn counted_difficulty(&self, hash: &B256) -> Result<Option<U256>, StorageError> {
        let block = self.store.database.decoded(BLOCKS, hash.as_slice(), record::decode_block)?;
        Ok(block.map(|block| block.total_difficulty.wrapping_add(self.store.difficulty_correction())))
    }

    /// Writes blocks of the best chain right below the lowest one, in one batch. May run beside the writer of the chain, which has
    /// no blocks of these heights.
    pub fn write(&self, blocks: &[TakenBlock]) -> Result<(), StorageError> {
        self.store.database.check_writable()?;
        let mut batch = WriteBatch::default();
        add_to_batch(self.store, &mut batch, blocks)?;
        self.store.database.write_batch(batch)
    }

    /// [`OlderBlocks::write`] for the blocks down to block 1, with the number that is added, modulo 2^256, to the total difficulties
    /// of all blocks above genesis from here on. Only for the writer of the chain.
    pub fn write_last(&self, blocks: &[TakenBlock], correction: U256) -> Result<(), StorageError> {
        self.store.database.check_writable()?;
        let mut batch = WriteBatch::default();
        add_to_batch(self.store, &mut batch, blocks)?;
        let engine = self.store.database.engine()?;
        let correction = self.store.difficulty_correction().wrapping_add(correction);
        batch.put_cf(engine.column(META)?, DIFFICULTY_CORRECTION_KEY, correction.to_be_bytes::<32>());
        self.store.database.write_batch(batch)?;
        *self.store.difficulty_correction.write() = correction;
        Ok(())
    }
}

/// Returns the number that is added to total difficulties.
pub(crate) fn stored_correction(database: &Database) -> Result<U256, StorageError> {
    Ok(database.decoded(META, DIFFICULTY_CORRECTION_KEY, U256::try_from_be_slice)?.unwrap_or_default())
}

/// Adds blocks of the best chain without state and receipts.
pub(crate) fn add_to_batch(store: &Store, batch: &mut WriteBatch, blocks: &[TakenBlock]) -> Result<(), StorageError> {
    let engine = store.database.engine()?;
    for block in blocks {
        let hash = block.hash;
        let total_difficulty = store.difficulty_for_row(block.number, block.counted_difficulty);
        let row = record::encode_block(&block.raw, total_difficulty, &block.state_root, &block.senders);
        batch.put_cf(engine.column(BLOCKS)?, hash, row);
        let mut entries = store.rows_at(block.number)?;
        entries.retain(|entry| entry.hash != hash);
        entries.push(HeightEntry { hash, total_difficulty, is_main: true });
        batch.put_cf(engine.column(HEIGHTS)?, block.number.to_be_bytes(), record::encode_heights(&entries));
        for (transaction, index) in block.transaction_hashes.iter().zip(0..) {
            batch.merge_cf(engine.column(TRANSACTIONS)?, transaction, record::encode_location(&hash, index));
        }
    }
    Ok(())
}
