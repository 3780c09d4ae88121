//! The importer thread: it owns everything that moves the head, and takes blocks and commands from one queue.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, channel, sync_channel};
use std::thread::{self, JoinHandle};

use parking_lot::Mutex;

use crate::error::{ChainError, ImportError};
use crate::import::head_writer::HeadWriter;
use crate::import::import_state::ImportState;
use crate::import::invalid_blocks::InvalidBlocks;
use crate::import::outcome::{BlockOrigin, ImportOutcome};
use crate::import::prepared_block::PreparedBlock;
use crate::import::report::{BlockReport, BlockReporter, SourceControl};
use crate::import::steps::ImportSteps;

/// Jobs that wait in the queue. A source of blocks waits when it is full.
const QUEUE_LENGTH: usize = 64;

/// Handle of the importer thread. Jobs run one at a time, in order. Must not be used from a job or a listener: both run on
/// the thread itself.
pub(crate) struct Importer {
    /// Present until the thread is to end.
    queue: Option<SyncSender<ImportJob>>,
    waiting: Arc<AtomicUsize>,
    thread: Option<JoinHandle<()>>,
    pub(crate) steps: Arc<ImportSteps>,
    pub(crate) invalid: Arc<InvalidBlocks>,
    /// Locked by the thread while it works, not while it waits.
    pub(crate) state: Arc<Mutex<ImportState>>,
}

enum ImportJob {
    Block(QueuedBlock),
    Command(Box<dyn FnOnce(&mut HeadWriter) + Send>),
}

/// A block in the queue.
struct QueuedBlock {
    origin: BlockOrigin,
    /// Yields the block when it is prepared. `None` if the source has no block after all.
    prepared: Receiver<Option<PreparedBlock>>,
    reporter: BlockReporter,
}

impl Importer {
    /// Starts the thread.
    pub(crate) fn start(steps: Arc<ImportSteps>, state: ImportState) -> Result<Self, ChainError> {
        let (queue, jobs) = sync_channel(QUEUE_LENGTH);
        let (state, invalid) = (Arc::new(Mutex::new(state)), Arc::new(InvalidBlocks::default()));
        let waiting = Arc::new(AtomicUsize::new(0));
        let writer = HeadWriter::new(Arc::clone(&steps), Arc::clone(&state), Arc::clone(&invalid));
        let jobs = JobQueue { jobs, waiting: Arc::clone(&waiting) };
        let thread = thread::Builder::new().name("importer".into()).spawn(move || run(writer, &jobs));
        let thread = Some(thread.map_err(|source| ChainError::Thread { source })?);
        Ok(Self { queue: Some(queue), waiting, thread, steps, invalid, state })
    }

    /// Runs a command on the thread and returns its result. No block is in flight meanwhile and nothing else moves the head.
    pub(crate) fn run<R: Send + 'static>(
        &self,
        command: impl FnOnce(&mut HeadWriter) -> R + Send + 'static,
    ) -> Result<R, ChainError> {
        let (result, received) = sync_channel(1);
        // The caller waits for the result.
        self.push(ImportJob::Command(Box::new(move |writer| drop(result.send(command(writer))))))?;
        received.recv().map_err(|_stopped| ChainError::ImporterStopped)
    }

    /// Imports a block.
    pub(crate) fn import(&self, block: PreparedBlock, origin: BlockOrigin) -> Result<ImportOutcome, ImportError> {
        self.run(move |writer| writer.import(block, origin))?
    }

    /// Queues a block that is being prepared. Returns where its result arrives.
    pub(crate) fn queue(
        &self,
        prepared: Receiver<Option<PreparedBlock>>,
        origin: BlockOrigin,
        source: &Arc<SourceControl>,
    ) -> Result<Receiver<BlockReport>, ChainError> {
        let (report, received) = channel();
        let reporter = BlockReporter { report, source: Arc::clone(source) };
        self.push(ImportJob::Block(QueuedBlock { origin, prepared, reporter }))?;
        Ok(received)
    }

    fn push(&self, job: ImportJob) -> Result<(), ChainError> {
        self.waiting.fetch_add(1, Ordering::AcqRel);
        let queue = self.queue.as_ref().ok_or(ChainError::ImporterStopped)?;
        queue.send(job).map_err(|_stopped| ChainError::ImporterStopped)
    }
}

impl Drop for Importer {
    /// Waits until the thread has ended: it holds the database open.
    fn drop(&mut self) {
        self.queue = None;
        let Some(thread) = self.thread.take() else { return };
        // The last handle may be dropped by a job.
        if thread.thread().id() != thread::current().id() {
            drop(thread.join());
        }
    }
}

struct JobQueue {
    jobs: Receiver<ImportJob>,
    waiting: Arc<AtomicUsize>,
}

impl JobQueue {
    /// Returns the next job. Before it waits, the blocks in flight are written. `None` when the chain is closed.
    fn next(&self, writer: &mut HeadWriter) -> Option<ImportJob> {
        let job = match self.jobs.try_recv() {
            Ok(job) => Some(job),
            Err(TryRecvError::Disconnected) => None,
            Err(TryRecvError::Empty) => {
                writer.settle();
                self.jobs.recv().ok()
            }
        }?;
        self.waiting.fetch_sub(1, Ordering::AcqRel);
        Some(job)
    }

    fn has_more(&self) -> bool {
        self.waiting.load(Ordering::Acquire) > 0
    }
}

fn run(mut writer: HeadWriter, jobs: &JobQueue) {
    while let Some(job) = jobs.next(&mut writer) {
        // A panic is a defect: it is printed, and its caller gets an error because the result is missing.
        let done = catch_unwind(AssertUnwindSafe(|| match job {
            ImportJob::Command(command) => {
                writer.settle();
                command(&mut writer);
            }
            ImportJob::Block(QueuedBlock { origin, prepared, reporter }) => match prepared.recv() {
                Ok(Some(block)) => writer.import_queued(block, origin, reporter, jobs.has_more()),
                Ok(None) | Err(_) => writer.skip(reporter),
            },
        }));
        if done.is_err() {
            writer.reopen();
        }
    }
    writer.close();
}
