//! The importer thread: it owns everything that moves the head, and takes blocks and commands from one queue.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use parking_lot::Mutex;

use crate::error::{ChainError, ImportError};
use crate::import::head_writer::HeadWriter;
use crate::import::import_state::ImportState;
use crate::import::invalid_blocks::InvalidBlocks;
use crate::import::job_queue::{ImportCommand, ImportJob, JobQueue, QueuedBlock};
use crate::import::outcome::{BlockOrigin, ImportOutcome};
use crate::import::prepared_block::PreparedBlock;
use crate::import::priority::lower_priority;
use crate::import::report::{BlockReport, BlockReporter, SourceControl};
use crate::import::steps::ImportSteps;

/// Time between two looks for commands while the next block is being prepared.
const COMMAND_PERIOD: Duration = Duration::from_millis(5);

/// Handle of the importer thread. Jobs run one at a time: blocks in order, commands before the blocks that wait. Must not be used
/// from a job or a listener: both run on the thread itself.
pub(crate) struct Importer {
    jobs: Arc<JobQueue>,
    thread: Option<JoinHandle<()>>,
    pub(crate) steps: Arc<ImportSteps>,
    pub(crate) invalid: Arc<InvalidBlocks>,
    /// Locked by the thread while it works, not while it waits.
    pub(crate) state: Arc<Mutex<ImportState>>,
}

impl Importer {
    /// Starts the thread.
    pub(crate) fn start(steps: Arc<ImportSteps>, state: ImportState) -> Result<Self, ChainError> {
        let (state, invalid) = (Arc::new(Mutex::new(state)), Arc::new(InvalidBlocks::default()));
        let jobs = Arc::new(JobQueue::default());
        let writer = HeadWriter::new(Arc::clone(&steps), Arc::clone(&state), Arc::clone(&invalid));
        let queue = Arc::clone(&jobs);
        let thread = thread::Builder::new().name("importer".into()).spawn(move || run(writer, &queue));
        let thread = Some(thread.map_err(|source| ChainError::Thread { source })?);
        Ok(Self { jobs, thread, steps, invalid, state })
    }

    /// Runs a command on the thread and returns its result. No block is in flight meanwhile and nothing else moves the head.
    pub(crate) fn run<R: Send + 'static>(
        &self,
        command: impl FnOnce(&mut HeadWriter) -> R + Send + 'static,
    ) -> Result<R, ChainError> {
        let (result, received) = sync_channel(1);
        // The caller waits for the result.
        self.jobs.push_command(Box::new(move |writer| drop(result.send(command(writer)))))?;
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
        self.jobs.push_block(QueuedBlock { origin, prepared, reporter })?;
        Ok(received)
    }

    /// Whether the caller runs on the thread of the importer.
    pub(crate) fn is_this_thread(&self) -> bool {
        self.thread.as_ref().is_some_and(|thread| thread.thread().id() == thread::current().id())
    }
}

impl Drop for Importer {
    /// Waits until the thread has ended: it holds the database open.
    fn drop(&mut self) {
        self.jobs.close();
        // The last handle may be dropped by a job.
        if !self.is_this_thread()
            && let Some(thread) = self.thread.take()
        {
            drop(thread.join());
        }
    }
}

fn run(mut writer: HeadWriter, jobs: &JobQueue) {
    // The threads of the pipeline inherit it.
    lower_priority();
    while let Some(job) = next_job(jobs, &mut writer) {
        match job {
            ImportJob::Command(command) => run_command(&mut writer, command),
            ImportJob::Block(block) => import(&mut writer, block, jobs),
        }
    }
    writer.close();
}

/// Returns the next job. Before it waits, the blocks in flight are written and readers get their state. `None` when the chain is closed.
fn next_job(jobs: &JobQueue, writer: &mut HeadWriter) -> Option<ImportJob> {
    jobs.try_pop().or_else(|| {
        guarded(writer, HeadWriter::settle_and_share);
        jobs.pop()
    })
}

fn run_command(writer: &mut HeadWriter, command: ImportCommand) {
    guarded(writer, |writer| {
        writer.settle();
        command(writer);
    });
}

fn import(writer: &mut HeadWriter, block: QueuedBlock, jobs: &JobQueue) {
    let QueuedBlock { origin, prepared, reporter } = block;
    // Commands do not wait for the preparation of a block.
    let block = loop {
        match prepared.recv_timeout(COMMAND_PERIOD) {
            Ok(block) => break block,
            Err(RecvTimeoutError::Disconnected) => break None,
            Err(RecvTimeoutError::Timeout) => {
                if let Some(command) = jobs.try_pop_command() {
                    run_command(writer, command);
                }
            }
        }
    };
    guarded(writer, |writer| match block {
        Some(block) => writer.import_queued(block, origin, reporter, jobs.len()),
        None => writer.skip(reporter),
    });
}

/// Runs a job. A panic is a defect: it is printed, and its caller gets an error because the result is missing.
fn guarded(writer: &mut HeadWriter, job: impl FnOnce(&mut HeadWriter)) {
    if catch_unwind(AssertUnwindSafe(|| job(writer))).is_err() {
        writer.reopen();
    }
}
