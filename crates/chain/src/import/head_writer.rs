//! The writer of the head, owned by the importer thread.

use std::sync::Arc;

use parking_lot::Mutex;
use rhizome_evm::AncestorBlock;
use rhizome_primitives::B256;
use rhizome_storage::{FlushedTrie, NodeVersions};
use rhizome_trie::Trie;

use crate::archive::record::total_difficulty;
use crate::error::{ChainError, ImportError};
use crate::head::{Head, fork_choice};
use crate::import::branch;
use crate::import::import_state::ImportState;
use crate::import::invalid_block::InvalidBlock;
use crate::import::invalid_blocks::InvalidBlocks;
use crate::import::outcome::{BlockOrigin, ImportOutcome};
use crate::import::pipeline::{BlockFate, ImportPipeline, PipelineUse};
use crate::import::prepared_block::PreparedBlock;
use crate::import::report::{BlockReport, BlockReporter};
use crate::import::rules::ImportFailure;
use crate::import::steps::{CheckedBlock, ExecutedBlock, ImportSteps, TrieUse};

/// Moves the head: imports blocks, and is passed to every command of the importer.
pub(crate) struct HeadWriter {
    pub(crate) steps: Arc<ImportSteps>,
    pub(crate) state: Arc<Mutex<ImportState>>,
    pub(crate) pipeline: ImportPipeline,
    pub(crate) invalid: Arc<InvalidBlocks>,
}

/// A block that failed in flight, with the failure.
pub(crate) type FailedBlock = (Arc<AncestorBlock>, ImportFailure);

/// Progress of a block before it is written.
enum Progress {
    Done(BlockReport),
    /// Executed as a child of the best block or of the last block in flight.
    Executed(Box<ExecutedBlock>),
}

impl HeadWriter {
    pub(crate) fn new(steps: Arc<ImportSteps>, state: Arc<Mutex<ImportState>>, invalid: Arc<InvalidBlocks>) -> Self {
        let pipeline = ImportPipeline::new(Arc::clone(&steps));
        Self { steps, state, pipeline, invalid }
    }

    /// Imports a block and waits until it is written.
    pub(crate) fn import(
        &mut self,
        prepared: PreparedBlock,
        origin: BlockOrigin,
    ) -> Result<ImportOutcome, ImportError> {
        let shared = Arc::clone(&self.state);
        let state = &mut *shared.lock();
        self.drain(state);
        let hash = prepared.hash;
        match self.advance(state, prepared, origin)? {
            Progress::Executed(executed) => self.write_child(state, hash, *executed),
            Progress::Done(BlockReport::Done(result)) => result,
            // Only sources of queued blocks claim a difficulty or are cancelled.
            Progress::Done(_) => Ok(ImportOutcome::NoParent),
        }
    }

    /// Imports a block from the queue and reports its result. `waiting`: number of jobs behind it. While there are any, the block is
    /// compared and written by other threads while the next one is executed.
    pub(crate) fn import_queued(
        &mut self,
        prepared: PreparedBlock,
        origin: BlockOrigin,
        reporter: BlockReporter,
        waiting: usize,
    ) {
        let shared = Arc::clone(&self.state);
        let state = &mut *shared.lock();
        if reporter.is_cancelled() {
            return reporter.report(BlockReport::Cancelled);
        }
        let hash = prepared.hash;
        let report = match self.advance(state, prepared, origin) {
            Ok(Progress::Executed(executed)) => return self.pass_on(state, hash, *executed, reporter, origin, waiting),
            Ok(Progress::Done(report)) => report,
            Err(error) => BlockReport::Done(Err(error)),
        };
        // A report may cancel the source, so the blocks before are written first. If one of them failed, the source has ended.
        self.drain(state);
        reporter.clone().report(if reporter.is_cancelled() { BlockReport::Cancelled } else { report });
    }

