mod commands;
mod states;

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use parking_lot::Mutex;
use rhizome_evm::Deadline;
use rhizome_primitives::{Address, B256, Block, Bytes, ChainSpec, EMPTY_ROOT};
use rhizome_storage::{
    BlockWrite, CacheStats, ChainIdentity, ChangeSet, DiskBytes, Durability, HeadChange, NewNodes, NodeVersions,
    StateTakeover, Store, StoreOptions, StoreStats, receipts_row,
};
use rhizome_trie::{MemoryNodes, StateReader, Trie, diff};

use crate::address_indexer;
use crate::archive::Archive;
use crate::archive::address_search::{self, AddressPage, AddressRange, AddressSearchError, UnindexedCalls};
use crate::archive::ancestry::ChainAncestry;
use crate::archive::derived_trie::TrieSnapshot;
use crate::archive::historical_state::HistoricalState;
use crate::archive::log_search::{self, BlockLogs, FoundLog, LogFilter, LogSearchError};
use crate::archive::reads::{BlockAtHeight, BlockReceipts, MinedTransaction};
use crate::archive::record::BlockRecord;
use crate::archive::side_branch::AncestorPosition;
use crate::background_thread::BackgroundThread;
use crate::config::{ChainConfig, DataDir, ProvenBlocks};
use crate::error::{ChainError, ImportError};
use crate::events::ChainEvent;
use crate::fork::Fork;
use crate::head::Head;
use crate::head::publisher::HeadPublisher;
use crate::headers::HeaderChain;
use crate::import::branch_adoption;
use crate::import::import_state::ImportState;
use crate::import::importer::Importer;
use crate::import::recovery;
use crate::import::steps::ImportSteps;
use crate::mining::Miner;
use crate::mining::block_builder::BlockBuilder;
use crate::mining::block_builder::skipped::ReportedReasons;
use crate::mining::block_settings::BlockSettings;
use crate::mining::block_templates::BlockTemplates;
use crate::mining::snapshots::Snapshots;
use crate::older_blocks::OldestBlock;
use crate::pruning;
use crate::state_download::finish_after_kill;
use crate::state_snapshots::{self, SnapshotMaker, SnapshotWork};
use crate::txpool::{PoolHead, TransactionPool};
use crate::upkeep::UpkeepFigures;

/// Blocks that the fee market of the pool reads at the start.
const FEE_MARKET_BLOCKS: u64 = 50;

/// One chain on disk, its best block, and the transactions that wait for the next one. Holds the parts of the chain and passes
/// calls on to them.
///
/// Everything that moves the head is a job of the importer. Readers take the published head and no lock.
pub struct Chain {
    /// Dropped first: the threads use the importer.
    _pruner: Option<BackgroundThread>,
    /// Present if blocks were missing in the address index of the database.
    address_indexer: Mutex<Option<BackgroundThread>>,
    /// Present if snapshots are kept.
    snapshot_maker: Option<SnapshotMaker>,
    config: Arc<ChainConfig>,
    archive: Arc<Archive>,
    publisher: Arc<HeadPublisher>,
    importer: Arc<Importer>,
    settings: Arc<BlockSettings>,
    miner: Arc<Miner>,
    snapshots: Arc<Snapshots>,
    headers: HeaderChain,
}

