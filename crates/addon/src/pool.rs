//! The threads that execute what would hold up a worker.

use parking_lot::{Condvar, Mutex};
use rhizome_answers::fair_queue::{FairQueue, Owner};
use rhizome_answers::node_figures::ExecutorStats;
use rhizome_evm::yield_periodically;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread::JoinHandle;

/// Stack of a thread: frames of contracts nest 400 deep.
const STACK_BYTES: usize = 64 << 20;

/// How much these threads stand back (`nice`) where the workers have too few processors beside them: a balance must not
/// wait for a log search. 5 leaves them a quarter of a processor that both want.
#[cfg(target_os = "linux")]
const NICENESS: i32 = 5;

/// Whether a job runs.
pub(crate) enum JobOutcome {
    /// A thread has taken the job.
    Started,
    /// The queue had no room for the job.
    Refused,
}

/// Work for a thread.
pub(crate) type Job = Box<dyn FnOnce(JobOutcome) + Send>;

/// So many threads with one bounded queue. Dropping it runs what is queued and waits for the threads.
pub(crate) struct Pool {
    queue: Arc<Queue>,
    threads: Vec<JoinHandle<()>>,
    counts: Arc<Counts>,
}

/// What the threads take their jobs from.
struct Queue {
    waiting: Mutex<Waiting>,
    has_job: Condvar,
}

struct Waiting {
    jobs: FairQueue<Job>,
    is_closed: bool,
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
        let waiting = Mutex::new(Waiting { jobs: FairQueue::new(waiting), is_closed: false });
        let queue = Arc::new(Queue { waiting, has_job: Condvar::new() });
        let counts = Arc::<Counts>::default();
        start_helpers();
        let threads = (0..threads)
            .map(|number| start_thread(format!("rhizome-{name}-{number}"), Arc::clone(&queue), Arc::clone(&counts)))
            .collect::<Result<_, _>>()?;
        Ok(Self { queue, threads, counts })
    }

    /// Queues a job. When the queue is full, this job or a job of an owner with more of them is refused at once.
    pub(crate) fn submit(&self, owner: Owner, job: Job) {
        // Before the job is there for a thread, which counts it down.
        self.counts.open.fetch_add(1, Ordering::Relaxed);
        let refused = self.queue.waiting.lock().jobs.push(owner, job);
        self.queue.has_job.notify_one();
        if let Some(refused) = refused {
            self.counts.open.fetch_sub(1, Ordering::Relaxed);
            self.counts.refused.fetch_add(1, Ordering::Relaxed);
            refused(JobOutcome::Refused);
        }
    }

    /// How busy it is now.
    pub(crate) fn figures(&self, name: &'static str) -> ExecutorStats {
        let Counts { open, running, refused } = &*self.counts;
        let running = running.load(Ordering::Relaxed);
        ExecutorStats {
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
        self.queue.waiting.lock().is_closed = true;
        self.queue.has_job.notify_all();
        for thread in self.threads.drain(..) {
            // Jobs catch their panics, so a thread only ends well.
            let _ = thread.join();
        }
    }
}

fn start_thread(name: String, queue: Arc<Queue>, counts: Arc<Counts>) -> std::io::Result<JoinHandle<()>> {
    std::thread::Builder::new().name(name).stack_size(STACK_BYTES).spawn(move || {
        lower_priority();
        yield_periodically();
        while let Some(job) = queue.next() {
            counts.running.fetch_add(1, Ordering::Relaxed);
            job(JobOutcome::Started);
            counts.running.fetch_sub(1, Ordering::Relaxed);
            counts.open.fetch_sub(1, Ordering::Relaxed);
        }
    })
}

impl Queue {
    /// Waits for a job. `None` once the pool is closed and the queue is empty.
    fn next(&self) -> Option<Job> {
        let mut waiting = self.waiting.lock();
        loop {
            if let Some(job) = waiting.jobs.pop() {
                return Some(job);
            }
            if waiting.is_closed {
                return None;
            }
            self.has_job.wait(&mut waiting);
        }
    }
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
