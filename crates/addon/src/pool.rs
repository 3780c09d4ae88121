//! The threads that execute what would hold up a worker.

use parking_lot::Mutex;
use rhizome_answers::node_figures::LaneFigures;
use rhizome_evm::stand_back;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;

/// Stack of a thread: frames of contracts nest 400 deep.
const STACK_BYTES: usize = 64 << 20;

/// How much these threads stand back (`nice`) where the workers have too few processors beside them: a balance must not
/// wait for a log search. 5 leaves them a quarter of a processor that both want.
#[cfg(target_os = "linux")]
const NICENESS: i32 = 5;

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
    counts: Arc<Counts>,
}

/// What happened to the jobs. Only for those who watch: nothing depends on it.
#[derive(Default)]
struct Counts {
    /// Accepted jobs that have not ended.
    open: AtomicUsize,
    running: AtomicUsize,
    refused: AtomicU64,
}

impl Pool {
    /// Starts the threads, named after what they do. `waiting` jobs may queue up.
    pub(crate) fn start(name: &str, threads: usize, waiting: usize) -> std::io::Result<Self> {
        let (queue, jobs) = sync_channel(waiting);
        let jobs = Arc::new(Mutex::new(jobs));
        let counts = Arc::<Counts>::default();
        start_helpers();
        let threads = (0..threads)
            .map(|number| start_thread(format!("rhizome-{name}-{number}"), Arc::clone(&jobs), Arc::clone(&counts)))
            .collect::<Result<_, _>>()?;
        Ok(Self { queue: Some(queue), threads, counts })
    }

    /// Queues a job, or refuses it at once.
    pub(crate) fn submit(&self, job: Job) {
        if let Err(job) = self.try_submit(job) {
            job(Turn::Refused);
        }
    }

    /// Queues a job, or gives it back where there is no room.
    pub(crate) fn try_submit(&self, job: Job) -> Result<(), Job> {
        let Some(queue) = &self.queue else { return Err(job) };
        // Before the job is there for a thread, which counts it down.
        self.counts.open.fetch_add(1, Ordering::Relaxed);
        queue.try_send(job).map_err(|refused| {
            self.counts.open.fetch_sub(1, Ordering::Relaxed);
            self.counts.refused.fetch_add(1, Ordering::Relaxed);
            let (TrySendError::Full(job) | TrySendError::Disconnected(job)) = refused;
            job
        })
    }

    /// How busy it is now.
    pub(crate) fn figures(&self, name: &'static str) -> LaneFigures {
        let Counts { open, running, refused } = &*self.counts;
        let running = running.load(Ordering::Relaxed);
        LaneFigures {
            name,
            threads: self.threads.len(),
            waiting: open.load(Ordering::Relaxed).saturating_sub(running),
            running,
            refused: refused.load(Ordering::Relaxed),
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

fn start_thread(name: String, jobs: Arc<Mutex<Receiver<Job>>>, counts: Arc<Counts>) -> std::io::Result<JoinHandle<()>> {
    std::thread::Builder::new().name(name).stack_size(STACK_BYTES).spawn(move || {
        lower_priority();
        stand_back();
        loop {
            // The lock is given back before the job runs.
            let next = jobs.lock().recv();
            match next {
                Ok(job) => {
                    counts.running.fetch_add(1, Ordering::Relaxed);
                    job(Turn::Now);
                    counts.running.fetch_sub(1, Ordering::Relaxed);
                    counts.open.fetch_sub(1, Ordering::Relaxed);
                }
                Err(_closed) => return,
            }
        }
    })
}

/// Starts the threads that share parallel work, unless they run. They inherit the priority of whoever starts them, and
/// blocks must not be imported by threads that stand back.
fn start_helpers() {
    let helpers = rayon::ThreadPoolBuilder::new().thread_name(|number| format!("rhizome-work-{number}"));
    let _run_already = helpers.build_global();
}

/// Lowers the priority of this thread. Where that is not allowed, it stays what it is.
fn lower_priority() {
    // On Linux a priority is a thread's; elsewhere it would be that of the whole process.
    #[cfg(target_os = "linux")]
    let _refused = rustix::process::setpriority_process(None, NICENESS);
}
