//! The threads that execute what would hold up a worker.

use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;

/// Stack of a thread: frames of contracts nest 400 deep.
const STACK_BYTES: usize = 64 << 20;

/// What a job is told when its time has come.
pub(crate) enum Turn {
    /// Run.
    Now,
    /// There was no room in the queue.
    Refused,
}

/// Work for a thread.
pub(crate) type Job = Box<dyn FnOnce(Turn) + Send>;

/// So many threads with one bounded queue. Dropping it runs what is queued and waits for the threads.
pub(crate) struct Pool {
    queue: Option<SyncSender<Job>>,
    threads: Vec<JoinHandle<()>>,
}

impl Pool {
    /// Starts the threads, named after what they do. `waiting` jobs may queue up.
    pub(crate) fn start(name: &str, threads: usize, waiting: usize) -> std::io::Result<Self> {
        let (queue, jobs) = sync_channel(waiting);
        let jobs = Arc::new(Mutex::new(jobs));
        let threads = (0..threads)
            .map(|number| start_thread(format!("rhizome-{name}-{number}"), Arc::clone(&jobs)))
            .collect::<Result<_, _>>()?;
        Ok(Self { queue: Some(queue), threads })
    }

    /// Queues a job, or refuses it at once.
    pub(crate) fn submit(&self, job: Job) {
        let Some(queue) = &self.queue else { return job(Turn::Refused) };
        if let Err(TrySendError::Full(job) | TrySendError::Disconnected(job)) = queue.try_send(job) {
            job(Turn::Refused);
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.queue = None;
        for thread in self.threads.drain(..) {
            // Jobs catch their panics, so a thread only ends well.
            let _ = thread.join();
        }
    }
}

fn start_thread(name: String, jobs: Arc<Mutex<Receiver<Job>>>) -> std::io::Result<JoinHandle<()>> {
    std::thread::Builder::new().name(name).stack_size(STACK_BYTES).spawn(move || {
        loop {
            // The lock is given back before the job runs.
            let next = jobs.lock().recv();
            match next {
                Ok(job) => job(Turn::Now),
                Err(_closed) => return,
            }
        }
    })
}
