//! Blocks on their way to the disk: the importer executes, a second thread computes the trie and compares, a third writes.
//!
//! A block can be executed before its parent is compared and written: the values that the parent changed come from its
//! execution. If a block turns out to be wrong, the blocks executed on top of it are dropped. While many blocks wait, blocks are
//! compared and written in groups (`block_group.rs`).

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use std::{iter, mem};

use parking_lot::Mutex;
use rhizome_evm::AncestorBlock;
use rhizome_storage::ChangeSet;
use rhizome_trie::Trie;

use crate::error::{ChainError, ImportError};
use crate::import::block_group::{self, GroupSize};
use crate::import::import_state::ImportState;
use crate::import::pace::{self, PipelinePace, PipelineThread};
use crate::import::report::BlockReporter;
use crate::import::rules::ImportFailure;
use crate::import::steps::{ExecutedBlock, ImportSteps, TrieUse, VerifiedBlock};
use crate::import::unwritten_changes::UnwrittenChanges;

/// Groups that wait for each thread: a slow group must not stop the other threads. With 4 an import of single blocks took a tenth longer.
const WAITING_GROUPS: usize = 16;
/// Work at which no further group joins a batch, which bounds its memory.
const MAX_JOINED_WORK: usize = 32_768;
/// Most changed keys of waiting groups whose trie nodes are read at once. A block with more of them has enough reads without others.
const MAX_READ_AHEAD: usize = 512;
/// Most groups that are not written yet: one in each of the two threads, and the groups that wait for them.
const MAX_GROUPS: usize = 2 * (1 + WAITING_GROUPS);
/// Most blocks that are not written yet, besides those of the group that is being filled.
pub(crate) const MAX_IN_FLIGHT: usize = 2 * block_group::MAX_BLOCKS;

/// Full groups whose changed keys may be in flight: a group in each thread, and a group that waits for each. A changed key takes some
/// 400 bytes until it is written.
const GROUPS_IN_FLIGHT: usize = 4;

/// Time that blocks of peers in flight may still take. A mined or announced block waits for them.
const MAX_WAIT: Duration = Duration::from_millis(24);
/// Time that one group of them may take. The threads work on some groups at the same time.
const MAX_GROUP_WAIT: Duration = Duration::from_millis(6);

/// The executed blocks that are not written yet, and the threads that they pass through.
pub(crate) struct ImportPipeline {
    steps: Arc<ImportSteps>,
    /// Started with the first block.
    stages: Option<PipelineStages>,
    /// Oldest first.
    in_flight: VecDeque<InFlightBlock>,
    /// Changes of the blocks in flight.
    unwritten: Arc<UnwrittenChanges>,
    /// The last blocks in flight: the group that is being filled.
    open: OpenGroup,
    /// Number of blocks in flight of each group that was passed on, oldest first.
    passed: VecDeque<usize>,
    /// Work for the blocks in flight.
    work: usize,
    /// Whether the blocks in flight are bounded by the time that they still take.
    is_prompt: bool,
}

/// Executed blocks that are passed on together.
#[derive(Default)]
struct OpenGroup {
    blocks: Vec<PipelinedBlock>,
    size: GroupSize,
}

/// How a block is written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum PipelineUse {
    /// Beside the best chain.
    Side,
    /// As the next block of the best chain, as soon as possible.
    Child,
    /// As the next block of the best chain, together with those behind it. It is far below the best header, so it is not cached.
    Grouped,
}

/// A block that was executed and is not written yet.
pub(crate) struct InFlightBlock {
    pub(crate) block: Arc<AncestorBlock>,
    changes: Arc<ChangeSet>,
    work: usize,
    /// `None` for an ancestor that is executed for a later block.
    pub(crate) reporter: Option<BlockReporter>,
}

/// End of an executed block.
pub(crate) enum BlockFate {
    Written,
    Failed(Box<ImportFailure>),
    /// A block below it failed, or its source was cancelled.
    Dropped,
}

