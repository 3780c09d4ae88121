//! Blocks in a row: prepared ahead, executed in order, and each hashed and written while the next ones are executed.
//!
//! A block can be executed before its parent has been compared with its header and written: the values that the parent
//! changed come from its execution. So one thread executes, one changes the trie and compares, and one writes. Where a
//! block turns out to be wrong, what was executed on top of it comes to nothing. What is not simply the next best block (a
//! block of another branch) waits until everything is on disk, and is imported as if it came alone.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, Scope};

use parking_lot::{Mutex, MutexGuard};
use rhizome_evm::AncestorBlock;
use rhizome_primitives::{Block, U256};
use rhizome_trie::{StateDelta, Trie};

use crate::archive::record::total_difficulty;
use crate::import::import_state::ImportState;
use crate::import::preparation::{BLOCKS_AHEAD, run_ahead};
use crate::import::prepared_block::PreparedBlock;
use crate::import::rules::ImportFailure;
use crate::import::{ExecutedBlock, VerifiedBlock};
use crate::{Chain, ChainError, ImportError, ImportOutcome};

/// Executed blocks that wait for each of the threads, so that none stands still because one block takes another longer.
const WAITING: usize = 4;
/// Executed blocks that are not written yet: one in the hands of each of the two threads, and those that wait for it.
const MOST_BEHIND: usize = 2 * (1 + WAITING);

/// Goes on, or stops, with what is to be said about it.
pub(crate) type Flow<B> = ControlFlow<Option<B>>;

/// Hears what became of a block, with the caller's note about it.
type Done<'a, N, B> = Box<dyn FnMut(N, Result<ImportOutcome, ImportError>) -> Flow<B> + 'a>;

/// Takes one block after another.
pub(crate) struct ImportPipeline<'a, N, B> {
    chain: &'a Chain,
    writer: MutexGuard<'a, ImportState>,
    done: Done<'a, N, B>,
    /// None when no threads are to be had.
    stages: Option<Stages>,
    /// The blocks in the hands of the threads, oldest first.
    behind: VecDeque<Behind<N>>,
}

struct Behind<N> {
    note: N,
    block: Arc<AncestorBlock>,
    delta: Arc<StateDelta>,
}

/// What became of a block that was executed.
enum BlockFate {
    Written,
    Failed(Box<ImportFailure>),
    /// A block below it failed, or nobody wants more.
    Dropped,
}

impl BlockFate {
    fn failed(failure: ImportFailure) -> Self {
        Self::Failed(Box::new(failure))
    }
}

/// The threads behind execution.
struct Stages {
    blocks: SyncSender<ExecutedBlock>,
    fates: Receiver<BlockFate>,
    shared: Arc<PipelineState>,
}

#[derive(Default)]
struct PipelineState {
    /// The state after the last block that was compared; none after one that failed. The row keeps it while nothing is
    /// under way.
    trie: Mutex<Option<Trie>>,
    /// Nodes that it has made.
    made: AtomicUsize,
    /// Nothing is to be written any more.
    is_broken: AtomicBool,
}

impl PipelineState {
    fn is_broken(&self) -> bool {
        self.is_broken.load(Ordering::Acquire)
    }

    fn check(&self, chain: &Chain, block: ExecutedBlock) -> Result<VerifiedBlock, BlockFate> {
        let mut place = self.trie.lock();
        let Some(mut trie) = place.take().filter(|_| !self.is_broken()) else { return Err(BlockFate::Dropped) };
        let checked = chain.check(block, &mut trie).map_err(BlockFate::failed)?;
        self.made.store(trie.created_nodes(), Ordering::Relaxed);
        *place = Some(trie);
        Ok(checked)
    }

    fn write(&self, chain: &Chain, block: Result<VerifiedBlock, BlockFate>) -> BlockFate {
        match block {
            Err(fate) => fate,
            Ok(_) if self.is_broken() => BlockFate::Dropped,
            Ok(block) => match chain.store_child(block) {
                Ok(()) => BlockFate::Written,
                Err(error) => {
                    self.is_broken.store(true, Ordering::Release);
                    BlockFate::failed(error.into())
                }
            },
        }
    }
}

