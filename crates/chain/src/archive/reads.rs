use std::sync::Arc;

use rhizome_primitives::{B256, Receipt, U256};
use rhizome_storage::{CachedNodes, CurrentNodes, HeightEntry, NodeVersions, StoredReceipts};
use rhizome_trie::Trie;

use crate::archive::Archive;
use crate::archive::record::BlockRecord;
use crate::error::ChainError;

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
pub struct BlockReceipts(pub(crate) Arc<StoredReceipts>);

impl BlockReceipts {
    /// Returns the hash of each transaction.
    pub fn transaction_hashes(&self) -> &[B256] {
        &self.0.transaction_hashes
    }

    /// Returns the number of logs in the block before those of the receipt at `index`.
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

impl Archive {
    /// Returns all blocks of a height, in order of arrival.
    pub(crate) fn blocks_at(&self, number: u64) -> Result<Vec<BlockAtHeight>, ChainError> {
        let block = |entry: HeightEntry| BlockAtHeight {
            hash: entry.hash,
            total_difficulty: entry.total_difficulty,
            is_main: entry.is_main,
        };
        Ok(self.store.blocks_at(number)?.into_iter().map(block).collect())
    }

    /// Returns a transaction of the best chain.
    pub(crate) fn transaction(&self, hash: &B256) -> Result<Option<MinedTransaction>, ChainError> {
        for location in self.store.transaction_locations(hash)? {
            let Some(record) = self.record(&location.block)? else { continue };
            let index = usize::try_from(location.index).unwrap_or(usize::MAX);
            if index < record.block.transactions.len() && self.is_main(record.number(), &record.hash)? {
                return Ok(Some(MinedTransaction { record, index }));
            }
        }
        Ok(None)
    }

    /// Opens the trie with a root whose nodes are stored: in a database with current nodes, that of the last flush.
    pub(crate) fn trie(&self, root: B256) -> Trie {
        match self.store.node_versions() {
            NodeVersions::All => Trie::open(root, Arc::new(CachedNodes::new(&self.store))),
            NodeVersions::Current => Trie::open(root, Arc::new(CurrentNodes::new(&self.store))),
        }
    }
}