/// An executed block.
struct PipelinedBlock {
    executed: ExecutedBlock,
    reporter: Option<BlockReporter>,
}

/// Blocks for the comparing thread.
struct PassedGroup {
    blocks: Vec<PipelinedBlock>,
    work: usize,
    used: PipelineUse,
}

/// Blocks for the writing thread.
struct WritableGroup {
    verified: Vec<VerifiedBlock>,
    /// Number of the first blocks that are not cached for readers: those far behind the head.
    uncached: usize,
    work: usize,
    is_side: bool,
    /// Those of all blocks of the group.
    reporters: Vec<Option<BlockReporter>>,
    /// Fate of the first block that is not among `verified`. The blocks behind it are dropped.
    fate: BlockFate,
}

impl WritableGroup {
    /// Drops the blocks if the source of one of them was cancelled.
    fn drop_cancelled(&mut self) {
        if self.reporters.iter().flatten().any(BlockReporter::is_cancelled) {
            self.verified.clear();
            self.fate = BlockFate::Dropped;
        }
    }

    /// Appends the group behind this one, so that both are written in one batch. Returns it if that is not possible or too much.
    fn join(&mut self, next: WritableGroup) -> Option<WritableGroup> {
        let is_whole = self.verified.len() == self.reporters.len();
        if !is_whole || self.is_side || next.is_side || self.work >= MAX_JOINED_WORK {
            return Some(next);
        }
        if next.uncached > 0 {
            self.uncached = self.verified.len() + next.uncached;
        }
        self.verified.extend(next.verified);
        self.reporters.extend(next.reporters);
        self.work += next.work;
        self.fate = next.fate;
        None
    }
}

/// Returns the next groups to write, joined: far behind the head, a key that several blocks change is written once.
fn joined_groups(compared: Receiver<WritableGroup>) -> impl Iterator<Item = WritableGroup> {
    let mut refused = None;
    iter::from_fn(move || {
        let mut group: WritableGroup = refused.take().or_else(|| compared.recv().ok())?;
        group.drop_cancelled();
        while refused.is_none()
            && let Ok(mut next) = compared.try_recv()
        {
            next.drop_cancelled();
            refused = group.join(next);
        }
        Some(group)
    })
}

struct PipelineStages {
    /// Present until the threads are to end.
    groups: Option<SyncSender<PassedGroup>>,
    fates: Receiver<BlockFate>,
    shared: Arc<PipelineState>,
    threads: Vec<JoinHandle<()>>,
}

#[derive(Default)]
struct PipelineState {
    /// The state after the last compared block. `None` after a failure and while no block is in flight.
    trie: Mutex<Option<Trie>>,
    /// Number of nodes that the trie has made.
    made: AtomicUsize,
    pace: PipelinePace,
    /// Set by a failure: nothing more is written until no block is in flight.
    is_broken: AtomicBool,
}

impl PipelineState {
    fn is_broken(&self) -> bool {
        self.is_broken.load(Ordering::Acquire)
    }

