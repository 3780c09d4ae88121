//! The stored blocks behind caches, shared by readers and the importer.

pub(crate) mod address_search;
pub(crate) mod ancestry;
pub(crate) mod derived_trie;
pub(crate) mod historical_state;
pub(crate) mod log_search;
pub(crate) mod reads;
pub(crate) mod record;
pub(crate) mod side_branch;
pub(crate) mod unwritten_blocks;

use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::{Mutex, RwLock};
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use rhizome_evm::AncestorBlock;
use rhizome_primitives::{B256, ChainSpec, EMPTY_ROOT};
use rhizome_storage::{CacheStats, NodeVersions, RawReceipts, StorageError, Store, StoredReceipts};

use crate::archive::ancestry::walk_to_main;
use crate::archive::record::{BlockRecord, UNEXECUTED};
use crate::archive::side_branch::{AncestorPosition, BranchAncestor, SideBranch};
use crate::archive::unwritten_blocks::UnwrittenBlocks;
use crate::config::{ChainConfig, StateHistory};
use crate::error::ChainError;
use crate::fork::Fork;
use crate::upkeep::Upkeep;

/// Headers cached for the rules that read ancestors. The longest window has 449.
const ANCESTORS: usize = 600;
/// Memory of a change that leads to a derived trie, in bytes. Far apart they take three times as much, for the nodes on their ways.
const DERIVED_CHANGE_BYTES: usize = 512;
/// Divisor of the memory of decoded receipts: the share of undecoded ones.
const RAW_RECEIPTS_SHARE: u64 = 8;
/// Assumed size of a cached block or list of receipts, in bytes, when the caches are laid out.
const TYPICAL_BYTES: u64 = 16 * 1024;

pub(crate) struct Archive {
    pub(crate) spec: Arc<ChainSpec>,
    pub(crate) store: Arc<Store>,
    /// Chain below the lowest block of a fork.
    fork: Option<Fork>,
    history: StateHistory,
    /// Held while old states are given up, and while they must stay.
    pub(crate) pruning: Mutex<()>,
    pub(crate) upkeep: Arc<Upkeep>,
    /// Held while the trie of a block is derived for a request.
    pub(crate) deriving: Mutex<()>,
    /// Most changes of keys that lead to a trie that is derived for a request.
    pub(crate) derived_changes: usize,
    records: Cache<B256, Arc<BlockRecord>, RecordWeight>,
    receipts: Cache<B256, Arc<StoredReceipts>, ReceiptsWeight>,
    /// For log searches over a few blocks.
    raw_receipts: Cache<B256, Arc<RawReceipts>, RawReceiptsWeight>,
    ancestors: Cache<B256, Arc<AncestorBlock>>,
    unwritten: RwLock<UnwrittenBlocks>,
    side_branch: RwLock<SideBranch>,
    /// Number of deletions and replacements. A reader that fills a cache at the same time must not undo one.
    changes: AtomicU64,
}

impl Drop for Archive {
    /// Frees up to a million small allocations on another thread.
    fn drop(&mut self) {
        let records = mem::replace(&mut self.records, Cache::with_weighter(0, 0, RecordWeight));
        let receipts = mem::replace(&mut self.receipts, Cache::with_weighter(0, 0, ReceiptsWeight));
        rayon::spawn(move || drop((records, receipts)));
    }
}

impl Archive {
    /// Half of the memory for caches is divided evenly between blocks and receipts.
    pub(crate) fn new(config: &ChainConfig, store: Arc<Store>) -> Self {
        let bytes = config.cache_bytes as u64 / 4;
        let items = usize::try_from(bytes / TYPICAL_BYTES).unwrap_or(usize::MAX).max(1);
        Self {
            spec: Arc::clone(&config.spec),
            store,
            fork: config.fork.clone(),
            history: config.history,
            pruning: Mutex::default(),
            upkeep: Arc::default(),
            deriving: Mutex::default(),
            derived_changes: config.cache_bytes / DERIVED_CHANGE_BYTES,
            records: Cache::with_weighter(items, bytes, RecordWeight),
            receipts: Cache::with_weighter(items, bytes, ReceiptsWeight),
            raw_receipts: Cache::with_weighter(items, bytes / RAW_RECEIPTS_SHARE, RawReceiptsWeight),
            ancestors: Cache::new(ANCESTORS),
            unwritten: RwLock::default(),
            side_branch: RwLock::default(),
            changes: AtomicU64::new(0),
        }
    }

