//! Threads for executions that take too long for the thread of a worker.

use parking_lot::{Condvar, Mutex};
use rhizome_answers::fair_queue::{FairQueue, Owner};
use rhizome_answers::node_figures::ExecutorStats;
use rhizome_chain::lower_priority;
use rhizome_evm::yield_periodically;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

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

/// Shorter jobs bar no client from the last free thread.
const LONG_JOB: Duration = Duration::from_millis(100);
/// For this many times the duration of a long job, its client is barred: it has a hundredth of the last thread at most.
const BARRED_TIMES: u32 = 100;

/// Threads with one bounded queue. The last free thread takes jobs of clients that run none on the others and had no long ones lately.
/// Dropping the pool runs the queued jobs and joins the threads.
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
    /// Number of running jobs of each client that has any: app and client of their owner.
    running: HashMap<(u32, u32), usize>,
    /// Clients whose long jobs bar them from the last thread, and until when.
    barred: HashMap<(u32, u32), Instant>,
    /// Most jobs of one client that run at a time.
    most_of_client: usize,
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
    /// Starts `threads` threads and one more, whose names contain `name`: one client has at most `threads`. The queue holds at most
    /// `waiting` jobs.
    pub(crate) fn start(name: &str, threads: usize, waiting: usize) -> std::io::Result<Self> {
        let waiting = Mutex::new(PoolQueue {
            jobs: FairQueue::new(waiting),
            running: HashMap::new(),
            barred: HashMap::new(),
            most_of_client: threads,
            is_closed: false,
        });
        let queue = Arc::new(Queue { waiting, has_job: Condvar::new() });
        let counts = Arc::<Counts>::default();
        start_rayon();
        let threads = (0..=threads)
            .map(|number| start_thread(format!("rhizome-{name}-{number}"), Arc::clone(&queue), Arc::clone(&counts)))
            .collect::<Result<_, _>>()?;
        Ok(Self { queue, threads, counts })
    }

    /// Queues a job. If the queue is full, refuses this job or a job of an owner that has more of them.
    pub(crate) fn submit(&self, owner: Owner, job: Job) {
        // Counted before a thread can take the job and count it down.
        self.counts.open.fetch_add(1, Ordering::Relaxed);
        let mut waiting = self.queue.waiting.lock();
        let refused = waiting.jobs.push(owner, job);
        let is_wanted = waiting.may_take();
        drop(waiting);
        if is_wanted {
            self.queue.has_job.notify_one();
        }
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
        let mut ended = None;
        while let Some((client, job)) = queue.next(ended.take()) {
            counts.running.fetch_add(1, Ordering::Relaxed);
            let started = Instant::now();
            job(JobOutcome::Started);
            counts.running.fetch_sub(1, Ordering::Relaxed);
            counts.open.fetch_sub(1, Ordering::Relaxed);
            ended = Some((client, started.elapsed()));
        }
    })
}

impl Queue {
    /// Waits for a job, and returns it with its client. `ended`: client and duration of the last job of this thread. `None` once the
    /// pool is closed and the queue is empty.
    fn next(&self, ended: Option<((u32, u32), Duration)>) -> Option<((u32, u32), Job)> {
        let mut waiting = self.waiting.lock();
        if let Some((client, duration)) = ended {
            waiting.end(client, duration);
        }
        loop {
            let job = waiting.take();
            let is_over = waiting.is_closed && waiting.jobs.is_empty();
            if job.is_some() || is_over {
                // Another thread may wait for the end of the last job of this one, or for the end of the queue.
                if is_over || waiting.may_take() {
                    self.has_job.notify_one();
                }
                return job;
            }
            self.has_job.wait(&mut waiting);
        }
    }
}

/// Whether a client may have a thread: if it runs fewer than `most` jobs, and if it is barred, all clients together.
fn may_run(
    running: &HashMap<(u32, u32), usize>,
    barred: &HashMap<(u32, u32), Instant>,
    most: usize,
) -> impl Fn((u32, u32)) -> bool {
    let (is_last, now) = (most > 1 && running.values().sum::<usize>() >= most, Instant::now());
    move |client| {
        running.get(&client).is_none_or(|count| *count < most)
            && !(is_last && barred.get(&client).is_some_and(|until| *until > now))
    }
}

impl PoolQueue {
    /// Whether a job waits whose client may have a thread.
    fn may_take(&self) -> bool {
        self.jobs.has_job_of(may_run(&self.running, &self.barred, self.most_of_client))
    }

    fn take(&mut self) -> Option<((u32, u32), Job)> {
        let taken = self.jobs.pop_of(may_run(&self.running, &self.barred, self.most_of_client));
        if let Some((client, _)) = &taken {
            *self.running.entry(*client).or_default() += 1;
        }
        taken
    }

    fn end(&mut self, client: (u32, u32), duration: Duration) {
        if duration >= LONG_JOB {
            let now = Instant::now();
            self.barred.retain(|_client, until| *until > now);
            self.barred.insert(client, now + duration * BARRED_TIMES);
        }
        match self.running.get_mut(&client) {
            Some(count) if *count > 1 => *count -= 1,
            _ => drop(self.running.remove(&client)),
        }
    }
}

/// Starts the threads of Rayon, unless they run. A thread inherits the priority of the thread that starts it, and the
/// threads of Rayon import blocks: they must not start from a thread with lower priority.
fn start_rayon() {
    let threads = rayon::ThreadPoolBuilder::new().thread_name(|number| format!("rhizome-work-{number}"));
    let _run_already = threads.build_global();
}
