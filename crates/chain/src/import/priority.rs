//! Priority of threads that work on many blocks: callers come first.

/// Niceness above that of the process. With 5 a thread gets a quarter of a processor that a thread of the process needs as well.
#[cfg(target_os = "linux")]
const ADDED_NICENESS: i32 = 5;

/// Lowers the priority of this thread and of threads that it starts. Has no effect if the system does not allow it.
pub fn lower_priority() {
    // Linux has priorities of threads, other systems only of the whole process.
    #[cfg(target_os = "linux")]
    let _refused = rustix::process::nice(ADDED_NICENESS);
}

/// Lowers the priority of this thread below that of threads after [`lower_priority`]: work ahead of the import pipeline is done in
/// the time that the pipeline leaves.
pub(crate) fn lowest_priority() {
    lower_priority();
    lower_priority();
}