    /// Returns the cache look-ups of blocks and of receipts.
    pub(crate) fn cache_reads(&self) -> (CacheStats, CacheStats) {
        let blocks = CacheStats { hits: self.records.hits(), misses: self.records.misses() };
        let receipts = CacheStats { hits: self.receipts.hits(), misses: self.receipts.misses() };
        (blocks, receipts)
    }

    pub(crate) fn record(&self, hash: &B256) -> Result<Option<Arc<BlockRecord>>, ChainError> {
        self.read_through(&self.records, hash, || match self.store.block(hash)? {
            Some(stored) => BlockRecord::from_stored(*hash, stored, &self.spec).map(Some),
            None => Ok(None),
        })
    }

    /// Returns the state root after an executed block.
    pub(crate) fn state_root(&self, hash: &B256) -> Result<Option<B256>, ChainError> {
        let root = match self.records.get(hash) {
            Some(record) => Some(record.state_root),
            None => self.store.state_root(hash)?,
        };
        Ok(root.filter(|root| *root != UNEXECUTED))
    }

    /// Returns a block to which something else refers. Fails if it is missing.
    pub(crate) fn known_record(&self, hash: &B256) -> Result<Arc<BlockRecord>, ChainError> {
        self.record(hash)?.ok_or(ChainError::MissingBlock { hash: *hash })
    }

    pub(crate) fn receipts(&self, hash: &B256) -> Result<Option<Arc<StoredReceipts>>, ChainError> {
        self.read_through(&self.receipts, hash, || Ok(self.store.receipts(hash)?))
    }

    /// Returns the receipts of a block, undecoded, for searches that read the same few blocks again.
    pub(crate) fn raw_receipts(&self, hash: &B256) -> Result<Option<Arc<RawReceipts>>, ChainError> {
        self.read_through(&self.raw_receipts, hash, || Ok(self.store.raw_receipts(hash)?))
    }

    /// Returns header and uncles of a block, written or in flight.
    pub(crate) fn ancestor(&self, hash: &B256) -> Result<Option<Arc<AncestorBlock>>, ChainError> {
        if let Some(ancestor) = self.ancestors.get(hash) {
            return Ok(Some(ancestor));
        }
        if let Some(ancestor) = self.unwritten.read().get(hash) {
            return Ok(Some(Arc::clone(ancestor)));
        }
        let found = self.read_through(&self.ancestors, hash, || {
            let record = self.record(hash)?;
            Ok(record.map(|record| AncestorBlock::new(&record.block, *hash, record.total_difficulty)))
        })?;
        match (found, &self.fork) {
            (None, Some(fork)) => Ok(fork.0.ancestor_by_hash(hash)?),
            (found, _) => Ok(found),
        }
    }

    /// Returns header and uncles of a block to which something else refers. Fails if it is missing.
    pub(crate) fn known_ancestor(&self, hash: &B256) -> Result<Arc<AncestorBlock>, ChainError> {
        self.ancestor(hash)?.ok_or(ChainError::MissingBlock { hash: *hash })
    }

    /// Returns the head on disk. Fails if its state is missing.
    pub(crate) fn stored_head(&self) -> Result<Arc<BlockRecord>, ChainError> {
        let hash = self.store.head()?.ok_or(ChainError::MissingHeight { number: 0 })?;
        let record = self.known_record(&hash)?;
        let root = record.state_root;
        let has_all_nodes = self.store.node_versions() == NodeVersions::All;
        if has_all_nodes && root != EMPTY_ROOT && self.store.by_hash(&root)?.is_none() {
            return Err(ChainError::MissingState { number: record.number(), hash, root });
        }
        Ok(record)
    }

