//! Work that takes more than a millisecond. It never runs on the threads of the network.

use rayon::{ThreadPool, ThreadPoolBuilder};
use rhizome_chain::{Chain, lower_priority};
use std::io;
use std::sync::Arc;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// Threads that decode and verify for all tasks, with a lower priority than the threads for answers.
#[derive(Clone)]
pub(crate) struct WorkThreads(Arc<ThreadPool>);

impl WorkThreads {
    /// Starts one thread for each processor. They end with the last task.
    pub(crate) fn start() -> io::Result<WorkThreads> {
        let threads = ThreadPoolBuilder::new().thread_name(|number| format!("sync-work-{number}"));
        let pool = threads.start_handler(|_number| lower_priority()).build().map_err(io::Error::other)?;
        Ok(WorkThreads(Arc::new(pool)))
    }
}

/// Work of one task with the channel of its results. Bounded by the requests that wait for answers.
pub(crate) struct BackgroundWork<W> {
    threads: WorkThreads,
    chain: Arc<Chain>,
    results: UnboundedSender<W>,
}

impl<W: Send + 'static> BackgroundWork<W> {
    pub(crate) fn new(threads: WorkThreads, chain: Arc<Chain>) -> (BackgroundWork<W>, UnboundedReceiver<W>) {
        let (results, done) = unbounded_channel();
        (BackgroundWork { threads, chain, results }, done)
    }

    /// Starts work whose result gets to the task.
    pub(crate) fn start(&self, work: impl FnOnce(&Chain) -> W + Send + 'static) {
        let (chain, results) = (Arc::clone(&self.chain), self.results.clone());
        self.threads.0.spawn(move || {
            // Fails only while the network stops.
            let _ = results.send(work(&chain));
        });
    }

    /// Returns a sender for results of other threads.
    pub(crate) fn results(&self) -> UnboundedSender<W> {
        self.results.clone()
    }
}