impl Chain {
    /// Opens a chain. An empty directory gets the genesis of the network. A directory of another chain is rejected.
    pub fn open(config: ChainConfig) -> Result<Arc<Self>, ChainError> {
        let config = Arc::new(config);
        let archive = Arc::new(open_archive(&config)?);
        let record = archive.stored_head()?;
        let is_read_only = matches!(config.data_dir, DataDir::ReadOnly(_));
        if !is_read_only {
            address_indexer::begin(&archive, (record.number(), record.hash))?;
        }
        let state = ImportState::open(&record, &archive, &config)?;
        let snapshot = Arc::new(TrieSnapshot::new(&archive, &record, state.trie()));
        let head = Head::new(Arc::clone(&record), archive.store.generation(), &archive, snapshot);
        let recent = recent_blocks(&archive, head.number())?;
        let pool_head = PoolHead { record, state: head.state() };
        let (spec, clock) = (Arc::clone(&config.spec), config.clock.clone());
        let pool = TransactionPool::new(spec, config.pool.clone(), clock, pool_head, &recent, config.target_gas_limit);
        let publisher = Arc::new(HeadPublisher::new(Arc::clone(&archive), head, pool));
        let steps = ImportSteps::new(Arc::clone(&config), Arc::clone(&archive), Arc::clone(&publisher));
        let steps = Arc::new(steps);
        let importer = Arc::new(Importer::start(steps, state)?);
        recovery::watch_disk(&importer);
        let kept = config.kept_states(config.history).filter(|_kept| config.prunes_states && !is_read_only);
        let pruner = kept.map(|kept| pruning::start(&importer, kept)).transpose()?;
        let address_indexer = if is_read_only { None } else { address_indexer::start(&importer)? };
        let snapshot_maker = start_snapshots(&config, &archive, &publisher)?;
        let settings = Arc::new(BlockSettings::new(Arc::clone(&config)));
        let builder = BlockBuilder {
            config: Arc::clone(&config),
            archive: Arc::clone(&archive),
            publisher: Arc::clone(&publisher),
            settings: Arc::clone(&settings),
            state: Arc::clone(&importer.state),
            last: Mutex::default(),
            reported: ReportedReasons::default(),
        };
        let miner = Arc::new(Miner {
            importer: Arc::clone(&importer),
            builder,
            templates: Mutex::new(BlockTemplates::default()),
        });
        let snapshots = Arc::new(Snapshots::new(Arc::clone(&archive), Arc::clone(&publisher), Arc::clone(&settings)));
        let invalid = Arc::clone(&importer.invalid);
        let headers = HeaderChain::open(Arc::clone(&config), Arc::clone(&archive), Arc::clone(&publisher), invalid)?;
        Ok(Arc::new(Self {
            _pruner: pruner,
            address_indexer: Mutex::new(address_indexer),
            snapshot_maker,
            config,
            archive,
            publisher,
            importer,
            settings,
            miner,
            snapshots,
            headers,
        }))
    }

    /// Returns the network.
    pub fn spec(&self) -> &Arc<ChainSpec> {
        &self.config.spec
    }

    /// Returns the settings.
    pub fn config(&self) -> &ChainConfig {
        &self.config
    }

    /// Returns the best block. Never blocks.
    pub fn head(&self) -> Arc<Head> {
        self.publisher.head()
    }

    /// Returns the headers ahead of their blocks.
    pub fn headers(&self) -> &HeaderChain {
        &self.headers
    }

    /// Returns the transaction pool.
    pub fn pool(&self) -> &TransactionPool {
        self.publisher.pool()
    }

    #[cfg(test)]
    pub(crate) fn importer(&self) -> &Importer {
        &self.importer
    }

    /// Returns the stored bans of peers, one a line.
    pub fn ban_lines(&self) -> Result<String, ChainError> {
        Ok(self.archive.store.bans()?)
    }

    /// Replaces the stored bans of peers. They are on disk when the call returns.
    pub fn write_ban_lines(&self, lines: &str) -> Result<(), ChainError> {
        Ok(self.archive.store.write_bans(lines)?)
    }

    /// Whether the head is one of a command that may still put back the head of before. Its end is an event, too.
    pub fn is_provisional(&self) -> bool {
        self.publisher.is_provisional()
    }

    /// Adds a listener. It runs on the thread of the event after the new head is visible, in the order of the events. It must
    /// neither block nor write to the chain.
    pub fn on_event(&self, listener: Box<dyn Fn(&ChainEvent) + Send + Sync>) {
        self.publisher.listeners().add(listener);
    }

    /// Returns a block by hash, on the best chain or off it.
    pub fn block(&self, hash: &B256) -> Result<Option<Arc<BlockRecord>>, ChainError> {
        let head = self.head();
        if head.record.hash == *hash {
            return Ok(Some(Arc::clone(&head.record)));
        }
        self.archive.record(hash)
    }