    /// Fails if the state after a block of the best chain is not kept.
    pub(crate) fn check_state(&self, number: u64) -> Result<(), ChainError> {
        let oldest = self.store.oldest_state();
        if number >= oldest {
            return Ok(());
        }
        Err(ChainError::StateNotKept { number, oldest, history: self.history })
    }

    /// Fails if the state after `fork` is not kept, where the branch of `block` leaves the best chain.
    pub(crate) fn check_branch(&self, block: AncestorPosition, fork: AncestorPosition) -> Result<(), ChainError> {
        let (oldest, history) = (self.store.oldest_state(), self.history);
        if fork.number >= oldest {
            return Ok(());
        }
        let AncestorPosition { number, hash } = block;
        let (fork, fork_hash) = (fork.number, fork.hash);
        Err(ChainError::BranchBelowHistory { number, hash, fork, fork_hash, oldest, history })
    }

    /// Returns the error of a failed read of the state after block `number`, or of the trie after it.
    pub(crate) fn state_failure(&self, number: u64, error: ChainError) -> ChainError {
        match error {
            ChainError::Storage(StorageError::StateNotKept { oldest, .. }) => {
                ChainError::StateNotKept { number, oldest, history: self.history }
            }
            // A value that the state had may be deleted.
            error => self.check_state(number).err().unwrap_or(error),
        }
    }

    #[cfg(test)]
    pub(crate) fn ancestor_reads(&self) -> u64 {
        self.ancestors.hits() + self.ancestors.misses()
    }

    /// Adds an executed block as an ancestor of the next ones.
    pub(crate) fn push_unwritten(&self, block: AncestorBlock) -> Arc<AncestorBlock> {
        let block = Arc::new(block);
        self.unwritten.write().push(Arc::clone(&block));
        block
    }

    /// Removes the oldest unwritten block: it was written or discarded.
    pub(crate) fn pop_unwritten(&self) {
        self.unwritten.write().pop();
    }

    /// Looks up the ancestor with a lower number of a block beside the best chain or in flight, without a walk. `None` for other blocks.
    pub(crate) fn branch_ancestor(&self, block: AncestorPosition, number: u64) -> Option<BranchAncestor> {
        let beside = self.side_branch.read().ancestor(block, number);
        beside.or_else(|| self.unwritten.read().ancestor(block, number))
    }

    /// Makes a block beside the best chain, and those below it, available to look-ups by number.
    pub(crate) fn follow_side_branch(&self, block: AncestorPosition, parent: &B256) -> Result<(), ChainError> {
        if self.side_branch.write().extend(block, parent) {
            return Ok(());
        }
        let number = block.number.saturating_sub(1);
        let (mut side, fork) = walk_to_main(self, AncestorPosition { number, hash: *parent })?;
        side.reverse();
        let hashes = side.into_iter().chain([block]).map(|position| position.hash).collect();
        *self.side_branch.write() = SideBranch::new(fork, hashes);
        Ok(())
    }

    /// Caches a block that was just written. `is_replaced`: its row without execution was replaced.
    pub(crate) fn remember(&self, record: &Arc<BlockRecord>, receipts: StoredReceipts, is_replaced: bool) {
        if is_replaced {
            self.changes.fetch_add(1, Ordering::AcqRel);
        }
        self.records.insert(record.hash, Arc::clone(record));
        self.receipts.insert(record.hash, Arc::new(receipts));
    }

    /// Caches a block whose state was replaced on disk.
    pub(crate) fn replace_record(&self, record: &Arc<BlockRecord>) {
        self.changes.fetch_add(1, Ordering::AcqRel);
        self.records.insert(record.hash, Arc::clone(record));
    }

    /// Caches the headers of blocks that are about to be deleted, highest first.
    pub(crate) fn remember_deleted(&self, records: &[Arc<BlockRecord>]) {
        for record in records.iter().take(ANCESTORS) {
            let ancestor = AncestorBlock::new(&record.block, record.hash, record.total_difficulty);
            self.remember_ancestor(&Arc::new(ancestor));
        }
    }