impl Stages {
    fn spawn<'scope>(scope: &'scope Scope<'scope, '_>, chain: &'scope Chain) -> Option<Self> {
        let (blocks, to_check) = sync_channel::<ExecutedBlock>(WAITING);
        let (checked, to_write) = sync_channel(WAITING);
        let (written, fates) = sync_channel(MOST_BEHIND);
        let shared = Arc::new(PipelineState::default());
        let of_writing = Arc::clone(&shared);
        let write = move || to_write.into_iter().all(|block| written.send(of_writing.write(chain, block)).is_ok());
        let of_checking = Arc::clone(&shared);
        let check = move || to_check.into_iter().all(|block| checked.send(of_checking.check(chain, block)).is_ok());
        thread::Builder::new().name("write-behind".into()).spawn_scoped(scope, write).ok()?;
        thread::Builder::new().name("check-behind".into()).spawn_scoped(scope, check).ok()?;
        Some(Self { blocks, fates, shared })
    }
}

impl Chain {
    /// Prepares items on all cores, gives them to `take` in order, which puts their blocks into the row, and tells `done`
    /// about each block when it is on disk or refused. Nobody else writes meanwhile. Returns why it stopped; blocks that
    /// were on their way to the disk at that moment are told, too.
    pub(crate) fn import_in_a_row<T: Send, P: Send, N, B>(
        &self,
        items: impl Iterator<Item = T>,
        prepare: impl Fn(T) -> P + Sync,
        mut take: impl FnMut(&mut ImportPipeline<'_, N, B>, P) -> Flow<B>,
        done: impl FnMut(N, Result<ImportOutcome, ImportError>) -> Flow<B>,
    ) -> Option<B> {
        thread::scope(|scope| {
            let (writer, behind) = (self.writer.lock(), VecDeque::new());
            let mut row = ImportPipeline {
                chain: self,
                writer,
                done: Box::new(done),
                stages: Stages::spawn(scope, self),
                behind,
            };
            let stopped = run_ahead(items, BLOCKS_AHEAD, prepare, |prepared| take(&mut row, prepared));
            let stopped = stopped.or_else(|| row.finish().break_value());
            row.writer.trim();
            stopped.flatten()
        })
    }
}

impl<N, B> ImportPipeline<'_, N, B> {
    /// Imports a block. What came before it is executed afterwards, and perhaps not yet written.
    pub(crate) fn import(&mut self, note: N, prepared: PreparedBlock) -> Flow<B> {
        self.hear_some()?;
        let parent = prepared.block.header.parent();
        match self.execute(prepared) {
            Ok(executed) => self.pass_on(note, executed),
            Err(NoChild::Refused(failure)) => {
                self.finish()?;
                // It says nothing about the block when the parent came to nothing.
                let is_founded = parent == Some(self.chain.head().hash());
                (self.done)(note, if is_founded { outcome(*failure) } else { Ok(ImportOutcome::NoParent) })
            }
            Err(NoChild::Alone(prepared)) => {
                self.finish()?;
                let outcome = self.chain.import_with(&mut self.writer, *prepared);
                (self.done)(note, outcome)
            }
        }
    }

    /// Lets `done` hear of something in its turn that is not to be imported, as if the block were known.
    pub(crate) fn skip(&mut self, note: N) -> Flow<B> {
        self.finish()?;
        (self.done)(note, Ok(ImportOutcome::Exists))
    }

    /// Total difficulty that a block will have; none while its parent is not known.
    pub(crate) fn expected_total_difficulty(&self, block: &Block) -> Result<Option<U256>, ChainError> {
        match self.behind.back() {
            Some(last) if block.header.parent() == Some(last.block.hash) => {
                Ok(Some(total_difficulty(last.block.total_difficulty, block)))
            }
            _ => self.chain.expected_total_difficulty(block),
        }
    }

    /// Waits for the blocks that are behind, and takes the state back.
    fn finish(&mut self) -> Flow<B> {
        while !self.behind.is_empty() {
            self.hear_next()?;
        }
        self.take_back();
        Flow::Continue(())
    }

    fn take_back(&mut self) {
        let Some(Stages { shared, .. }) = &self.stages else { return };
        if let Some(trie) = shared.trie.lock().take() {
            shared.made.store(0, Ordering::Relaxed);
            self.writer.put_trie(trie);
        }
    }

    /// Tells what is done, and makes room for another block. Deleted accounts must be on disk before somebody reads.
    fn hear_some(&mut self) -> Flow<B> {
        if self.behind.back().is_some_and(|last| !last.delta.wiped.is_empty()) {
            return self.finish();
        }
        while self.behind.len() >= MOST_BEHIND {
            self.hear_next()?;
        }
        Flow::Continue(())
    }

