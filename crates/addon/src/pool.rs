//! Threads for executions that take too long for the thread of a worker.

use parking_lot::{Condvar, Mutex};
use rhizome_answers::fair_queue::{FairQueue, Owner};
use rhizome_answers::node_figures::ExecutorStats;
use rhizome_chain::lower_priority;
use rhizome_evm::yield_periodically;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread::JoinHandle;

/// Stack size of a thread: contract calls nest 400 deep.
const STACK_BYTES: usize = 64 << 20;

/// Whether a job runs.
pub(crate) enum JobOutcome {
    /// A thread has taken the job.
    Started,
    /// The queue had no room for the job.
    Refused,
}

/// Work for a thread of the pool.
pub(crate) type Job = Box<dyn FnOnce(JobOutcome) + Send>;

/// Threads with one bounded queue. Dropping the pool runs the queued jobs and joins the threads.
pub(crate) struct Pool {
    queue: Arc<Queue>,
    threads: Vec<JoinHandle<()>>,
    counts: Arc<Counts>,
}

/// Queue from which the threads take jobs.
struct Queue {
    waiting: Mutex<PoolQueue>,
    has_job: Condvar,
}

struct PoolQueue {
    jobs: FairQueue<Job>,
    is_closed: bool,
}

/// Counters of jobs, for metrics only.
#[derive(Default)]
struct Counts {
    /// Accepted jobs that have not ended.
    open: AtomicUsize,
    running: AtomicUsize,
    refused: AtomicU64,
}

impl Pool {
    /// Starts the threads, whose names contain `name`. The queue holds at most `waiting` jobs.
    pub(crate) fn start(name: &str, threads: usize, waiting: usize) -> std::io::Result<Self> {
        let waiting = Mutex::new(PoolQueue { jobs: FairQueue::new(waiting), is_closed: false });
        let queue = Arc::new(Queue { waiting, has_job: Condvar::new() });
        let counts = Arc::<Counts>::default();
        start_rayon();
        let threads = (0..threads)
            .map(|number| start_thread(format!("rhizome-{name}-{number}"), Arc::clone(&queue), Arc::clone(&counts)))
            .collect::<Result<_, _>>()?;
        Ok(Self { queue, threads, counts })
    }

    /// Queues a job. If the queue is full, refuses this job or a job of an owner that has more of them.
    pub(crate) fn submit(&self, owner: Owner, job: Job) {
        // Counted before a thread can take the job and count it down.
        self.counts.open.fetch_add(1, Ordering::Relaxed);
        let refused = self.queue.waiting.lock().jobs.push(owner, job);
        self.queue.has_job.notify_one();
        if let Some(refused) = refused {
            self.counts.open.fetch_sub(1, Ordering::Relaxed);
            self.counts.refused.fetch_add(1, Ordering::Relaxed);
            refused(JobOutcome::Refused);
        }
    }

    /// Returns the current statistics.
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
            // Jobs catch their panics, so a thread never ends with one.
            let _ = thread.join();
        }
    }
}

fn start_thread(name: String, queue: Arc<Queue>, counts: Arc<Counts>) -> std::io::Result<JoinHandle<()>> {
    std::thread::Builder::new().name(name).stack_size(STACK_BYTES).spawn(move || {
        // `eth_getBalance`, which a worker answers, must not wait for a log search.
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

/// Starts the threads of Rayon, unless they run. A thread inherits the priority of the thread that starts it, and the
/// threads of Rayon import blocks: they must not start from a thread with lower priority.
fn start_rayon() {
    let threads = rayon::ThreadPoolBuilder::new().thread_name(|number| format!("rhizome-work-{number}"));
    let _run_already = threads.build_global();
}
