//! Calls that write to the chain: imports, development commands, mining and settings.

use std::io::{BufRead, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use rhizome_evm::State;
use rhizome_pow::MiningSolution;
use rhizome_primitives::{Address, B256, Block, Transaction, U256};
use rhizome_storage::DirectoryBlocks;
use rhizome_trie::StateError;

use super::Chain;
use crate::archive::record::BlockRecord;
use crate::config::StateHistory;
use crate::error::{ChainError, ImportError};
use crate::events::{ChainEvent, TransactionOrigin};
use crate::import::block_file::{self, BlockFileError, ExportError, ImportedLine};
use crate::import::block_source::{self, BlockSource, SourceImportError};
use crate::import::block_stream::{self, StreamedBlock};
use crate::import::numbered_block::{self, NumberedBlock};
use crate::import::outcome::{BlockOrigin, ImportOutcome};
use crate::import::prepared_block::PreparedBlock;
use crate::import::{peer_blocks, rewind, state_change};
use crate::mining::block_builder::skipped::WaitReasons;
use crate::mining::block_builder::{BuildError, PendingBlock};
use crate::mining::block_templates::BlockTemplate;
use crate::mining::replaced_branch::ReplacedBranch;
use crate::mining::skipped_transaction::SkippedTransaction;
use crate::mining::submission::{SubmissionError, SubmittedBlock};
use crate::mining::{BlockTime, MineError, MinedBlock, SubmittedTransaction};
use crate::pruning::{self, PruneProgress};
use crate::state_snapshots;
use crate::txpool::{AdmittedTransaction, PoolRejection};
use crate::verification::{ChainVerifier, Verification, VerificationError, VerificationScope, VerifiedPart};

impl Chain {
    /// Validates, executes and stores a block, and makes it the best block if it is.
    pub fn import_block(&self, block: Block) -> Result<ImportOutcome, ImportError> {
        self.import_prepared(PreparedBlock::new(block))
    }

    /// [`Chain::import_block`] for a prepared block.
    pub fn import_prepared(&self, prepared: PreparedBlock) -> Result<ImportOutcome, ImportError> {
        self.importer.import(prepared, BlockOrigin::Caller)
    }

    /// Imports a block that another node sent. A block that cannot become the best block is stored without execution.
    pub fn import_from_peer(&self, prepared: PreparedBlock) -> Result<ImportOutcome, ImportError> {
        self.importer.import(prepared, BlockOrigin::Peer)
    }

    /// Imports blocks that other nodes sent, in order. `blocks` yields `None` while no block has arrived. `on_block` gets each result
    /// with the note of the block and may end the import. Nothing is imported behind a block that is not. An error ends the
    /// import; the blocks before it stay imported.
    pub fn import_from_peers<N: Send + 'static>(
        &self,
        blocks: impl Iterator<Item = Option<(N, PreparedBlock)>>,
        on_block: impl FnMut(N, ImportOutcome) -> ControlFlow<()>,
    ) -> Result<(), ImportError> {
        peer_blocks::import(&self.importer, blocks, on_block)
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

    /// Imports blocks of an archive in order. `on_block` gets each result and may end the import. Returns the number of blocks that
    /// are on disk. The line of an error is the position of its block, from 1.
    pub fn import_numbered(
        &self,
        blocks: impl Iterator<Item = NumberedBlock>,
        on_block: impl FnMut(&ImportedLine) -> ControlFlow<()>,
    ) -> Result<u64, BlockFileError> {
        numbered_block::import(&self.importer, blocks, on_block)
    }

    /// Imports the blocks above the last common block of the chain and a source. `on_block` gets each result and may end the
    /// import. Returns the number of blocks that are on disk. After a stop or a kill another import continues.
    pub fn import_source<S: BlockSource>(
        &self,
        source: &S,
        on_block: impl FnMut(&ImportedLine) -> ControlFlow<()>,
    ) -> Result<u64, SourceImportError<S::Error>> {
        block_source::import(&self.importer, source, on_block)
    }

    /// Opens the blocks of another data directory of the same network, of this or an earlier layout, for reading.
    pub fn open_blocks(&self, dir: &Path) -> Result<DirectoryBlocks, ChainError> {
        Ok(DirectoryBlocks::open(dir, self.archive.store.identity())?)
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

    /// Executes the blocks of the scope again and compares them with everything stored about them; if the scope has the state, then
    /// compares the flat state of the head with its trie. Writes nothing. `on_part` gets each verified part and may end the
    /// verification. No block must be imported meanwhile.
    pub fn verify(
        &self,
        scope: VerificationScope,
        on_part: impl FnMut(VerifiedPart<'_>) -> ControlFlow<()>,
    ) -> Result<Verification, VerificationError> {
        ChainVerifier::new(&self.importer.steps).verify(scope, on_part)
    }

    /// Makes the block of the best chain at `height` the head, deletes all blocks above it, on the best chain and off it, and
    /// empties the pool. A height above the head only deletes the blocks above that height.
    pub fn rewind(&self, height: u64) -> Result<(), ChainError> {
        self.importer.run(move |writer| rewind::rewind(writer, height))?
    }

    /// Gives up the states that are older than a history asks for, and frees their space. `on_progress` may end the work; the
    /// next call continues there. With [`StateHistory::Archive`] all states stay, and only replaced rows disappear. Also removes the
    /// snapshots if the settings do not ask for any.
    pub fn prune(
        &self,
        history: StateHistory,
        on_progress: impl FnMut(PruneProgress) -> ControlFlow<()>,
    ) -> Result<(), ChainError> {
        if self.config.snapshots.is_none() {
            state_snapshots::remove_all(self.archive.store.dir())?;
        }
        pruning::prune_now(&self.importer, self.config.kept_states(history), on_progress)
    }

    /// Changes the state after the best block. Only for development networks: the caller has to check.
    pub fn change_state(
        &self,
        change: impl FnOnce(&mut State) -> Result<(), StateError> + Send + 'static,
    ) -> Result<(), ChainError> {
        self.importer.run(move |writer| state_change::change_state(writer, change))?
    }

    /// Takes a snapshot of the head. Returns its id: 1, 2, and so on.
    pub fn snapshot(&self) -> Result<u64, ChainError> {
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

    /// Goes back to the genesis, or the block that the fork begins at, and its original state, and removes all snapshots and settings for later blocks.
    pub fn reset(&self) -> Result<(), ChainError> {
        let snapshots = Arc::clone(&self.snapshots);
        self.importer.run(move |writer| snapshots.reset(writer))?
    }

    /// Deletes the highest `depth` blocks, the snapshots of them, and the transactions of the pool. Returns false, and nothing
    /// happens, if there are fewer blocks above the lowest one.
    pub fn roll_back(&self, depth: u64) -> Result<bool, ChainError> {
        let snapshots = Arc::clone(&self.snapshots);
        self.importer.run(move |writer| {
            let Some(height) = snapshots.height_below(depth) else { return Ok(false) };
            snapshots.roll_back(writer, height)?;
            Ok(true)
        })?
    }

    /// [`Chain::roll_back`], and mines as many other blocks. `submit` adds the transactions of a new block, by its position, to
    /// the pool. An error ends the command and puts the deleted blocks back. Nothing else moves the head in between.
    pub fn reorganize<E: From<MineError> + From<ChainError> + Send + 'static>(
        self: &Arc<Self>,
        depth: u64,
        now: u64,
        mut submit: impl FnMut(&Self, u64) -> Result<(), E> + Send + 'static,
    ) -> Result<bool, E> {
        let chain = Arc::clone(self);
        self.importer.run(move |writer| {
            let Some(height) = chain.snapshots.height_below(depth) else { return Ok(false) };
            let replaced = ReplacedBranch::read(writer, height)?;
            let (snapshots, time) = (chain.snapshots.save(), chain.settings.save_time());
            let _provisional = chain.publisher.begin_provisional();
            let lowest = chain.snapshots.roll_back(writer, height)?;
            // The first block differs from the one before, and with it all later ones.
            let later = BlockTime::NotBefore(lowest.saturating_add(1));
            let mined = (0..depth).try_for_each(|position| -> Result<(), E> {
                submit(&chain, position)?;
                chain.miner.mine_with(writer, now, if position == 0 { later } else { BlockTime::Clock })?;
                Ok(())
            });
            if mined.is_err() {
                replaced.put_back(writer)?;
                chain.snapshots.restore(snapshots);
                chain.settings.restore_time(time);
            }
            mined.map(|()| true)
        })?
    }

    /// Adds a transaction to the pool. Fails with the rule that it breaks.
    pub fn submit(&self, transaction: Transaction) -> Result<SubmittedTransaction, PoolRejection> {
        Ok(self.submitted(self.pool().add(transaction)?, TransactionOrigin::Caller))
    }

    /// [`Chain::submit`] for a transaction that a peer sent. `connection` is the key of its connection.
    pub fn submit_from_peer(
        &self,
        transaction: Transaction,
        connection: usize,
    ) -> Result<SubmittedTransaction, PoolRejection> {
        Ok(self.submitted(self.pool().add(transaction)?, TransactionOrigin::Peer(connection)))
    }

    /// [`Chain::submit`] for a transaction that another node of the fleet took.
    pub fn submit_from_fleet(&self, transaction: Transaction) -> Result<SubmittedTransaction, PoolRejection> {
        Ok(self.submitted(self.pool().add(transaction)?, TransactionOrigin::Fleet))
    }

    /// Adds the transaction that `sign` makes of the next nonce of an account to the pool ([`TransactionPool::add_next`]).
    pub fn submit_next<E: From<PoolRejection>>(
        &self,
        sender: &Address,
        sign: impl FnMut(u64) -> Result<Transaction, E>,
    ) -> Result<SubmittedTransaction, E> {
        Ok(self.submitted(self.pool().add_next(sender, sign)?, TransactionOrigin::Caller))
    }

    fn submitted(&self, admitted: AdmittedTransaction, origin: TransactionOrigin) -> SubmittedTransaction {
        let listeners = self.publisher.listeners();
        listeners.emit(&ChainEvent::TransactionAdmitted { hash: admitted.hash, origin });
        for hash in admitted.now_pending {
            listeners.emit(&ChainEvent::PendingTransaction { hash, origin });
        }
        SubmittedTransaction { hash: admitted.hash, sender: admitted.sender, is_pending: admitted.is_pending }
    }

    /// Submits a transaction and mines a block for it. Nothing else moves the head in between, so the next submission gets another
    /// block. While the gas of a block goes to transactions before it, further blocks are mined, at most `most_blocks` in all. If no
    /// block can be mined, the transaction leaves the pool. Returns the last block.
    pub fn submit_and_mine<E: From<MineError> + From<ChainError> + Send + 'static>(
        self: &Arc<Self>,
        now: u64,
        most_blocks: usize,
        submit: impl FnOnce(&Self) -> Result<SubmittedTransaction, E> + Send + 'static,
    ) -> Result<(SubmittedTransaction, MinedBlock), E> {
        let chain = Arc::clone(self);
        self.importer.run(move |writer| {
            let submitted = submit(&chain)?;
            let mut mined = chain.miner.mine_with(writer, now, BlockTime::Clock).inspect_err(|_| {
                // The caller gets an error for the transaction, so it must not be mined later.
                chain.pool().remove(&[submitted.hash]);
            })?;
            for _ in 1..most_blocks {
                if !chain.fits_into_next_block(&submitted, &mined) {
                    break;
                }
                mined = chain.miner.mine_with(writer, now, BlockTime::Clock)?;
            }
            Ok((submitted, mined))
        })?
    }

    /// Whether a transaction waits only because other transactions took the gas of a block.
    fn fits_into_next_block(&self, submitted: &SubmittedTransaction, mined: &MinedBlock) -> bool {
        let block = &mined.record.block;
        let took_others = (0..block.transactions.len()).any(|index| !block.is_remasc(index));
        let Some(pooled) = self.pool().get(&submitted.hash).filter(|_| submitted.is_pending && took_others) else {
            return false;
        };
        let reason = WaitReasons::new(block, &mined.skipped).of(&submitted.hash, &submitted.sender, pooled.nonce);
        reason.is_some_and(|reason| reason.is_lack_of_room())
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
