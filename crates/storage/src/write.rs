use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::{iter, mem};

use rhizome_primitives::{Address, B256, Bytes, Receipt, U256};
use rhizome_trie::{NodeBatch, StateDelta};
use rocksdb::WriteBatch;

use crate::columns::{
    BLOCKS, HEAD_KEY, HEIGHTS, LOGS, META, NODE_BATCHES, ORIGINAL_ROOT_PREFIX, RECEIPTS, TRANSACTIONS,
};
use crate::node_journal::FlushError;
use crate::record::{self, HeightEntry};
use crate::store::damaged;
use crate::write_faults::PROBE_BYTES;
use crate::{StorageError, Store, log_index};

/// Approximate size of a row in a batch, without a long value.
const ROW_BYTES: usize = 96;

/// Everything that one block changes in the database.
pub struct BlockWrite<'a> {
    /// Hash of the block.
    pub hash: B256,
    /// Number of the block.
    pub number: u64,
    /// Encoding of the block.
    pub raw: &'a [u8],
    /// Total difficulty of the block.
    pub total_difficulty: U256,
    /// State root after the block, in the current trie format.
    pub state_root: B256,
    /// Sender of each transaction, zero for REMASC.
    pub senders: &'a [Address],
    /// Hash of each transaction.
    pub transaction_hashes: &'a [B256],
    /// Receipt of each transaction.
    pub receipts: &'a [Receipt],
    /// Encoding of each receipt.
    pub encoded_receipts: &'a [Bytes],
    /// Trie nodes and long values that the block adds, by Keccak hash.
    pub nodes: NodeBatch,
    /// Present if the block becomes the head.
    pub head_change: Option<HeadChange<'a>>,
}

/// Changes of the best chain and the flat state when a block becomes the head.
pub struct HeadChange<'a> {
    /// Number and hash of the blocks that join the best chain, including the new head.
    pub enacted: &'a [(u64, B256)],
    /// Number and hash of the blocks that leave the best chain.
    pub retracted: &'a [(u64, B256)],
    /// Difference between the states of the old head and the new one.
    pub flat: &'a StateDelta,
}

/// Replacement of the state after the head, other than by its transactions.
pub struct StateChange<'a> {
    /// Hash of the head.
    pub head: B256,
    /// Root of the new state.
    pub state_root: B256,
    /// True if the transactions of the head lead to the new state.
    pub is_original: bool,
    /// Trie nodes and long values that the state adds, by Keccak hash.
    pub nodes: NodeBatch,
    /// Difference between the current state and the new one.
    pub flat: &'a StateDelta,
}

impl BlockWrite<'_> {
    /// Returns the approximate size of the write batch.
    fn batch_bytes(&self) -> usize {
        let rows =
            self.transaction_hashes.len() * 3 + self.head_change.as_ref().map_or(0, |best| best.flat.writes.len());
        let receipts: usize = self.encoded_receipts.iter().map(|receipt| receipt.len()).sum();
        self.raw.len() + self.nodes.bytes() + receipts + rows * ROW_BYTES + 4096
    }
}

/// Returns the key of the row with the state root that the block's transactions led to.
pub(crate) fn original_root_key(block: &B256) -> Vec<u8> {
    [ORIGINAL_ROOT_PREFIX, block.as_slice()].concat()
}

impl Store {
    /// Replaces the state after the head in one batch, and stores the state root that its transactions led to. Returns
    /// the generation of the flat state after the write. One writer at a time.
    pub fn write_state(&self, mut change: StateChange<'_>) -> Result<u64, StorageError> {
        let stored = self.block(&change.head)?.ok_or_else(|| damaged(BLOCKS, change.head.as_slice(), "is missing"))?;
        self.check_writable()?;
        let engine = self.engine()?;
        let mut batch = WriteBatch::default();
        self.batch_nodes(&mut batch, mem::take(&mut change.nodes))?;
        let row = record::encode_block(&stored.raw, stored.total_difficulty, &change.state_root, &stored.senders);
        batch.put_cf(engine.column(BLOCKS)?, change.head, row);
        let (meta, key) = (engine.column(META)?, original_root_key(&change.head));
        if change.is_original {
            batch.delete_cf(meta, key);
        } else if self.original_state_root(&change.head)?.is_none() {
            batch.put_cf(meta, key, stored.state_root);
        }
        self.batch_flat(&mut batch, change.flat)?;
        self.write_new_head(batch)
    }

    /// Returns the state root that the transactions of a block led to; `None` if the state was not replaced.
    pub fn original_state_root(&self, block: &B256) -> Result<Option<B256>, StorageError> {
        self.decoded(META, &original_root_key(block), |row| B256::try_from(row).ok())
    }

