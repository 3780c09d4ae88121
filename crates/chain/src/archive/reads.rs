use std::path::Path;
use std::sync::Arc;

use rhizome_primitives::{B256, Bytes, Receipt, U256};
use rhizome_storage::{CacheStats, CachedNodes, StoredReceipts};
use rhizome_trie::{StateReader, Trie};

use crate::{BlockRecord, Chain, ChainAncestry, ChainError};

/// One block of a height.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockAtHeight {
    /// Its hash.
    pub hash: B256,
    /// Difficulty of the chain up to and including it.
    pub total_difficulty: U256,
    /// Whether it is on the best chain.
    pub is_main: bool,
}

/// A transaction on the best chain.
#[derive(Debug, Clone)]
pub struct MinedTransaction {
    /// Its block.
    pub record: Arc<BlockRecord>,
    /// Its position there.
    pub index: usize,
}

/// The receipts of a block, in block order.
#[derive(Debug, Clone)]
pub struct BlockReceipts(Arc<StoredReceipts>);

impl BlockReceipts {
    /// Hash of each transaction.
    pub fn transaction_hashes(&self) -> &[B256] {
        &self.0.transaction_hashes
    }

    /// Number of logs in the block before those of the receipt at `index`.
    pub fn logs_before(&self, index: usize) -> usize {
        self.0.receipts.iter().take(index).map(|receipt| receipt.logs.len()).sum()
    }
}

impl std::ops::Deref for BlockReceipts {
    type Target = [Receipt];

    fn deref(&self) -> &[Receipt] {
        &self.0.receipts
    }
}

impl Chain {
    /// A block by hash, on the best chain or off it.
    pub fn block(&self, hash: &B256) -> Result<Option<Arc<BlockRecord>>, ChainError> {
        let head = self.head();
        if head.record.hash == *hash {
            return Ok(Some(Arc::clone(&head.record)));
        }
        self.archive.record(hash)
    }

    /// The block of the best chain at a height.
    pub fn main_block(&self, number: u64) -> Result<Option<Arc<BlockRecord>>, ChainError> {
        let head = self.head();
        if head.record.number() == number {
            return Ok(Some(Arc::clone(&head.record)));
        }
        self.archive.main_record(number)
    }

    /// Hash of the block of the best chain at a height.
    pub fn main_hash(&self, number: u64) -> Result<Option<B256>, ChainError> {
        Ok(self.archive.store.main_hash(number)?)
    }

    /// Whether a block is on the best chain.
    pub fn is_main(&self, record: &BlockRecord) -> Result<bool, ChainError> {
        self.archive.is_main(record.number(), &record.hash)
    }

    /// All blocks of a height, in order of arrival.
    pub fn blocks_at(&self, number: u64) -> Result<Vec<BlockAtHeight>, ChainError> {
        let entries = self.archive.store.blocks_at(number)?.into_iter();
        let place = |entry: rhizome_storage::HeightEntry| BlockAtHeight {
            hash: entry.hash,
            total_difficulty: entry.total_difficulty,
            is_main: entry.is_main,
        };
        Ok(entries.map(place).collect())
    }

    /// The highest number that a stored block has; it may lie above the head's.
    pub fn highest_number(&self) -> Result<u64, ChainError> {
        Ok(self.archive.store.highest_number()?.unwrap_or_default())
    }

    /// Full encoding of a block.
    pub fn raw_block(&self, hash: &B256) -> Result<Option<Bytes>, ChainError> {
        Ok(self.archive.store.block(hash)?.map(|stored| stored.raw))
    }

    /// The receipts of a block.
    pub fn receipts(&self, hash: &B256) -> Result<Option<BlockReceipts>, ChainError> {
        Ok(self.archive.receipts(hash)?.map(BlockReceipts))
    }

    /// A transaction of the best chain.
    pub fn transaction(&self, hash: &B256) -> Result<Option<MinedTransaction>, ChainError> {
        for location in self.archive.store.transaction_locations(hash)? {
            let Some(record) = self.archive.record(&location.block)? else { continue };
            let index = usize::try_from(location.index).unwrap_or(usize::MAX);
            if index < record.block.transactions.len() && self.is_main(&record)? {
                return Ok(Some(MinedTransaction { record, index }));
            }
        }
        Ok(None)
    }

    /// The state after a block: flat at the head, the trie elsewhere.
    pub fn state_at(&self, record: &BlockRecord) -> Result<Arc<dyn StateReader>, ChainError> {
        let head = self.head();
        // A change by hand leaves the hash as it is.
        if head.record.hash == record.hash && head.record.state_root == record.state_root {
            return Ok(head.state());
        }
        Ok(Arc::new(self.state_trie(record)?))
    }

    /// The trie of the state after a block.
    pub fn state_trie(&self, record: &BlockRecord) -> Result<Trie, ChainError> {
        Ok(Trie::open(record.state_root, Arc::new(CachedNodes::new(&self.archive.store))))
    }

    /// The ancestors of a block that executes on top of `parent`.
    pub fn ancestry(&self, parent: &BlockRecord) -> ChainAncestry {
        ChainAncestry::new(Arc::clone(&self.archive), parent.number(), parent.hash)
    }

    /// Copies the database into a new folder on the same disk while the node runs.
    pub fn checkpoint(&self, path: &Path) -> Result<(), ChainError> {
        Ok(self.archive.store.checkpoint(path)?)
    }

    /// Waits until everything that was written is on the disk.
    pub fn flush(&self) -> Result<(), ChainError> {
        Ok(self.archive.store.flush()?)
    }

    /// Size of the database's files, in bytes.
    pub fn disk_bytes(&self) -> Result<u64, ChainError> {
        Ok(self.archive.store.disk_bytes()?)
    }

    /// Look-ups of blocks and of receipts in memory.
    pub fn cache_reads(&self) -> (CacheStats, CacheStats) {
        self.archive.cache_reads()
    }

    /// What the database says about itself now.
    pub fn store_figures(&self) -> Result<rhizome_storage::StoreStats, ChainError> {
        Ok(self.archive.store.stats()?)
    }
}
