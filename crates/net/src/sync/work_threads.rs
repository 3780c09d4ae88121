//! Threads of the synchronization, with a lower priority than the threads for answers.

use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};

/// Niceness above that of the process. With 5 a thread gets a quarter of a processor that a thread of the process needs as well.
#[cfg(target_os = "linux")]
const ADDED_NICENESS: i32 = 5;

/// Starts threads that decode and verify, one for each processor. They end when the pool is dropped.
pub(crate) fn start() -> Result<ThreadPool, ThreadPoolBuildError> {
    let threads = ThreadPoolBuilder::new().thread_name(|number| format!("sync-work-{number}"));
    threads.start_handler(|_number| lower_priority()).build()
}

/// Lowers the priority of this thread and of threads that it starts. Has no effect if the system does not allow it.
pub(super) fn lower_priority() {
    // Linux has priorities of threads, other systems only of the whole process.
    #[cfg(target_os = "linux")]
    let _refused = rustix::process::nice(ADDED_NICENESS);
}
