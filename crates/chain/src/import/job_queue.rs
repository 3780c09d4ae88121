//! Jobs that wait for the importer. Commands pass queued blocks, so that a source of many blocks does not delay mining.

use std::collections::VecDeque;
use std::sync::mpsc::Receiver;

use parking_lot::{Condvar, Mutex};

use crate::error::ChainError;
use crate::import::head_writer::HeadWriter;
use crate::import::outcome::BlockOrigin;
use crate::import::prepared_block::PreparedBlock;
use crate::import::report::BlockReporter;

/// Commands that wait. A caller waits when the queue is full.
const MAX_COMMANDS: usize = 64;
/// Blocks that wait. More than a source has under way.
const MAX_BLOCKS: usize = 2048;

/// Command of the importer. Nothing else moves the head while it runs.
pub(crate) type ImportCommand = Box<dyn FnOnce(&mut HeadWriter) + Send>;

/// A block in the queue.
pub(crate) struct QueuedBlock {
    pub(crate) origin: BlockOrigin,
    /// Yields the block when it is prepared. `None` if the source has no block after all.
    pub(crate) prepared: Receiver<Option<PreparedBlock>>,
    pub(crate) reporter: BlockReporter,
}

/// Job of the importer.
pub(crate) enum ImportJob {
    Block(QueuedBlock),
    Command(ImportCommand),
}

/// The queue. Any number of senders, one receiver.
#[derive(Default)]
pub(crate) struct JobQueue {
    jobs: Mutex<WaitingJobs>,
    filled: Condvar,
    emptied: Condvar,
}

#[derive(Default)]
struct WaitingJobs {
    commands: VecDeque<ImportCommand>,
    blocks: VecDeque<QueuedBlock>,
    is_closed: bool,
}

impl JobQueue {
    /// Adds a command. Waits while too many wait.
    pub(crate) fn push_command(&self, command: ImportCommand) -> Result<(), ChainError> {
        self.push(|jobs| &mut jobs.commands, command, MAX_COMMANDS)
    }

    /// Adds a block. Waits while too many wait.
    pub(crate) fn push_block(&self, block: QueuedBlock) -> Result<(), ChainError> {
        self.push(|jobs| &mut jobs.blocks, block, MAX_BLOCKS)
    }

    fn push<T>(
        &self,
        of: impl Fn(&mut WaitingJobs) -> &mut VecDeque<T>,
        job: T,
        limit: usize,
    ) -> Result<(), ChainError> {
        let mut jobs = self.jobs.lock();
        while !jobs.is_closed && of(&mut jobs).len() >= limit {
            self.emptied.wait(&mut jobs);
        }
        if jobs.is_closed {
            return Err(ChainError::ImporterStopped);
        }
        of(&mut jobs).push_back(job);
        self.filled.notify_one();
        Ok(())
    }

    /// Takes the next job, commands first; `None` if no job waits.
    pub(crate) fn try_pop(&self) -> Option<ImportJob> {
        self.take(&mut self.jobs.lock())
    }

    /// Waits for the next job; `None` when the queue is closed and empty.
    pub(crate) fn pop(&self) -> Option<ImportJob> {
        let mut jobs = self.jobs.lock();
        loop {
            if let Some(job) = self.take(&mut jobs) {
                return Some(job);
            }
            if jobs.is_closed {
                return None;
            }
            self.filled.wait(&mut jobs);
        }
    }

    /// Takes the next command; `None` if no command waits.
    pub(crate) fn try_pop_command(&self) -> Option<ImportCommand> {
        let command = self.jobs.lock().commands.pop_front()?;
        self.emptied.notify_all();
        Some(command)
    }

    fn take(&self, jobs: &mut WaitingJobs) -> Option<ImportJob> {
        let command = jobs.commands.pop_front().map(ImportJob::Command);
        let job = command.or_else(|| jobs.blocks.pop_front().map(ImportJob::Block))?;
        self.emptied.notify_all();
        Some(job)
    }

    /// Returns the number of jobs that wait.
    pub(crate) fn len(&self) -> usize {
        let jobs = self.jobs.lock();
        jobs.commands.len() + jobs.blocks.len()
    }

    /// Refuses further jobs. Waiting jobs are still handed out.
    pub(crate) fn close(&self) {
        self.jobs.lock().is_closed = true;
        self.filled.notify_all();
        self.emptied.notify_all();
    }
}