    /// Returns the block of the best chain at a height.
    pub fn main_block(&self, number: u64) -> Result<Option<Arc<BlockRecord>>, ChainError> {
        let head = self.head();
        if head.record.number() == number {
            return Ok(Some(Arc::clone(&head.record)));
        }
        self.archive.main_record(number)
    }

    /// Returns the hash of the block of the best chain at a height, also below the block that a fork begins at.
    pub fn main_hash(&self, number: u64) -> Result<Option<B256>, ChainError> {
        self.archive.main_hash(number)
    }

    /// Returns the number of the lowest block with a state: 0, or that of the block that a fork begins at.
    pub fn first_block(&self) -> u64 {
        self.archive.first_block()
    }

    /// Whether a block is on the best chain.
    pub fn is_main(&self, record: &BlockRecord) -> Result<bool, ChainError> {
        self.archive.is_main(record.number(), &record.hash)
    }

    /// Returns all blocks of a height, in order of arrival.
    pub fn blocks_at(&self, number: u64) -> Result<Vec<BlockAtHeight>, ChainError> {
        self.archive.blocks_at(number)
    }

    /// Returns the highest number of a stored block. It may be higher than the head's.
    pub fn highest_number(&self) -> Result<u64, ChainError> {
        Ok(self.archive.store.highest_number()?.unwrap_or_default())
    }

    /// Returns the full encoding of a block.
    pub fn raw_block(&self, hash: &B256) -> Result<Option<Bytes>, ChainError> {
        Ok(self.archive.store.block(hash)?.map(|stored| stored.raw))
    }

    /// Returns the receipts of a block; `None` if the block is unknown. Fails with [`ChainError::ReceiptsNotKept`] for blocks that
    /// were stored without execution below a state from peers.
    pub fn receipts(&self, hash: &B256) -> Result<Option<BlockReceipts>, ChainError> {
        let Some(record) = self.block(hash)? else { return Ok(None) };
        self.check_receipts(record.number())?;
        self.executed(&record)?;
        Ok(self.archive.receipts(hash)?.map(BlockReceipts))
    }

    /// Returns the number of the first block whose receipts are stored, as are those of all later blocks of the best chain.
    pub fn first_receipts(&self) -> u64 {
        self.archive.store.first_receipts()
    }

    /// Fails with [`ChainError::BlockNotStored`] for the height of a block below a state from peers that is not downloaded yet.
    pub fn check_stored(&self, number: u64) -> Result<(), ChainError> {
        if (1..self.first_receipts()).contains(&number)
            && let Some(OldestBlock { number: first, .. }) = self.oldest_block()?
            && number < first
        {
            return Err(ChainError::BlockNotStored { number, first });
        }
        Ok(())
    }

    fn check_receipts(&self, number: u64) -> Result<(), ChainError> {
        let first = self.first_receipts();
        // Those of genesis are stored: there are none.
        if (1..first).contains(&number) { Err(ChainError::ReceiptsNotKept { number, first }) } else { Ok(()) }
    }

    /// Returns a transaction of the best chain.
    pub fn transaction(&self, hash: &B256) -> Result<Option<MinedTransaction>, ChainError> {
        self.archive.transaction(hash)
    }

    /// Returns a page of the transactions of an address on the best chain: at least `count`, if there are as many, and whole blocks.
    pub fn address_transactions(
        &self,
        address: &Address,
        range: AddressRange,
        count: usize,
    ) -> Result<AddressPage, AddressSearchError> {
        address_search::page(&self.archive, address, range, count)
    }

    /// Returns the number of blocks that the address index still misses; `None` if it is switched off.
    pub fn blocks_missing_in_address_index(&self) -> Result<Option<u64>, ChainError> {
        address_search::missing_blocks(&self.archive)
    }

    /// Returns the blocks whose inner calls the address index misses; `None` if inner calls are not indexed.
    pub fn unindexed_calls(&self) -> Result<Option<UnindexedCalls>, ChainError> {
        address_search::unindexed_calls(&self.archive)
    }