    fn pass_on(
        &mut self,
        state: &mut ImportState,
        hash: B256,
        executed: ExecutedBlock,
        reporter: BlockReporter,
        origin: BlockOrigin,
        waiting: usize,
    ) {
        if waiting == 0 && self.pipeline.is_empty() {
            let result = self.write_child(state, hash, executed);
            return reporter.report(BlockReport::Done(result));
        }
        let used = match waiting >= self.steps.config.grouped_from {
            true => PipelineUse::Grouped,
            false => PipelineUse::Child,
        };
        self.pipeline.set_prompt(origin == BlockOrigin::Peer);
        if let Err(error) = self.pipeline.push(state, executed, used, Some(reporter.clone())) {
            return reporter.report(BlockReport::Done(Err(error)));
        }
        while self.pipeline.is_full() {
            self.settle_oldest(state);
        }
        if self.pipeline.has_full_trie(state) {
            self.drain(state);
            if used == PipelineUse::Grouped && self.steps.archive.store.node_versions() == NodeVersions::Current {
                self.unshare_trie(state);
            }
            state.evict();
        }
    }

    /// Flushes the trie and makes readers load its nodes from the disk: an eviction would copy all nodes that stay and that readers
    /// share, which takes 110 MB.
    pub(crate) fn unshare_trie(&self, state: &mut ImportState) {
        let head = self.steps.publisher.head();
        let mut trie = state.take_trie();
        if !self.flush_trie(&mut trie, &head) {
            // A failure shows again at the next block.
            return drop(state.reopen(&head.record, &self.steps.archive));
        }
        state.put_trie(trie);
        let snapshot = self.steps.flushed_snapshot(&head.record);
        self.steps.publisher.publish_state(Arc::clone(&head.record), head.generation, snapshot);
    }

    /// Writes the nodes of the trie of the head that are not flushed. Returns false if that failed.
    fn flush_trie(&self, trie: &mut Trie, head: &Head) -> bool {
        let flushed = FlushedTrie { number: head.number(), hash: head.hash(), root: head.record.state_root };
        trie.root_hash() == flushed.root && self.steps.archive.store.flush_trie(trie.flush(), flushed).is_ok()
    }

    /// Reports that the source of a queued block has no block after all.
    pub(crate) fn skip(&mut self, reporter: BlockReporter) {
        self.settle();
        reporter.report(BlockReport::Cancelled);
    }

    /// Waits until the blocks in flight are written.
    pub(crate) fn settle(&mut self) {
        if !self.pipeline.is_empty() {
            let shared = Arc::clone(&self.state);
            self.drain(&mut shared.lock());
        }
    }

    /// Waits until the blocks in flight are written, and gives readers a snapshot of the trie of the last one: no other block follows
    /// at once.
    pub(crate) fn settle_and_share(&mut self) {
        self.settle();
        let head = self.steps.publisher.head();
        if head.snapshot().position().hash == head.hash() {
            return;
        }
        let state = self.state.lock();
        // After a failure the importer might not be at the head.
        if state.is_lent() || state.trie().root_hash() != head.record.state_root {
            return;
        }
        let snapshot = self.steps.new_snapshot(&head.record, state.trie());
        self.steps.publisher.publish_state(Arc::clone(&head.record), head.generation, snapshot);
    }

    /// Writes the blocks in flight, the history and the trie nodes that are not flushed: the next start need not apply the changes
    /// since then.
    pub(crate) fn close(&mut self) {
        self.settle();
        // After a failure the changes are applied at the start.
        drop(self.steps.archive.store.flush_history());
        let state = &mut *self.state.lock();
        if self.steps.archive.store.node_versions() == NodeVersions::All || state.trie().changed_keys() == 0 {
            return;
        }
        self.flush_trie(&mut state.take_trie(), &self.steps.publisher.head());
    }

    /// Returns to the state of the head after a defect.
    pub(crate) fn reopen(&mut self) {
        self.settle();
        self.steps.forget_snapshot();
        let head = self.steps.publisher.head();
        // A failure shows again at the next block.
        drop(self.state.lock().reopen(&head.record, &self.steps.archive));
    }