    /// Waits for the oldest block that is behind.
    fn hear_next(&mut self) -> Flow<B> {
        let Some((note, fate)) = self.next_fate() else { return Flow::Break(None) };
        let flow = match fate {
            BlockFate::Written => (self.done)(note, Ok(ImportOutcome::ImportedBest)),
            BlockFate::Failed(failure) => (self.done)(note, outcome(*failure)),
            BlockFate::Dropped => (self.done)(note, Ok(ImportOutcome::NoParent)),
        };
        if flow.is_break() {
            self.give_up();
        }
        flow
    }

    /// The oldest block that is behind. None when there is none, or when its thread panicked: the scope passes that on.
    fn next_fate(&mut self) -> Option<(N, BlockFate)> {
        let Behind { note, block, .. } = self.behind.pop_front()?;
        self.chain.archive.pop_unwritten();
        let stages = self.stages.as_ref()?;
        let fate = stages.fates.recv().ok()?;
        if matches!(fate, BlockFate::Written) {
            self.chain.archive.remember_ancestor(&block);
        }
        if self.behind.is_empty() {
            let mut trie = stages.shared.trie.lock();
            if stages.shared.is_broken.swap(false, Ordering::AcqRel) || trie.is_none() {
                *trie = None;
                self.writer.reopen(self.chain.head().record.state_root);
                self.chain.archive.forget_all();
            }
        }
        Some((note, fate))
    }

    /// Stops the threads. What they had already written is told.
    fn give_up(&mut self) {
        if let Some(stages) = self.stages.as_ref().filter(|_| !self.behind.is_empty()) {
            stages.shared.is_broken.store(true, Ordering::Release);
        }
        while let Some((note, fate)) = self.next_fate() {
            if matches!(fate, BlockFate::Written) {
                let _ = (self.done)(note, Ok(ImportOutcome::ImportedBest));
            }
        }
        self.take_back();
    }

    /// Executes the next best block on a parent that may be on its way to the disk.
    fn execute(&self, prepared: PreparedBlock) -> Result<ExecutedBlock, NoChild> {
        let chain = self.chain;
        let parent = match self.behind.back() {
            Some(last) => Arc::clone(&last.block),
            None => chain.archive.known_ancestor(&chain.head().record.hash)?,
        };
        let block = &prepared.block;
        let is_best_child = block.header.parent() == Some(parent.hash)
            && total_difficulty(parent.total_difficulty, block) > parent.total_difficulty;
        if self.stages.is_none() || !is_best_child || chain.is_stored(&prepared.hash)? {
            return Err(NoChild::Alone(Box::new(prepared)));
        }
        let state = self.writer.state(self.behind.iter().map(|behind| Arc::clone(&behind.delta)));
        Ok(chain.execute(prepared, &parent, state)?)
    }

    /// Hands an executed block to the threads.
    fn pass_on(&mut self, note: N, executed: ExecutedBlock) -> Flow<B> {
        let Some(stages) = &self.stages else { return Flow::Break(None) };
        if self.behind.is_empty() {
            stages.shared.trie.lock().get_or_insert_with(|| self.writer.take_trie());
        }
        let delta = Arc::clone(&executed.delta);
        self.writer.advance_values(&delta);
        let block = self.chain.archive.push_unwritten(executed.as_ancestor());
        if stages.blocks.send(executed).is_err() {
            return Flow::Break(None);
        }
        self.behind.push_back(Behind { note, block, delta });
        if self.writer.is_full(stages.shared.made.load(Ordering::Relaxed)) {
            self.finish()?;
            self.writer.trim();
        }
        Flow::Continue(())
    }
}

fn outcome(failure: ImportFailure) -> Result<ImportOutcome, ImportError> {
    match failure {
        ImportFailure::Invalid(invalid) => Ok(ImportOutcome::Invalid(invalid)),
        ImportFailure::Error(error) => Err(error),
    }
}

/// Why a block is not handed to the threads.
enum NoChild {
    /// It has to be imported alone.
    Alone(Box<PreparedBlock>),
    Refused(Box<ImportFailure>),
}

impl<E: Into<ImportFailure>> From<E> for NoChild {
    fn from(failure: E) -> Self {
        Self::Refused(Box::new(failure.into()))
    }
}
