use std::io::{BufRead, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use parking_lot::Mutex;
use rhizome_evm::{Deadline, State};
use rhizome_pow::MiningSolution;
use rhizome_primitives::{Address, B256, Block, Bytes, ChainSpec, EMPTY_ROOT, Transaction, U256};
use rhizome_storage::{BlockWrite, CacheStats, ChainIdentity, Durability, HeadChange, Store, StoreOptions, StoreStats};
use rhizome_trie::{MemoryNodes, StateError, StateReader, Trie, diff};

use crate::archive::Archive;
use crate::archive::ancestry::ChainAncestry;
use crate::archive::log_search::{self, BlockLogs, FoundLog, LogFilter, LogSearchError};
use crate::archive::reads::{BlockAtHeight, BlockReceipts, MinedTransaction};
use crate::archive::record::BlockRecord;
use crate::bans::Bans;
use crate::config::{ChainConfig, DataDir};
use crate::error::{ChainError, ImportError};
use crate::events::ChainEvent;
use crate::head::Head;
use crate::head::publisher::HeadPublisher;
use crate::import::block_file::{self, BlockFileError, ExportError, ImportedLine};
use crate::import::block_stream::{self, StreamedBlock};
use crate::import::import_state::ImportState;
use crate::import::importer::Importer;
use crate::import::outcome::{BlockOrigin, ImportOutcome};
use crate::import::prepared_block::PreparedBlock;
use crate::import::steps::ImportSteps;
use crate::import::{recovery, rewind, state_change};
use crate::mining::block_builder::skipped::ReportedReasons;
use crate::mining::block_builder::{BlockBuilder, BuildError, PendingBlock};
use crate::mining::block_settings::BlockSettings;
use crate::mining::block_templates::{BlockTemplate, BlockTemplates, SubmissionError, SubmittedBlock};
use crate::mining::skipped_transaction::SkippedTransaction;
use crate::mining::snapshots::Snapshots;
use crate::mining::{BlockTime, MineError, MinedBlock, Miner, SubmittedTransaction};
use crate::txpool::{AdmittedTransaction, PoolHead, PoolRejection, TransactionPool};
use crate::verification::{ChainVerifier, Verification, VerificationError, VerifiedPart};

/// Blocks that the fee market of the pool reads at the start.
const FEE_MARKET_BLOCKS: u64 = 50;

/// One chain on disk, its best block, and the transactions that wait for the next one. Holds the parts of the chain and passes
/// calls on to them.
///
/// Everything that moves the head is a job of the importer. Readers take the published head and no lock.
pub struct Chain {
    config: Arc<ChainConfig>,
    archive: Arc<Archive>,
    publisher: Arc<HeadPublisher>,
    importer: Arc<Importer>,
    settings: Arc<BlockSettings>,
    miner: Arc<Miner>,
    snapshots: Arc<Snapshots>,
    bans: Bans,
}

impl Chain {
    /// Opens a chain. An empty directory gets the genesis of the network. A directory of another chain is rejected.
    pub fn open(config: ChainConfig) -> Result<Arc<Self>, ChainError> {
        let config = Arc::new(config);
        let archive = Arc::new(open_archive(&config)?);
        let record = archive.stored_head()?;
        let head = Head::new(Arc::clone(&record), archive.store.generation(), &archive.store);
        let state = ImportState::open(record.state_root, &archive.store, config.cache_bytes);
        let recent = recent_blocks(&archive, head.number())?;
        let pool_head = PoolHead { record, state: head.state() };
        let (spec, clock) = (Arc::clone(&config.spec), config.clock.clone());
        let pool = TransactionPool::new(spec, config.pool.clone(), clock, pool_head, &recent, config.target_gas_limit);
        let publisher = Arc::new(HeadPublisher::new(Arc::clone(&archive), head, pool));
        let steps = Arc::new(ImportSteps {
            config: Arc::clone(&config),
            archive: Arc::clone(&archive),
            publisher: Arc::clone(&publisher),
        });
        let importer = Arc::new(Importer::start(steps, state)?);
        recovery::watch_disk(&importer);
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
        let snapshots = Arc::new(Snapshots::new(Arc::clone(&publisher), Arc::clone(&settings)));
        let bans = Bans::open(Arc::clone(&archive.store))?;
        Ok(Arc::new(Self { config, archive, publisher, importer, settings, miner, snapshots, bans }))
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

    /// Returns the transaction pool.
    pub fn pool(&self) -> &TransactionPool {
        self.publisher.pool()
    }

    #[cfg(test)]
    pub(crate) fn importer(&self) -> &Importer {
        &self.importer
    }

    /// Returns the list of banned addresses.
    pub fn bans(&self) -> &Bans {
        &self.bans
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

    /// Returns the hash of the block of the best chain at a height.
    pub fn main_hash(&self, number: u64) -> Result<Option<B256>, ChainError> {
        Ok(self.archive.store.main_hash(number)?)
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

    /// Returns the receipts of a block.
    pub fn receipts(&self, hash: &B256) -> Result<Option<BlockReceipts>, ChainError> {
        let Some(record) = self.block(hash)? else { return Ok(None) };
        self.executed(&record)?;
        Ok(self.archive.receipts(hash)?.map(BlockReceipts))
    }

    /// Returns a transaction of the best chain.
    pub fn transaction(&self, hash: &B256) -> Result<Option<MinedTransaction>, ChainError> {
        self.archive.transaction(hash)
    }

    /// Returns the state after a block: flat at the head, the trie elsewhere.
    pub fn state_at(&self, record: &BlockRecord) -> Result<Arc<dyn StateReader>, ChainError> {
        let head = self.head();
        // A replaced state leaves the hash as it is.
        if head.record.hash == record.hash && head.record.state_root == record.state_root {
            return Ok(head.state());
        }
        Ok(Arc::new(self.state_trie(record)?))
    }

    /// Returns the trie of the state after a block.
    pub fn state_trie(&self, record: &BlockRecord) -> Result<Trie, ChainError> {
        let executed = self.executed(record)?;
        Ok(self.archive.trie(executed.map_or(record.state_root, |executed| executed.state_root)))
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

    /// Returns the logs of a block, on the best chain or off it. `None` if the block is unknown.
    pub fn logs_in_block(&self, hash: &B256) -> Result<Option<BlockLogs>, ChainError> {
        let Some(record) = self.block(hash)? else { return Ok(None) };
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

    /// Returns the size of the database's files, in bytes.
    pub fn disk_bytes(&self) -> Result<u64, ChainError> {
        Ok(self.archive.store.disk_bytes()?)
    }

    /// Returns the cache look-ups of blocks and of receipts.
    pub fn cache_reads(&self) -> (CacheStats, CacheStats) {
        self.archive.cache_reads()
    }

    /// Returns the statistics of the database.
    pub fn store_figures(&self) -> Result<StoreStats, ChainError> {
        Ok(self.archive.store.stats()?)
    }

    /// Validates, executes and stores a block, and makes it the best block if it is.
    pub fn import_block(&self, block: Block) -> Result<ImportOutcome, ImportError> {
        self.import_prepared(PreparedBlock::new(block))
    }

    /// [`Chain::import_block`] for a prepared block.
    pub fn import_prepared(&self, prepared: PreparedBlock) -> Result<ImportOutcome, ImportError> {
        self.importer.import(prepared, BlockOrigin::Caller)
    }

    /// Imports encoded blocks in order. `on_block` gets each result and may end the stream. An error ends the stream; the blocks
    /// before it stay imported.
    pub fn import_stream(
        &self,
        blocks: impl Iterator<Item = Vec<u8>>,
        on_block: impl FnMut(StreamedBlock) -> ControlFlow<()>,
    ) -> Result<(), ImportError> {
        block_stream::import(&self.importer, blocks, on_block)
    }

    /// Imports the blocks of a file. `on_line` gets each result and may end the import. Returns the number of lines whose blocks are
    /// on disk.
    pub fn import_blocks(
        &self,
        file: impl BufRead,
        on_line: impl FnMut(&ImportedLine) -> ControlFlow<()>,
    ) -> Result<u64, BlockFileError> {
        block_file::import(&self.importer, file, on_line)
    }

    /// Writes the blocks of the best chain from `from` to `to`, both included, as lines. Returns the number of lines.
    pub fn export_blocks(
        &self,
        from: u64,
        to: u64,
        file: &mut impl Write,
        on_block: impl FnMut(u64) -> ControlFlow<()>,
    ) -> Result<u64, ExportError> {
        block_file::export(&self.archive, from, to.min(self.head().number()), file, on_block)
    }

    /// Executes a range of the best chain again and compares it with everything stored about it, then compares the flat state of
    /// the head with its trie. Writes nothing. `on_part` gets each verified part and may end the verification. No block must be
    /// imported meanwhile.
    pub fn verify_range(
        &self,
        from: u64,
        to: u64,
        on_part: impl FnMut(VerifiedPart<'_>) -> ControlFlow<()>,
    ) -> Result<Verification, VerificationError> {
        ChainVerifier { steps: &self.importer.steps }.verify_range(from, to, on_part)
    }

    /// Makes the block of the best chain at `height` the head, deletes all blocks above it, on the best chain and off it, and
    /// empties the pool. A height above the head only deletes the blocks above that height.
    pub fn rewind(&self, height: u64) -> Result<(), ChainError> {
        self.importer.run(move |writer| rewind::rewind(writer, height))?
    }

    /// Changes the state after the best block. Only for development networks: the caller has to check.
    pub fn change_state(
        &self,
        change: impl FnOnce(&mut State) -> Result<(), StateError> + Send + 'static,
    ) -> Result<(), ChainError> {
        self.importer.run(move |writer| state_change::change_state(writer, change))?
    }

    /// Takes a snapshot of the head. Returns its id: 1, 2, and so on.
    pub fn snapshot(&self) -> u64 {
        self.snapshots.take()
    }

    /// Returns id, height and block hash of each snapshot.
    pub fn snapshots(&self) -> Vec<(u64, u64, B256)> {
        self.snapshots.list()
    }

    /// Goes back to a snapshot: deletes the blocks above it, undoes changes of its state and of the settings for later blocks, and
    /// empties the pool. The snapshot stays, later ones are removed. Returns false if there is no such snapshot.
    pub fn revert(&self, id: u64) -> Result<bool, ChainError> {
        let snapshots = Arc::clone(&self.snapshots);
        self.importer.run(move |writer| snapshots.revert(writer, id))?
    }

    /// Goes back to the genesis and its original state, and removes all snapshots and settings for later blocks.
    pub fn reset(&self) -> Result<(), ChainError> {
        let snapshots = Arc::clone(&self.snapshots);
        self.importer.run(move |writer| snapshots.reset(writer))?
    }

    /// Adds a transaction to the pool. Fails with the rule that it breaks.
    pub fn submit(&self, transaction: Transaction) -> Result<SubmittedTransaction, PoolRejection> {
        Ok(self.submitted(self.pool().add(transaction)?))
    }

    /// Adds the transaction that `sign` makes of the next nonce of an account to the pool ([`TransactionPool::add_next`]).
    pub fn submit_next<E: From<PoolRejection>>(
        &self,
        sender: &Address,
        sign: impl FnMut(u64) -> Result<Transaction, E>,
    ) -> Result<SubmittedTransaction, E> {
        Ok(self.submitted(self.pool().add_next(sender, sign)?))
    }

    fn submitted(&self, admitted: AdmittedTransaction) -> SubmittedTransaction {
        for hash in admitted.now_pending {
            self.publisher.listeners().emit(&ChainEvent::PendingTransaction { hash });
        }
        SubmittedTransaction { hash: admitted.hash, sender: admitted.sender, is_pending: admitted.is_pending }
    }

    /// Submits a transaction and mines a block for it. Nothing else moves the head in between, so the next submission gets another
    /// block. If no block can be mined, the transaction leaves the pool.
    pub fn submit_and_mine<E: From<MineError> + From<ChainError> + Send + 'static>(
        self: &Arc<Self>,
        now: u64,
        submit: impl FnOnce(&Self) -> Result<SubmittedTransaction, E> + Send + 'static,
    ) -> Result<(SubmittedTransaction, MinedBlock), E> {
        let chain = Arc::clone(self);
        self.importer.run(move |writer| {
            let submitted = submit(&chain)?;
            let mined = chain.miner.mine_with(writer, now, BlockTime::Clock).inspect_err(|_| {
                // The caller gets an error for the transaction, so it must not be mined later.
                chain.pool().remove(&[submitted.hash]);
            })?;
            Ok((submitted, mined))
        })?
    }

    /// Builds a block on the best one from the pool, finds its proof of work and imports it. `now` is in seconds; the development
    /// offset is added to it and then ends.
    pub fn mine(&self, now: u64) -> Result<Arc<BlockRecord>, MineError> {
        self.mine_at(now, BlockTime::Clock)
    }

    /// [`Chain::mine`] with a time for the block.
    pub fn mine_at(&self, now: u64, time: BlockTime) -> Result<Arc<BlockRecord>, MineError> {
        Ok(self.miner.mine(now, time)?.record)
    }

    /// Returns the block that would be mined now. `now` is in seconds.
    pub fn pending_block(&self, now: u64) -> Result<Arc<PendingBlock>, BuildError> {
        self.miner.builder.pending_block(now)
    }

    /// Reports to the listeners that a transaction waits.
    pub fn report_skipped(&self, skipped: SkippedTransaction) {
        self.publisher.listeners().emit(&ChainEvent::TransactionSkipped(skipped));
    }

    /// Returns the template on the best block. `None` if mining was never on; while mining is off the template stays the same.
    pub fn block_template(&self, now: u64) -> Result<Option<BlockTemplate>, MineError> {
        self.miner.block_template(now)
    }

    /// [`Chain::block_template`] for a miner: the next caller does not get the request to change over.
    pub fn fetch_block_template(&self, now: u64) -> Result<Option<BlockTemplate>, MineError> {
        self.miner.fetch_block_template(now)
    }

    /// Builds another template now, whether or not the current one is outdated.
    pub fn renew_block_template(&self, now: u64) -> Result<(), MineError> {
        self.miner.renew_block_template(now)
    }

    /// Completes the block that a solution is for and imports it.
    pub fn submit_solution(&self, solution: &MiningSolution, now: u64) -> Result<SubmittedBlock, SubmissionError> {
        self.miner.submit_solution(solution.clone(), now)
    }

    /// Returns the receiver of the fees of the blocks that this node builds.
    pub fn coinbase(&self) -> Address {
        self.settings.coinbase()
    }

    /// Sets the receiver of the fees.
    pub fn set_coinbase(&self, coinbase: Address) {
        self.settings.set_coinbase(coinbase);
    }

    /// Sets the minimum gas price that built blocks move toward, in wei.
    pub fn set_minimum_gas_price(&self, price: U256) {
        self.settings.set_minimum_gas_price(price);
    }

    /// Returns the gas limit that built blocks move toward.
    pub fn target_gas_limit(&self) -> u64 {
        self.settings.target_gas_limit()
    }

    /// Sets the gas limit that built blocks move toward. Returns false if it is below the minimum of the network.
    pub fn set_target_gas_limit(&self, gas_limit: u64) -> bool {
        let is_allowed = gas_limit >= self.spec().constants.min_gas_limit;
        if is_allowed {
            self.settings.set_target_gas_limit(gas_limit);
            self.pool().follow_target(gas_limit);
        }
        is_allowed
    }

    /// Returns the seconds from a block to the next one, if they are fixed.
    pub fn block_interval(&self) -> Option<u64> {
        self.settings.block_interval()
    }

    /// Fixes the seconds from a block to the next one, or leaves them to the clock. Returns the previous setting.
    pub fn set_block_interval(&self, seconds: Option<u64>) -> Option<u64> {
        self.settings.set_block_interval(seconds)
    }

    /// Adds to the offset of the next block's time. Returns the total offset in seconds.
    pub fn increase_time(&self, seconds: u64) -> u64 {
        self.settings.increase_time(&self.head(), seconds)
    }

    /// Sets the time of the next block, in seconds since 1970. Fails if it is not after the head's.
    pub fn set_next_timestamp(&self, timestamp: u64) -> Result<(), MineError> {
        self.require_after_head(timestamp)?;
        self.settings.set_next_timestamp(timestamp);
        Ok(())
    }

    /// Sets the clock: the next block has this time, plus the seconds that pass until it is built. `now` is the machine's clock.
    /// Returns the seconds by which the clock moved ahead. Fails if the time is not after the head's.
    pub fn set_time(&self, timestamp: u64, now: u64) -> Result<u64, MineError> {
        self.require_after_head(timestamp)?;
        Ok(self.settings.set_clock(timestamp, now))
    }

    fn require_after_head(&self, timestamp: u64) -> Result<(), MineError> {
        let head = self.head().record.block.header.timestamp;
        if timestamp > head { Ok(()) } else { Err(MineError::Time { timestamp, head }) }
    }

    /// Returns the seconds that the next block's time is ahead of the clock.
    pub fn time_offset(&self) -> u64 {
        self.settings.time_offset()
    }

    /// Ends the offset. Returns the previous one.
    pub fn clear_time_offset(&self) -> u64 {
        self.settings.clear_time_offset()
    }

    /// Whether mining is on: submitted transactions may be mined at once, and block templates follow the head.
    pub fn is_automining(&self) -> bool {
        self.settings.is_automining()
    }

    /// Switches mining on or off.
    pub fn set_automine(&self, is_on: bool) {
        self.settings.set_automine(is_on);
    }
}

fn open_archive(config: &ChainConfig) -> Result<Archive, ChainError> {
    let memory = Arc::new(MemoryNodes::default());
    let (genesis, mut trie) = rhizome_trie::genesis(&config.spec, memory)?;
    let identity = ChainIdentity { chain_id: config.spec.chain_id, genesis: genesis.hash() };
    let options = StoreOptions {
        cache_bytes: config.cache_bytes / 2,
        write_buffer_bytes: config.write_buffer_bytes,
        max_open_files: config.max_open_files,
        durability: if config.is_power_safe { Durability::Power } else { Durability::Process },
    };
    let store = Arc::new(match &config.data_dir {
        DataDir::Path(dir) => Store::open(dir, &identity, &options)?,
        DataDir::Temporary => Store::open_temporary(&identity, &options)?,
    });
    let archive = Archive::new(Arc::clone(&config.spec), store, config.cache_bytes / 2);
    if archive.store.head()?.is_none() {
        write_genesis(&archive.store, &genesis, &mut trie)?;
    }
    Ok(archive)
}

/// Returns the last blocks of the best chain up to a height, oldest first.
fn recent_blocks(archive: &Archive, top: u64) -> Result<Vec<Arc<BlockRecord>>, ChainError> {
    let numbers = top.saturating_sub(FEE_MARKET_BLOCKS - 1)..=top;
    numbers.filter_map(|number| archive.main_record(number).transpose()).collect()
}

fn write_genesis(store: &Store, genesis: &Block, trie: &mut Trie) -> Result<(), ChainError> {
    let empty = Trie::open(EMPTY_ROOT, Arc::clone(trie.source()));
    let flat = diff(&empty, trie)?;
    let nodes = trie.commit();
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
        encoded_receipts: &[],
        nodes,
        head_change: Some(HeadChange { enacted: &[(genesis.header.number, hash)], retracted: &[], flat: &flat }),
    })?;
    Ok(())
}
