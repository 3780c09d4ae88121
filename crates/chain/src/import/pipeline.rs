//! Blocks on their way to the disk: the importer executes, a second thread computes the trie and compares, a third writes.
//!
//! A block can be executed before its parent is compared and written: the values that the parent changed come from its
//! execution. If a block turns out to be wrong, the blocks executed on top of it are dropped.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use parking_lot::Mutex;
use rhizome_evm::AncestorBlock;
use rhizome_storage::ChangeSet;
use rhizome_trie::{StateDelta, Trie};

use crate::error::{ChainError, ImportError};
use crate::import::import_state::ImportState;
use crate::import::report::BlockReporter;
use crate::import::rules::ImportFailure;
use crate::import::steps::{ExecutedBlock, ImportSteps, TrieUse, VerifiedBlock};

/// Executed blocks that wait for each thread: a slow block must not stop the other threads.
const WAITING: usize = 4;
/// Most executed blocks that are not written yet: one in each of the two threads, and the blocks that wait for them.
pub(crate) const MAX_IN_FLIGHT: usize = 2 * (1 + WAITING);

/// The executed blocks that are not written yet, and the threads that they pass through.
pub(crate) struct ImportPipeline {
    steps: Arc<ImportSteps>,
    /// Started with the first block.
    stages: Option<PipelineStages>,
    /// Oldest first.
    in_flight: VecDeque<InFlightBlock>,
}

/// A block that was executed and is not written yet.
pub(crate) struct InFlightBlock {
    pub(crate) block: Arc<AncestorBlock>,
    delta: Arc<StateDelta>,
    changes: Arc<ChangeSet>,
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

/// A block for the comparing thread.
struct PipelinedBlock {
    executed: ExecutedBlock,
    is_side: bool,
    reporter: Option<BlockReporter>,
}

/// A block for the writing thread.
struct ComparedBlock {
    verified: Result<VerifiedBlock, BlockFate>,
    is_side: bool,
    reporter: Option<BlockReporter>,
}

struct PipelineStages {
    /// Present until the threads are to end.
    blocks: Option<SyncSender<PipelinedBlock>>,
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
    /// Set by a failure: nothing more is written until no block is in flight.
    is_broken: AtomicBool,
}

impl PipelineState {
    fn is_broken(&self) -> bool {
        self.is_broken.load(Ordering::Acquire)
    }

    fn compare(&self, steps: &ImportSteps, block: PipelinedBlock) -> ComparedBlock {
        let PipelinedBlock { executed, is_side, reporter } = block;
        let used = if is_side { TrieUse::Checked } else { TrieUse::Passed };
        let mut slot = self.trie.lock();
        let verified = match slot.take().filter(|_| !self.is_broken()) {
            None => Err(BlockFate::Dropped),
            Some(mut trie) => match steps.compare(executed, &mut trie, used) {
                Ok(verified) => {
                    self.made.store(trie.created_nodes(), Ordering::Relaxed);
                    *slot = Some(trie);
                    Ok(verified)
                }
                Err(failure) => Err(BlockFate::Failed(Box::new(failure))),
            },
        };
        ComparedBlock { verified, is_side, reporter }
    }

    fn write(&self, steps: &ImportSteps, block: ComparedBlock) -> BlockFate {
        let is_cancelled = block.reporter.is_some_and(|reporter| reporter.is_cancelled());
        let fate = match block.verified {
            Err(fate) => fate,
            Ok(_) if is_cancelled || self.is_broken() => BlockFate::Dropped,
            Ok(verified) => {
                let written = if block.is_side { steps.write_side(verified) } else { steps.write_child(verified) };
                written.map_or_else(|error| BlockFate::Failed(Box::new(error.into())), |()| BlockFate::Written)
            }
        };
        if !matches!(fate, BlockFate::Written) {
            self.is_broken.store(true, Ordering::Release);
        }
        fate
    }
}

impl PipelineStages {
    fn spawn(steps: &Arc<ImportSteps>) -> Result<Self, std::io::Error> {
        let (blocks, to_compare) = sync_channel::<PipelinedBlock>(WAITING);
        let (compared, to_write) = sync_channel(WAITING);
        let (written, fates) = sync_channel(MAX_IN_FLIGHT);
        let shared = Arc::new(PipelineState::default());
        let (of_writing, writing_steps) = (Arc::clone(&shared), Arc::clone(steps));
        let write = move || {
            to_write.into_iter().all(|block| written.send(of_writing.write(&writing_steps, block)).is_ok());
        };
        let (of_comparing, comparing_steps) = (Arc::clone(&shared), Arc::clone(steps));
        let compare = move || {
            to_compare.into_iter().all(|block| compared.send(of_comparing.compare(&comparing_steps, block)).is_ok());
        };
        let writing = thread::Builder::new().name("import-write".into()).spawn(write)?;
        let comparing = thread::Builder::new().name("import-compare".into()).spawn(compare)?;
        Ok(Self { blocks: Some(blocks), fates, shared, threads: vec![comparing, writing] })
    }
}

impl Drop for PipelineStages {
    /// Waits for the threads: they hold the database open.
    fn drop(&mut self) {
        self.blocks = None;
        for thread in self.threads.drain(..) {
            // A panic was reported when the fate of a block was missing.
            drop(thread.join());
        }
    }
}

impl ImportPipeline {
    pub(crate) fn new(steps: Arc<ImportSteps>) -> Self {
        Self { steps, stages: None, in_flight: VecDeque::new() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.in_flight.is_empty()
    }

    /// Returns the last executed block, if it is not written yet.
    pub(crate) fn tip(&self) -> Option<&Arc<AncestorBlock>> {
        self.in_flight.back().map(|last| &last.block)
    }

    /// Returns the changes of the blocks in flight, oldest first.
    pub(crate) fn deltas(&self) -> impl Iterator<Item = Arc<StateDelta>> + '_ {
        self.in_flight.iter().map(|block| Arc::clone(&block.delta))
    }

    /// Whether the next block has to wait until a block is written.
    pub(crate) fn is_full(&self) -> bool {
        self.in_flight.len() >= MAX_IN_FLIGHT
    }

    /// Whether the memory for trie nodes is used up.
    pub(crate) fn has_full_trie(&self, state: &ImportState) -> bool {
        state.is_full(self.stages.as_ref().map_or(0, |stages| stages.shared.made.load(Ordering::Relaxed)))
    }

    /// Passes an executed block on to the threads. The block extends the last one in flight or, without any, that of `state`.
    pub(crate) fn push(
        &mut self,
        state: &mut ImportState,
        executed: ExecutedBlock,
        is_side: bool,
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
        let (delta, changes) = (Arc::clone(&executed.delta), Arc::clone(&executed.changes));
        state.advance_values(&delta);
        let block = self.steps.archive.push_unwritten(executed.as_ancestor());
        self.in_flight.push_back(InFlightBlock { block, delta, changes, reporter: reporter.clone() });
        if let Some(blocks) = &stages.blocks {
            // A thread that panicked is noticed when the fate of the block is missing.
            drop(blocks.send(PipelinedBlock { executed, is_side, reporter }));
        }
        Ok(())
    }

    /// Waits for the oldest block in flight. `None` without one. With the last one `state` gets its trie back, or is opened at
    /// the head again after a failure.
    pub(crate) fn wait_oldest(&mut self, state: &mut ImportState) -> Option<(InFlightBlock, BlockFate)> {
        let oldest = self.in_flight.pop_front()?;
        self.steps.archive.pop_unwritten();
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