    /// Returns the state after a block: flat at the head, history elsewhere.
    pub fn state_at(&self, record: &BlockRecord) -> Result<Arc<dyn StateReader>, ChainError> {
        let head = self.head();
        // A replaced state leaves the hash as it is.
        if head.record.hash == record.hash && head.record.state_root == record.state_root {
            return Ok(head.state());
        }
        let executed = self.executed(record)?;
        let record = executed.as_deref().unwrap_or(record);
        self.archive.check_state(record.number())?;
        Ok(Arc::new(HistoricalState::new(Arc::clone(&self.archive), record)))
    }

    /// Returns the state after the block of the best chain at a height, if it is found without decoding the block: for an executed block
    /// below the head. Decoding takes longer than reading a value for blocks with many transactions.
    pub fn main_state(&self, number: u64) -> Result<Option<Arc<dyn StateReader>>, ChainError> {
        if number >= self.head().number() {
            return Ok(None);
        }
        let Some(hash) = self.archive.store.main_hash(number)? else { return Ok(None) };
        let Some(root) = self.archive.state_root(&hash)? else { return Ok(None) };
        self.archive.check_state(number)?;
        Ok(Some(Arc::new(HistoricalState::after(Arc::clone(&self.archive), AncestorPosition { number, hash }, root))))
    }

    /// Returns the number of the oldest block whose state is kept; 0 if all states are.
    pub fn oldest_state(&self) -> u64 {
        self.archive.store.oldest_state()
    }

    /// Returns the number of blocks below the head whose states are kept by the settings; `None`: all.
    pub fn kept_states(&self) -> Option<u64> {
        self.config.kept_states(self.config.history)
    }

    /// Returns the trie of the state after a block. In a database with current nodes only, the trie is derived from the head's, and
    /// reads of it fail with a missing node after the nodes that it needs were replaced: then ask for it again.
    pub fn state_trie(&self, record: &Arc<BlockRecord>) -> Result<Trie, ChainError> {
        self.state_trie_by(record, |head, record| head.snapshot().trie_after(&self.archive, record))
    }

    /// Like [`Chain::state_trie`], for a request. Fails with [`ChainError::DeadlineExceeded`] after its deadline, and at once if the trie has
    /// to be derived in an inline call, with [`ChainError::TrieTooFar`] if that takes too many changes.
    pub fn state_trie_until(&self, record: &Arc<BlockRecord>, deadline: &Deadline) -> Result<Trie, ChainError> {
        self.state_trie_by(record, |head, record| head.snapshot().trie_for_request(&self.archive, record, deadline))
    }

    fn state_trie_by(
        &self,
        record: &Arc<BlockRecord>,
        trie_after: impl FnOnce(&Head, &Arc<BlockRecord>) -> Result<Trie, ChainError>,
    ) -> Result<Trie, ChainError> {
        let executed = self.executed(record)?;
        let record = executed.as_ref().unwrap_or(record);
        let ProvenBlocks::Last(kept) = self.config.proven_blocks else {
            return Ok(self.archive.trie(record.state_root));
        };
        let head = self.head();
        if head.number().saturating_sub(record.number()) > kept {
            let oldest = head.number().saturating_sub(kept).max(self.oldest_state());
            return Err(ChainError::TrieNotKept { number: record.number(), oldest, kept });
        }
        trie_after(&head, record).map_err(|error| self.archive.state_failure(record.number(), error))
    }

    /// Executes a block that is stored without execution, because its branch cannot win. Returns it, or `None` if the given record
    /// is executed.
    fn executed(&self, record: &BlockRecord) -> Result<Option<Arc<BlockRecord>>, ChainError> {
        if record.is_executed() {
            return Ok(None);
        }
        let hash = record.hash;
        self.importer.run(move |writer| writer.execute_stored(hash))?.map_err(|error| match error {
            ImportError::Chain(error) => error,
            other => ChainError::InvalidStoredBlock { hash, reason: other.to_string() },
        })?;
        self.archive.known_record(&hash).map(Some)
    }

    /// Returns the ancestors of a block that executes on top of `parent`.
    pub fn ancestry(&self, parent: &BlockRecord) -> ChainAncestry {
        ChainAncestry::new(Arc::clone(&self.archive), parent.number(), parent.hash)
    }