    /// Executes a block that is stored without execution, and its ancestors.
    pub(crate) fn execute_stored(&mut self, hash: B256) -> Result<(), ImportError> {
        let shared = Arc::clone(&self.state);
        let state = &mut *shared.lock();
        if self.steps.archive.known_record(&hash)?.is_executed() {
            return Ok(());
        }
        let block = self.steps.unexecuted(hash)?;
        match branch::execute(self, state, block, false) {
            Ok(()) => Ok(()),
            Err(ImportFailure::Error(error)) => Err(error),
            Err(ImportFailure::Invalid(invalid)) => {
                self.invalid.remember(hash, &invalid);
                Err(ChainError::InvalidStoredBlock { hash, reason: invalid.to_string() }.into())
            }
        }
    }

    /// Waits until the blocks in flight are written. Returns the first that failed.
    pub(crate) fn drain(&mut self, state: &mut ImportState) -> Option<FailedBlock> {
        let mut failed = None;
        self.pipeline.pass_waiting();
        while !self.pipeline.is_empty() {
            failed = failed.or(self.settle_oldest(state));
        }
        failed
    }

    /// Waits for the oldest block in flight and reports it. Returns it if it failed and has no source to report to.
    pub(crate) fn settle_oldest(&mut self, state: &mut ImportState) -> Option<FailedBlock> {
        let (block, fate) = self.pipeline.wait_oldest(state)?;
        if let BlockFate::Failed(failure) = &fate
            && let ImportFailure::Invalid(invalid) = &**failure
        {
            self.invalid.remember(block.block.hash, invalid);
        }
        match (block.reporter, fate) {
            (None, BlockFate::Failed(failure)) => return Some((block.block, *failure)),
            (None, _) => {}
            (Some(reporter), BlockFate::Written) => {
                reporter.report(BlockReport::Done(Ok(ImportOutcome::ImportedBest)));
            }
            (Some(reporter), BlockFate::Failed(failure)) => reporter.report(BlockReport::Done(outcome(*failure))),
            (Some(reporter), BlockFate::Dropped) if reporter.is_cancelled() => {
                reporter.report(BlockReport::Cancelled);
            }
            (Some(reporter), BlockFate::Dropped) => reporter.report(BlockReport::Done(Ok(ImportOutcome::NoParent))),
        }
        None
    }

    /// Takes a block as far as it can go before it is written.
    fn advance(
        &mut self,
        state: &mut ImportState,
        prepared: PreparedBlock,
        origin: BlockOrigin,
    ) -> Result<Progress, ImportError> {
        let done = |outcome| Ok(Progress::Done(BlockReport::Done(Ok(outcome))));
        let (hash, header) = (prepared.hash, &prepared.block.header);
        if let Some(verdict) = self.invalid.verdict(&hash) {
            return done(ImportOutcome::Invalid(verdict));
        }
        let parent_hash = header.parent();
        let follows_tip = parent_hash.is_some() && self.pipeline.tip().map(|tip| tip.hash) == parent_hash;
        if !follows_tip {
            self.drain(state);
        }
        if self.steps.archive.store.has_block(&hash).map_err(ChainError::from)? {
            let actual = self.steps.archive.known_ancestor(&hash)?.total_difficulty;
            return match prepared.claimed_total_difficulty {
                Some(claimed) if claimed != actual => Ok(Progress::Done(BlockReport::WrongTotalDifficulty { actual })),
                _ => done(ImportOutcome::Exists),
            };
        }
        let Some(parent_hash) = parent_hash else {
            return done(ImportOutcome::Invalid(InvalidBlock::ParentHash { length: header.parent_hash.len() }));
        };
        let Some(parent) = self.parent(&parent_hash)? else { return done(ImportOutcome::NoParent) };
        let total_difficulty = total_difficulty(parent.total_difficulty, &prepared.block);
        if prepared.claimed_total_difficulty.is_some_and(|claimed| claimed != total_difficulty) {
            return Ok(Progress::Done(BlockReport::WrongTotalDifficulty { actual: total_difficulty }));
        }
        if self.extends_head(&parent_hash) && total_difficulty > parent.total_difficulty {
            let executed = self.steps.check(prepared, &parent).and_then(|checked| {
                let reader = state.reader(self.pipeline.unwritten());
                self.steps.execute(checked, reader)
            });
            return match executed {
                Ok(executed) => Ok(Progress::Executed(Box::new(executed))),
                Err(failure) => {
                    self.drain(state);
                    // If the parent failed meanwhile, the failure says nothing about the block.
                    match self.extends_head(&parent_hash) {
                        true => done(self.outcome(hash, failure)?),
                        false => done(ImportOutcome::NoParent),
                    }
                }
            };
        }
        self.drain(state);
        let imported = self.steps.check(prepared, &parent).and_then(|checked| self.import_side(state, checked, origin));
        match imported {
            Ok(outcome) => done(outcome),
            Err(failure) => done(self.outcome(hash, failure)?),
        }
    }