    /// Reads the trie nodes that groups of few changes need from the disk at once.
    fn read_ahead<'g>(&self, groups: impl Iterator<Item = &'g PassedGroup>) {
        let (mut groups_read, mut count) = (0, 0);
        let mut keys: BTreeMap<&[u8], &ChangeSet> = BTreeMap::new();
        for group in groups {
            let blocks = || group.blocks.iter().map(|block| &block.executed);
            count += blocks().map(|block| block.delta.writes.len()).sum::<usize>();
            if count > MAX_READ_AHEAD {
                break;
            }
            groups_read += 1;
            for ExecutedBlock { delta, changes, .. } in blocks() {
                for key in delta.writes.keys() {
                    // The first block that changes a key has the value before all.
                    keys.entry(key).or_insert(changes);
                }
            }
        }
        if groups_read < 2 {
            return;
        }
        let Some(trie) = &mut *self.trie.lock() else { return };
        let before = |key: &[u8]| keys.get(key)?.known_before(key);
        // A failure shows again when the block changes the trie.
        drop(trie.read_ahead(keys.keys().copied(), &before));
    }

    fn compare(&self, steps: &ImportSteps, group: PassedGroup) -> WritableGroup {
        let PassedGroup { blocks, work, used } = group;
        let is_side = used == PipelineUse::Side;
        let start = Instant::now();
        let (blocks, reporters): (Vec<_>, Vec<_>) =
            blocks.into_iter().map(|block| (block.executed, block.reporter)).unzip();
        let mut slot = self.trie.lock();
        let Some(mut trie) = slot.take().filter(|_| !self.is_broken()) else {
            return WritableGroup {
                verified: Vec::new(),
                uncached: 0,
                work,
                is_side,
                reporters,
                fate: BlockFate::Dropped,
            };
        };
        let (verified, failure) = compare_blocks(steps, blocks, is_side, &mut trie);
        let fate = match failure {
            None => {
                self.made.store(trie.created_nodes(), Ordering::Relaxed);
                *slot = Some(trie);
                BlockFate::Dropped
            }
            Some(failure) => BlockFate::Failed(Box::new(failure)),
        };
        self.pace.record(PipelineThread::Compare, work, start.elapsed());
        let uncached = if used == PipelineUse::Grouped { verified.len() } else { 0 };
        WritableGroup { verified, uncached, work, is_side, reporters, fate }
    }

    /// Writes the valid blocks of a group. Returns the fate of each block of the group.
    fn write(&self, steps: &ImportSteps, group: WritableGroup) -> Vec<BlockFate> {
        let WritableGroup { mut verified, uncached, work, is_side, reporters, mut fate } = group;
        let start = Instant::now();
        let mut fates = Vec::with_capacity(reporters.len());
        if self.is_broken() {
            (verified, fate) = (Vec::new(), BlockFate::Dropped);
        }
        let count = verified.len();
        let written = match is_side {
            true => verified.into_iter().try_for_each(|block| steps.write_side(block)),
            false => steps.write_children(verified, uncached),
        };
        match written {
            Ok(()) => {
                self.pace.record(PipelineThread::Write, work, start.elapsed());
                fates.extend(iter::repeat_with(|| BlockFate::Written).take(count));
            }
            Err(error) => fate = BlockFate::Failed(Box::new(error.into())),
        }
        if fates.len() < reporters.len() {
            self.is_broken.store(true, Ordering::Release);
            fates.push(fate);
        }
        fates.resize_with(reporters.len(), || BlockFate::Dropped);
        fates
    }
}

/// Compares the blocks of a group. Returns the valid ones, and the failure of the block behind them.
fn compare_blocks(
    steps: &ImportSteps,
    mut blocks: Vec<ExecutedBlock>,
    is_side: bool,
    trie: &mut Trie,
) -> (Vec<VerifiedBlock>, Option<ImportFailure>) {
    match blocks.pop() {
        // A single block may be a block that cannot be in a group.
        Some(only) if blocks.is_empty() => {
            let used = if is_side { TrieUse::Checked } else { TrieUse::Passed };
            match steps.compare(only, trie, used) {
                Ok(verified) => (vec![verified], None),
                Err(failure) => (Vec::new(), Some(failure)),
            }
        }
        last => {
            blocks.extend(last);
            let group = block_group::compare(steps, blocks, trie);
            (group.verified, group.failure)
        }
    }
}

