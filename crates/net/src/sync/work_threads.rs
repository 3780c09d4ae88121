//! Threads of the synchronization, with a lower priority than the threads for answers.

use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};
use rhizome_chain::lower_priority;

/// Starts threads that decode and verify, one for each processor. They end when the pool is dropped.
pub(crate) fn start() -> Result<ThreadPool, ThreadPoolBuildError> {
    let threads = ThreadPoolBuilder::new().thread_name(|number| format!("sync-work-{number}"));
    threads.start_handler(|_number| lower_priority()).build()
}