    /// Imports a block that does not extend the best one. Its branch is executed when its difficulty can win. A branch below the
    /// oldest kept state stays without execution until then, and fails when it wins.
    fn import_side(
        &mut self,
        state: &mut ImportState,
        checked: CheckedBlock,
        origin: BlockOrigin,
    ) -> Result<ImportOutcome, ImportFailure> {
        let head = self.steps.publisher.head();
        let wins = fork_choice::replaces(checked.hash, &checked.block.header, checked.total_difficulty, &head.record);
        if !wins && (origin.defers_side_blocks() || branch::is_below_history(&self.steps.archive, &checked)?) {
            self.steps.write_unexecuted(checked)?;
            return Ok(ImportOutcome::ImportedNotBest);
        }
        branch::execute(self, state, checked, wins)?;
        Ok(if wins { ImportOutcome::ImportedBest } else { ImportOutcome::ImportedNotBest })
    }

    /// Compares and writes a child of the best block on this thread.
    fn write_child(
        &mut self,
        state: &mut ImportState,
        hash: B256,
        executed: ExecutedBlock,
    ) -> Result<ImportOutcome, ImportError> {
        let delta = Arc::clone(&executed.delta);
        let mut trie = state.take_trie();
        let written = self
            .steps
            .compare(executed, &mut trie, TrieUse::Published)
            .and_then(|verified| Ok(self.steps.write_child(verified)?));
        match written {
            Ok(()) => {
                state.advance(trie, &delta);
                if state.is_full(state.trie().created_nodes()) {
                    state.evict();
                }
                Ok(ImportOutcome::ImportedBest)
            }
            Err(failure) => {
                self.steps.forget_snapshot();
                let head = self.steps.publisher.head();
                state.reopen(&head.record, &self.steps.archive)?;
                self.outcome(hash, failure)
            }
        }
    }

    /// Returns the parent of a block: the last one in flight, or a stored one. A cache may still know a deleted block, so the
    /// database decides.
    fn parent(&self, hash: &B256) -> Result<Option<Arc<AncestorBlock>>, ChainError> {
        let archive = &self.steps.archive;
        match self.pipeline.tip() {
            Some(tip) => Ok(Some(Arc::clone(tip))),
            None if archive.store.has_block(hash)? => Ok(Some(archive.known_ancestor(hash)?)),
            None => Ok(None),
        }
    }

    fn extends_head(&self, parent: &B256) -> bool {
        !self.pipeline.is_empty() || self.steps.publisher.head().hash() == *parent
    }

    /// Turns a failure into an outcome, and remembers the block if it is invalid.
    fn outcome(&self, hash: B256, failure: ImportFailure) -> Result<ImportOutcome, ImportError> {
        if let ImportFailure::Invalid(invalid) = &failure {
            self.invalid.remember(hash, invalid);
        }
        outcome(failure)
    }
}