impl PipelineStages {
    fn spawn(steps: &Arc<ImportSteps>) -> Result<Self, std::io::Error> {
        let (groups, to_compare) = sync_channel::<PassedGroup>(WAITING_GROUPS);
        let (compared, to_write) = sync_channel(WAITING_GROUPS);
        let (written, fates) = sync_channel(MAX_GROUPS * block_group::MAX_BLOCKS);
        let shared = Arc::new(PipelineState::default());
        let (of_writing, writing_steps) = (Arc::clone(&shared), Arc::clone(steps));
        let write = move || {
            joined_groups(to_write).all(|group| {
                let fates = of_writing.write(&writing_steps, group);
                fates.into_iter().all(|fate| written.send(fate).is_ok())
            });
        };
        let (of_comparing, comparing_steps) = (Arc::clone(&shared), Arc::clone(steps));
        let compare = move || {
            let mut waiting = VecDeque::new();
            while let Some(group) = waiting.pop_front().or_else(|| to_compare.recv().ok()) {
                if waiting.is_empty() {
                    waiting.extend(to_compare.try_iter());
                    of_comparing.read_ahead(iter::once(&group).chain(&waiting));
                }
                if compared.send(of_comparing.compare(&comparing_steps, group)).is_err() {
                    break;
                }
            }
        };
        let writing = thread::Builder::new().name("import-write".into()).spawn(write)?;
        let comparing = thread::Builder::new().name("import-compare".into()).spawn(compare)?;
        Ok(Self { groups: Some(groups), fates, shared, threads: vec![comparing, writing] })
    }
}

impl Drop for PipelineStages {
    /// Waits for the threads: they hold the database open.
    fn drop(&mut self) {
        self.groups = None;
        for thread in self.threads.drain(..) {
            // A panic was reported when the fate of a block was missing.
            drop(thread.join());
        }
    }
}

impl ImportPipeline {
    pub(crate) fn new(steps: Arc<ImportSteps>) -> Self {
        Self {
            steps,
            stages: None,
            in_flight: VecDeque::new(),
            unwritten: Arc::default(),
            open: OpenGroup::default(),
            passed: VecDeque::new(),
            work: 0,
            is_prompt: false,
        }
    }

    /// Bounds the blocks in flight by the time that they still take, or lets groups be as large as their memory allows.
    pub(crate) fn set_prompt(&mut self, is_prompt: bool) {
        self.is_prompt = is_prompt;
    }

    /// Returns the time that work takes.
    fn time(&self, work: usize) -> Duration {
        self.stages.as_ref().map_or(Duration::ZERO, |stages| stages.shared.pace.time(work))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.in_flight.is_empty()
    }

    /// Returns the last executed block, if it is not written yet.
    pub(crate) fn tip(&self) -> Option<&Arc<AncestorBlock>> {
        self.in_flight.back().map(|last| &last.block)
    }

    /// Returns the changes of the blocks in flight.
    pub(crate) fn unwritten(&self) -> Arc<UnwrittenChanges> {
        Arc::clone(&self.unwritten)
    }

    /// Whether the next block has to wait until a block is written.
    pub(crate) fn is_full(&self) -> bool {
        let is_late = self.is_prompt && self.in_flight.len() > 1 && self.time(self.work) >= MAX_WAIT;
        let is_large = self.in_flight.len() > 1 && self.work >= GROUPS_IN_FLIGHT * self.steps.config.group_keys();
        let is_long = self.in_flight.len() >= MAX_IN_FLIGHT + self.open.size.blocks;
        is_late || is_large || is_long || self.passed.len() >= MAX_GROUPS
    }

    /// Whether the memory for trie nodes is used up.
    pub(crate) fn has_full_trie(&self, state: &ImportState) -> bool {
        state.is_full(self.stages.as_ref().map_or(0, |stages| stages.shared.made.load(Ordering::Relaxed)))
    }