    /// Caches header and uncles of a written block.
    pub(crate) fn remember_ancestor(&self, block: &Arc<AncestorBlock>) {
        self.ancestors.insert(block.hash, Arc::clone(block));
    }

    /// Clears the caches after blocks were deleted from the disk. Headers stay: running executions still read them, and no block
    /// counts as stored because its header is cached.
    pub(crate) fn forget_all(&self) {
        self.changes.fetch_add(1, Ordering::AcqRel);
        self.records.clear();
        self.receipts.clear();
        self.raw_receipts.clear();
    }

    /// Clears the headers with their total difficulties, which were corrected.
    pub(crate) fn forget_ancestors(&self) {
        self.changes.fetch_add(1, Ordering::AcqRel);
        self.ancestors.clear();
    }

    pub(crate) fn is_main(&self, number: u64, hash: &B256) -> Result<bool, ChainError> {
        Ok(self.main_hash(number)? == Some(*hash))
    }

    /// Returns the hash of the block of the best chain at a height, also below the block that a fork begins at.
    pub(crate) fn main_hash(&self, number: u64) -> Result<Option<B256>, ChainError> {
        match &self.fork {
            Some(fork) if number < fork.number() => fork.hash_below(number),
            _ => Ok(self.store.main_hash(number)?),
        }
    }

    /// Returns the origin of a fork.
    pub(crate) fn fork(&self) -> Option<&Fork> {
        self.fork.as_ref()
    }

    /// Returns the number of the lowest block with a state: 0, or that of the block that a fork begins at.
    pub(crate) fn first_block(&self) -> u64 {
        self.fork.as_ref().map_or(0, Fork::number)
    }

    pub(crate) fn main_record(&self, number: u64) -> Result<Option<Arc<BlockRecord>>, ChainError> {
        match self.store.main_hash(number)? {
            Some(hash) => self.record(&hash),
            None => Ok(None),
        }
    }

    /// Returns a block's value from a cache, or reads and caches it.
    fn read_through<V, W: Weighter<B256, Arc<V>> + Clone>(
        &self,
        cache: &Cache<B256, Arc<V>, W>,
        hash: &B256,
        read: impl FnOnce() -> Result<Option<V>, ChainError>,
    ) -> Result<Option<Arc<V>>, ChainError> {
        if let Some(value) = cache.get(hash) {
            return Ok(Some(value));
        }
        let changes = self.changes.load(Ordering::Acquire);
        let Some(value) = read()?.map(Arc::new) else { return Ok(None) };
        cache.insert(*hash, Arc::clone(&value));
        // The writer counts a change before it clears the cache: either this sees the count, or the writer the entry.
        if self.changes.load(Ordering::Acquire) != changes {
            cache.remove(hash);
        }
        Ok(Some(value))
    }
}

#[derive(Clone)]
struct RecordWeight;

impl Weighter<B256, Arc<BlockRecord>> for RecordWeight {
    fn weight(&self, _hash: &B256, record: &Arc<BlockRecord>) -> u64 {
        record.weight()
    }
}

#[derive(Clone)]
struct RawReceiptsWeight;

impl Weighter<B256, Arc<RawReceipts>> for RawReceiptsWeight {
    fn weight(&self, _hash: &B256, receipts: &Arc<RawReceipts>) -> u64 {
        (receipts.bytes() + 32 * receipts.transaction_hashes().len() + 100) as u64
    }
}

#[derive(Clone)]
struct ReceiptsWeight;

impl Weighter<B256, Arc<StoredReceipts>> for ReceiptsWeight {
    fn weight(&self, _hash: &B256, stored: &Arc<StoredReceipts>) -> u64 {
        let logs = stored.receipts.iter().flat_map(|receipt| &receipt.logs);
        let logs: usize = logs.map(|log| 160 + 32 * log.topics.len() + log.data.len()).sum();
        (logs + 350 * stored.receipts.len() + 100) as u64
    }
}