    /// Visits the logs of the best chain from block `from` to block `to`, both included, in order. An inline deadline has passed
    /// when the search is about to read more than a few blocks.
    pub fn visit_logs(
        &self,
        filter: &LogFilter,
        from: u64,
        to: u64,
        deadline: &Deadline,
        visit: &mut dyn FnMut(FoundLog<'_>) -> ControlFlow<()>,
    ) -> Result<(), LogSearchError> {
        log_search::visit_logs(&self.archive, filter, from, to.min(self.head().number()), deadline, visit)
    }

    /// Returns the numbers from `from` to `to`, ascending, of blocks on the best chain or beside it that may have a matching log;
    /// `None` if the filter has no condition. The memory grows with the number of blocks found.
    pub fn blocks_with_logs(&self, filter: &LogFilter, from: u64, to: u64) -> Result<Option<Vec<u64>>, ChainError> {
        log_search::blocks_with_logs(&self.archive, filter, from, to)
    }

    /// Returns the logs of a block, on the best chain or off it. `None` if the block is unknown. Fails like [`Chain::receipts`].
    pub fn logs_in_block(&self, hash: &B256) -> Result<Option<BlockLogs>, ChainError> {
        let Some(record) = self.block(hash)? else { return Ok(None) };
        self.check_receipts(record.number())?;
        self.executed(&record)?;
        let receipts = self.archive.raw_receipts(hash)?;
        Ok(receipts.map(|receipts| BlockLogs::new(record.number(), *hash, receipts)))
    }

    /// Returns the root of the state that the transactions of a block led to, if it was replaced by hand afterwards.
    pub fn original_state_root(&self, block: &B256) -> Result<Option<B256>, ChainError> {
        Ok(self.archive.store.original_state_root(block)?)
    }

    /// Copies the database into a new folder on the same disk while the node runs.
    pub fn checkpoint(&self, path: &Path) -> Result<(), ChainError> {
        Ok(self.archive.store.checkpoint(path)?)
    }

    /// Waits until everything that was written is on the disk.
    pub fn flush(&self) -> Result<(), ChainError> {
        Ok(self.archive.store.flush()?)
    }

    /// Returns true if the start found fewer writes in the database than its log has, or than the last orderly stop had left.
    pub fn has_lost_writes(&self) -> Result<bool, ChainError> {
        Ok(self.archive.store.has_lost_writes()?)
    }

    /// Returns the size of the database's files and of the snapshots, in bytes.
    pub fn disk_bytes(&self) -> Result<DiskBytes, ChainError> {
        let snapshots = state_snapshots::disk_bytes(self.archive.store.dir());
        Ok(DiskBytes { snapshots, ..self.archive.store.disk_bytes()? })
    }

    /// Returns the cache look-ups of blocks and of receipts.
    pub fn cache_reads(&self) -> (CacheStats, CacheStats) {
        self.archive.cache_reads()
    }

    /// Returns figures of the work that no caller waits for.
    pub fn upkeep(&self) -> UpkeepFigures {
        self.archive.upkeep.figures()
    }

    /// Returns the statistics of the database.
    pub fn store_figures(&self) -> Result<StoreStats, ChainError> {
        Ok(self.archive.store.stats()?)
    }
}

fn start_snapshots(
    config: &ChainConfig,
    archive: &Arc<Archive>,
    publisher: &Arc<HeadPublisher>,
) -> Result<Option<SnapshotMaker>, ChainError> {
    let DataDir::Path(dir) = &config.data_dir else { return Ok(None) };
    if !config.prunes_states {
        return Ok(None);
    }
    let is_possible = archive.store.node_versions() == NodeVersions::Current;
    let Some(heights) = config.snapshots.filter(|_| is_possible) else {
        // Nothing else removes them. A rest goes at the next start.
        drop(state_snapshots::remove_all(dir));
        return Ok(None);
    };
    let work = SnapshotWork::new(dir, heights, Arc::clone(archive), Arc::clone(publisher));
    SnapshotMaker::start(work).map(Some)
}

fn open_archive(config: &ChainConfig) -> Result<Archive, ChainError> {
    if let Some(fork) = &config.fork {
        return open_fork(config, fork);
    }
    let memory = Arc::new(MemoryNodes::default());
    let (genesis, mut trie) = rhizome_trie::genesis(&config.spec, memory)?;
    let identity = ChainIdentity { chain_id: config.spec.chain_id, genesis: genesis.hash() };
    let options = store_options(config);
    let store = Arc::new(match &config.data_dir {
        DataDir::Path(dir) => Store::open(dir, &identity, &options)?,
        DataDir::ReadOnly(dir) => {
            let store = Arc::new(Store::open_read_only(dir, &identity, &options)?);
            if is_complete(&store)? {
                return Ok(Archive::new(config, store));
            }
            drop(store);
            Store::open(dir, &identity, &options)?
        }
        DataDir::Temporary => Store::open_temporary(&identity, &options)?,
    });
    finish_after_kill(&store, &config.spec)?;
    let archive = Archive::new(config, store);
    if archive.store.head()?.is_none() {
        write_genesis(&archive.store, &genesis, &mut trie)?;
    }
    branch_adoption::resume(&archive)?;
    Ok(archive)
}

/// Whether a kill has left nothing that the next start must complete before the chain can be read.
fn is_complete(store: &Arc<Store>) -> Result<bool, ChainError> {
    let is_changing = store.adopted_branch()?.is_some() || StateTakeover::new(store).is_under_way()?;
    Ok(store.head()?.is_some() && !is_changing)
}

fn open_fork(config: &ChainConfig, fork: &Fork) -> Result<Archive, ChainError> {
    let identity = ChainIdentity { chain_id: config.spec.chain_id, genesis: fork.0.block().genesis };
    let options = StoreOptions { node_versions: NodeVersions::All, ..store_options(config) };
    let store = Arc::new(Store::open_fork(&identity, &options, fork.0.state())?);
    fork.write_block(&store)?;
    Ok(Archive::new(config, store))
}

fn store_options(config: &ChainConfig) -> StoreOptions {
    StoreOptions {
        cache_bytes: config.cache_bytes / 2,
        write_buffer_bytes: config.write_buffer_bytes,
        max_open_files: config.max_open_files,
        node_versions: config.proven_blocks.node_versions(),
        has_address_index: config.has_address_index,
        has_call_index: config.has_call_index,
        durability: if config.is_power_safe { Durability::Power } else { Durability::Process },
        notes_blocks: config.notes_blocks,
        ..StoreOptions::default()
    }
}

/// Returns the last blocks of the best chain up to a height, oldest first.
fn recent_blocks(archive: &Archive, top: u64) -> Result<Vec<Arc<BlockRecord>>, ChainError> {
    let numbers = top.saturating_sub(FEE_MARKET_BLOCKS - 1)..=top;
    numbers.filter_map(|number| archive.main_record(number).transpose()).collect()
}

fn write_genesis(store: &Store, genesis: &Block, trie: &mut Trie) -> Result<(), ChainError> {
    let empty = Trie::open(EMPTY_ROOT, Arc::clone(trie.source()));
    let delta = diff(&empty, trie)?;
    let changes = Arc::new(ChangeSet::of(&delta, |_| Ok::<_, ChainError>(None))?);
    let nodes = match store.node_versions() {
        NodeVersions::All => store.commit(trie)?.into(),
        NodeVersions::Current => {
            NewNodes { by_hash: delta.long_values().collect(), flushed: Some(trie.flush()), ..NewNodes::default() }
        }
    };
    let hash = genesis.hash();
    store.write_block(BlockWrite {
        hash,
        number: genesis.header.number,
        raw: &genesis.encode(),
        total_difficulty: genesis.header.difficulty_value(),
        state_root: trie.root_hash(),
        senders: &[],
        transaction_hashes: &[],
        receipts: &[],
        receipts_row: &receipts_row(&[], &[]),
        inner_accounts: None,
        nodes,
        changes: Some(&changes),
        head_change: Some(HeadChange { enacted: &[(genesis.header.number, hash)], retracted: &[] }),
    })?;
    Ok(())
}
