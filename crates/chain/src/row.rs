//! Blocks in a row: prepared ahead, executed in order, and each written while the next one is executed.
//!
//! A block can be executed before its parent is on disk: the parent's trie is in memory, and the values that the parent
//! changed come from its execution. So one thread executes and another one writes, a block behind. What is not simply
//! the next best block (a block of another branch, one whose parent deleted accounts) waits until everything is on disk,
//! and is imported as if it came alone.

use std::mem;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, Scope};

use parking_lot::MutexGuard;
use rhizome_primitives::{Block, U256};
use rhizome_trie::StateDelta;

use crate::import::{Verified, VerifiedBlock};
use crate::pipeline::{BLOCKS_AHEAD, run_ahead};
use crate::prepare::PreparedBlock;
use crate::verify::Failure;
use crate::writer::Writer;
use crate::{BlockRecord, Chain, ChainError, ImportError, ImportOutcome, fork_choice};

/// Goes on, or stops, with what is to be said about it.
pub(crate) type Flow<B> = ControlFlow<Option<B>>;

/// Hears what became of a block, with the caller's note about it.
type Done<'a, N, B> = Box<dyn FnMut(N, Result<ImportOutcome, ImportError>) -> Flow<B> + 'a>;

/// Takes one block after another.
pub(crate) struct Row<'a, N, B> {
    chain: &'a Chain,
    writer: MutexGuard<'a, Writer>,
    done: Done<'a, N, B>,
    /// None when no thread is to be had.
    thread: Option<WritingThread>,
    /// The block that the thread is writing.
    behind: Option<Behind<N>>,
}

struct Behind<N> {
    note: N,
    record: Arc<BlockRecord>,
    delta: Arc<StateDelta>,
}

struct WritingThread {
    blocks: SyncSender<(VerifiedBlock, Arc<StateDelta>)>,
    results: Receiver<Result<(), ImportError>>,
}

impl WritingThread {
    fn spawn<'scope>(scope: &'scope Scope<'scope, '_>, chain: &'scope Chain) -> Option<Self> {
        let (blocks, to_write) = sync_channel::<(VerifiedBlock, Arc<StateDelta>)>(1);
        let (written, results) = sync_channel(1);
        let write = move || {
            for (block, delta) in to_write {
                if written.send(chain.store_child(block, &delta)).is_err() {
                    break;
                }
            }
        };
        thread::Builder::new().name("write-behind".into()).spawn_scoped(scope, write).ok()?;
        Some(Self { blocks, results })
    }
}

impl Chain {
    /// Prepares items on all cores, gives them to `take` in order, which puts their blocks into the row, and tells `done`
    /// about each block when it is on disk or refused. Nobody else writes meanwhile. Returns why it stopped.
    pub(crate) fn import_in_a_row<T: Send, P: Send, N, B>(
        &self,
        items: impl Iterator<Item = T>,
        prepare: impl Fn(T) -> P + Sync,
        mut take: impl FnMut(&mut Row<'_, N, B>, P) -> Flow<B>,
        done: impl FnMut(N, Result<ImportOutcome, ImportError>) -> Flow<B>,
    ) -> Option<B> {
        thread::scope(|scope| {
            let thread = WritingThread::spawn(scope, self);
            let mut row = Row { chain: self, writer: self.writer.lock(), done: Box::new(done), thread, behind: None };
            let stopped = run_ahead(items, BLOCKS_AHEAD, prepare, |prepared| take(&mut row, prepared));
            let stopped = stopped.or_else(|| row.finish().break_value());
            row.writer.trim();
            stopped.flatten()
        })
    }
}

impl<N, B> Row<'_, N, B> {
    /// Imports a block. What came before it is done afterwards, it itself perhaps not yet.
    pub(crate) fn import(&mut self, note: N, prepared: PreparedBlock) -> Flow<B> {
        let verified = self.verify_child(prepared);
        self.finish()?;
        match verified {
            Ok(verified) => self.write(note, verified),
            Err(NoChild::Refused(failure)) => match *failure {
                Failure::Invalid(invalid) => (self.done)(note, Ok(ImportOutcome::Invalid(invalid))),
                Failure::Error(error) => (self.done)(note, Err(error)),
            },
            Err(NoChild::Alone(prepared)) => {
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

    /// Waits for the block that is being written.
    pub(crate) fn finish(&mut self) -> Flow<B> {
        let (Some(behind), Some(thread)) = (self.behind.take(), &self.thread) else { return Flow::Continue(()) };
        // A missing answer means that the thread panicked; the scope passes the panic on.
        let Ok(written) = thread.results.recv() else { return Flow::Break(None) };
        if written.is_err() {
            self.writer.reopen(self.chain.head().record.state_root);
            self.chain.archive.forget_all();
        }
        (self.done)(behind.note, written.map(|()| ImportOutcome::ImportedBest))
    }

    /// Total difficulty that a block will have; none while its parent is not known.
    pub(crate) fn expected_total_difficulty(&self, block: &Block) -> Result<Option<U256>, ChainError> {
        match &self.behind {
            Some(behind) if block.header.parent() == Some(behind.record.hash) => {
                Ok(Some(self.chain.archive.total_difficulty(&behind.record, block)))
            }
            _ => self.chain.expected_total_difficulty(block),
        }
    }

    /// Executes the next best block, on a parent that may be on its way to the disk.
    fn verify_child(&mut self, prepared: PreparedBlock) -> Result<Verified, NoChild> {
        let parent = match &self.behind {
            Some(behind) => Arc::clone(&behind.record),
            None => Arc::clone(&self.chain.head().record),
        };
        let delta = self.behind.as_ref().map(|behind| Arc::clone(&behind.delta));
        let has_deleted = delta.as_ref().is_some_and(|delta| !delta.wiped.is_empty());
        let is_child = prepared.block.header.parent() == Some(parent.hash);
        if self.thread.is_none() || has_deleted || !is_child || self.chain.is_stored(&prepared.hash)? {
            return Err(NoChild::Alone(Box::new(prepared)));
        }
        let state = self.writer.state(delta);
        let writer = &mut self.writer;
        Ok(self.chain.verify(prepared, &parent, state, || writer.take_trie())?)
    }

    /// Begins to write a block whose parent is on disk.
    fn write(&mut self, note: N, verified: Verified) -> Flow<B> {
        let is_best = fork_choice::replaces(&verified.block.record, &self.chain.head().record);
        let Some(thread) = self.thread.as_ref().filter(|_| is_best) else {
            let outcome = self.chain.store_verified(&mut self.writer, verified);
            return (self.done)(note, outcome);
        };
        let Verified { mut block, trie } = verified;
        let delta = Arc::new(mem::take(&mut block.outcome.delta));
        let record = Arc::clone(&block.record);
        self.writer.advance(trie, &delta);
        // The rules of the next block look for it by its hash.
        self.chain.archive.remember_ancestor(&record);
        if thread.blocks.send((block, Arc::clone(&delta))).is_err() {
            return Flow::Break(None);
        }
        self.behind = Some(Behind { note, record, delta });
        if self.writer.is_full() {
            self.finish()?;
            self.writer.trim();
        }
        Flow::Continue(())
    }
}

/// Why a block is not written behind.
enum NoChild {
    /// It has to be imported alone.
    Alone(Box<PreparedBlock>),
    Refused(Box<Failure>),
}

impl<E: Into<Failure>> From<E> for NoChild {
    fn from(failure: E) -> Self {
        Self::Refused(Box::new(failure.into()))
    }
}