    /// Passes an executed block on to the threads, or adds it to the group that is passed on later. The block extends the last one
    /// in flight or, without any, that of `state`.
    pub(crate) fn push(
        &mut self,
        state: &mut ImportState,
        executed: ExecutedBlock,
        used: PipelineUse,
        reporter: Option<BlockReporter>,
    ) -> Result<(), ImportError> {
        let stages = match &mut self.stages {
            Some(stages) => stages,
            stages @ None => {
                let spawned = PipelineStages::spawn(&self.steps);
                stages.insert(spawned.map_err(|source| ChainError::Thread { source })?)
            }
        };
        if self.in_flight.is_empty() {
            *stages.shared.trie.lock() = Some(state.take_trie());
        }
        state.advance_values(&executed.delta, &executed.changes);
        Arc::make_mut(&mut self.unwritten).push(Arc::clone(&executed.delta));
        let block = self.steps.archive.push_unwritten(executed.as_ancestor());
        let changes = Arc::clone(&executed.changes);
        let work = pace::work(1, executed.delta.writes.len());
        self.work += work;
        self.in_flight.push_back(InFlightBlock { block, changes, work, reporter: reporter.clone() });
        let is_groupable = block_group::is_groupable(&self.steps, &executed);
        if !is_groupable || used == PipelineUse::Side {
            self.pass_waiting();
        }
        self.open.size.add(&executed);
        self.open.blocks.push(PipelinedBlock { executed, reporter });
        let is_late = self.is_prompt && self.time(self.open.size.work()) >= MAX_GROUP_WAIT;
        if used != PipelineUse::Grouped
            || !is_groupable
            || self.open.size.is_full(self.steps.config.group_keys())
            || is_late
        {
            self.pass_group(used);
        }
        Ok(())
    }

    /// Passes the blocks that wait for a full group on.
    pub(crate) fn pass_waiting(&mut self) {
        self.pass_group(PipelineUse::Child);
    }

    fn pass_group(&mut self, used: PipelineUse) {
        let OpenGroup { blocks, size } = mem::take(&mut self.open);
        if blocks.is_empty() {
            return;
        }
        self.passed.push_back(size.blocks);
        if let Some(groups) = self.stages.as_ref().and_then(|stages| stages.groups.as_ref()) {
            // A thread that panicked is noticed when the fate of a block is missing.
            drop(groups.send(PassedGroup { blocks, work: size.work(), used }));
        }
    }

    /// Waits for the oldest block in flight. `None` without one. With the last one `state` gets its trie back, or is opened at
    /// the head again after a failure.
    pub(crate) fn wait_oldest(&mut self, state: &mut ImportState) -> Option<(InFlightBlock, BlockFate)> {
        if self.passed.is_empty() {
            self.pass_waiting();
        }
        let oldest = self.in_flight.pop_front()?;
        self.work = self.work.saturating_sub(oldest.work);
        if let Some(blocks) = self.passed.front_mut() {
            *blocks = blocks.saturating_sub(1);
            if *blocks == 0 {
                self.passed.pop_front();
            }
        }
        self.steps.archive.pop_unwritten();
        Arc::make_mut(&mut self.unwritten).pop();
        let received = self.stages.as_ref().and_then(|stages| stages.fates.recv().ok());
        let fate = received.unwrap_or_else(|| BlockFate::Failed(Box::new(ChainError::ImporterStopped.into())));
        if matches!(fate, BlockFate::Written) {
            self.steps.archive.remember_ancestor(&oldest.block);
            state.extend_branch(&oldest.changes);
        }
        if self.in_flight.is_empty() {
            self.take_back(state);
        }
        Some((oldest, fate))
    }

    fn take_back(&mut self, state: &mut ImportState) {
        let Some(stages) = &self.stages else { return };
        let trie = stages.shared.trie.lock().take();
        stages.shared.made.store(0, Ordering::Relaxed);
        let is_broken = stages.shared.is_broken.swap(false, Ordering::AcqRel);
        match trie {
            Some(trie) if !is_broken => state.put_trie(trie),
            _ => {
                self.steps.forget_snapshot();
                let head = self.steps.publisher.head();
                // A failure shows again at the next block.
                drop(state.reopen(&head.record, &self.steps.archive));
                self.steps.archive.forget_all();
                if stages.threads.iter().any(JoinHandle::is_finished) {
                    self.stages = None;
                }
            }
        }
    }
}