    /// Writes a block with everything that belongs to it in one batch: a crash leaves either all of it or no part. Returns
    /// the generation of the flat state after the write. One writer at a time.
    pub fn write_block(&self, mut write: BlockWrite<'_>) -> Result<u64, StorageError> {
        self.check_writable()?;
        let engine = self.engine()?;
        let mut batch = WriteBatch::with_capacity_bytes(write.batch_bytes());
        self.batch_nodes(&mut batch, mem::take(&mut write.nodes))?;
        let row = record::encode_block(write.raw, write.total_difficulty, &write.state_root, write.senders);
        batch.put_cf(engine.column(BLOCKS)?, write.hash, row);
        let row = record::encode_receipts(write.transaction_hashes, write.encoded_receipts);
        batch.put_cf(engine.column(RECEIPTS)?, write.hash, row);
        let transactions = engine.column(TRANSACTIONS)?;
        // In key order, which speeds up the insertion: see `columns.rs`.
        let mut places: Vec<(&B256, u32)> = write.transaction_hashes.iter().zip(0..).collect();
        places.sort_unstable();
        for (hash, index) in places {
            batch.merge_cf(transactions, hash, record::encode_location(&write.hash, index));
        }
        self.batch_postings(&mut batch, &write)?;
        self.batch_heights(&mut batch, &write)?;
        let Some(best) = &write.head_change else {
            self.write_batch(batch)?;
            return Ok(self.generation());
        };
        batch.put_cf(engine.column(META)?, HEAD_KEY, write.hash);
        self.batch_flat(&mut batch, best.flat)?;
        if best.retracted.is_empty() {
            return self.write_new_head(batch);
        }
        self.main_hashes.change(|| self.write_new_head(batch))
    }

    /// Writes a batch that changes the flat state. The generation is incremented first: a reader that sees any part of
    /// the batch also sees the new generation.
    pub(crate) fn write_new_head(&self, batch: WriteBatch) -> Result<u64, StorageError> {
        let generation = self.generation.fetch_add(1, Ordering::SeqCst) + 1;
        self.write_batch(batch)?;
        Ok(generation)
    }

    /// Adds the nodes of a block to the batch as one row. They are readable at once: a reader that sees the block
    /// finds its state.
    fn batch_nodes(&self, batch: &mut WriteBatch, mut nodes: NodeBatch) -> Result<(), StorageError> {
        let engine = self.engine()?;
        engine.journal.poll_tasks(&engine.files).map_err(|error| match error {
            FlushError::Files(error) => self.begin_fault(error, PROBE_BYTES),
            FlushError::Thread(source) => StorageError::Thread { source },
        })?;
        let column = engine.column(NODE_BATCHES)?;
        // Only the writer takes sequence numbers, so the next one stays valid until the row is in the journal.
        let sequence = engine.journal.next_sequence().to_be_bytes();
        nodes.with_encoded(|pack| batch.put_cf(column, sequence, pack));
        engine.journal.append(nodes);
        Ok(())
    }

    /// Adds the block to the log index.
    fn batch_postings(&self, batch: &mut WriteBatch, write: &BlockWrite<'_>) -> Result<(), StorageError> {
        let engine = self.engine()?;
        let column = engine.column(LOGS)?;
        let (shard, operand) = log_index::shard_and_offset(write.number);
        for posting in log_index::postings(write.receipts.iter().flat_map(|receipt| &receipt.logs)) {
            let key = posting.key(shard);
            let whole = match posting.rewrites_row_at(write.number) {
                true => self.with_row(LOGS, &key, |row| {
                    row.map(|row| log_index::merge(Some(row), iter::once(operand.as_slice())))
                })?,
                false => None,
            };
            match whole {
                Some(row) => batch.put_cf(column, key, row),
                None => batch.merge_cf(column, key, operand),
            }
        }
        Ok(())
    }

    /// Adds the block to the list of its height, and updates the main flags of blocks that join or leave the best
    /// chain.
    fn batch_heights(&self, batch: &mut WriteBatch, write: &BlockWrite<'_>) -> Result<(), StorageError> {
        let mut heights: BTreeMap<u64, Vec<HeightEntry>> = BTreeMap::new();
        heights.insert(write.number, self.blocks_at(write.number)?);
        if let Some(entries) = heights.get_mut(&write.number) {
            let entry = HeightEntry { hash: write.hash, total_difficulty: write.total_difficulty, is_main: false };
            entries.push(entry);
        }
        if let Some(best) = &write.head_change {
            let changes = best.retracted.iter().map(|block| (block, false));
            for ((number, hash), is_main) in changes.chain(best.enacted.iter().map(|block| (block, true))) {
                if !heights.contains_key(number) {
                    heights.insert(*number, self.blocks_at(*number)?);
                }
                for entry in heights.entry(*number).or_default() {
                    if entry.hash == *hash {
                        entry.is_main = is_main;
                    }
                }
            }
        }
        let engine = self.engine()?;
        let column = engine.column(HEIGHTS)?;
        for (number, entries) in heights {
            batch.put_cf(column, number.to_be_bytes(), record::encode_heights(&entries));
        }
        Ok(())
    }
}