fn outcome(failure: ImportFailure) -> Result<ImportOutcome, ImportError> {
    match failure {
        ImportFailure::Invalid(invalid) => Ok(ImportOutcome::Invalid(invalid)),
        ImportFailure::Error(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use rhizome_primitives::ChainSpec;

    use super::*;
    use crate::import::block_group::MAX_BLOCKS;
    use crate::import::report::SourceControl;
    use crate::{Chain, ChainConfig, DataDir, ProvenBlocks};

    const NOW: u64 = 1_700_000_000;

    fn open() -> Arc<Chain> {
        let mut config = ChainConfig::new(Arc::new(ChainSpec::regtest()), DataDir::Temporary);
        config.proven_blocks = ProvenBlocks::Last(10);
        config.grouped_from = 1;
        Chain::open(config).unwrap()
    }

    /// Imports blocks behind which one more waits.
    fn import(chain: &Chain, blocks: Vec<PreparedBlock>) {
        let (report, reports) = channel();
        let reporter = BlockReporter { report, source: Arc::new(SourceControl::new(true)) };
        let import = move |writer: &mut HeadWriter| {
            for block in blocks {
                writer.import_queued(block, BlockOrigin::File, reporter.clone(), 1);
            }
            writer.settle();
        };
        chain.importer().run(import).unwrap();
        assert!(reports.iter().all(|report| matches!(report, BlockReport::Done(Ok(ImportOutcome::ImportedBest)))));
    }

    #[test]
    fn blocks_far_below_the_best_one_are_not_cached() {
        let source = open();
        let blocks: Vec<_> = (0..MAX_BLOCKS + 1).map(|_| source.mine(NOW).unwrap().block.clone()).collect();
        let chain = open();
        import(&chain, blocks.iter().cloned().map(PreparedBlock::new).collect());
        let is_cached = |number: usize| {
            let archive = &chain.importer().steps.archive;
            let before = archive.cache_reads();
            archive.known_record(&blocks[number - 1].hash()).unwrap();
            archive.receipts(&blocks[number - 1].hash()).unwrap();
            let after = archive.cache_reads();
            [after.0.hits > before.0.hits, after.1.hits > before.1.hits]
        };
        assert_eq!(is_cached(1), [false, false]);
        assert_eq!(is_cached(MAX_BLOCKS), [false, false]);
        assert_eq!(is_cached(MAX_BLOCKS + 1), [true, true]);
    }

    #[test]
    fn readers_get_the_last_state_when_no_block_follows() {
        let source = open();
        let blocks: Vec<_> = (0..3).map(|_| source.mine(NOW).unwrap().block.clone()).collect();
        let chain = open();
        let (report, _reports) = channel();
        let reporter = BlockReporter { report, source: Arc::new(SourceControl::new(true)) };
        let numbers = move |writer: &mut HeadWriter| {
            for block in blocks.iter().cloned().map(PreparedBlock::new) {
                writer.import_queued(block, BlockOrigin::File, reporter.clone(), 1);
                writer.settle();
            }
            let state_number = |writer: &HeadWriter| writer.steps.publisher.head().snapshot().position().number;
            let before = state_number(writer);
            writer.settle_and_share();
            [writer.steps.publisher.head().number(), before, state_number(writer)]
        };
        let [head, before, after] = chain.importer().run(numbers).unwrap();
        assert!(before < head && after == head, "state of {before}, then of {after}, head {head}");
        assert!(chain.head().snapshot().is_shared());
        assert_eq!(chain.state_trie(&chain.head().record).unwrap().root_hash(), chain.head().record.state_root);
    }

    #[test]
    fn a_trie_that_is_not_shared_is_on_the_disk() {
        let chain = open();
        let head = chain.mine(NOW).unwrap();
        let archive = &chain.importer().steps.archive;
        assert_ne!(archive.store.flushed_trie().unwrap().map(|flushed| flushed.hash), Some(head.hash));
        assert!(chain.head().snapshot().is_shared());
        let unshare = |writer: &mut HeadWriter| writer.unshare_trie(&mut writer.state.lock());
        chain.importer().run(unshare).unwrap();
        assert_eq!(archive.store.flushed_trie().unwrap().map(|flushed| flushed.hash), Some(head.hash));
        assert!(!chain.head().snapshot().is_shared());
        assert_eq!(chain.state_trie(&head).unwrap().root_hash(), head.state_root);
        let next = chain.mine(NOW).unwrap();
        assert_eq!(chain.state_trie(&next).unwrap().root_hash(), next.state_root);
    }
}
