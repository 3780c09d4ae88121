//! Priority of threads that work on many blocks or on long calls: short requests of callers come first.

/// Niceness above that of the process. With 5 a thread gets a quarter of a processor that a thread of the process needs as well, at
/// any niceness of the process.
const ADDED_NICENESS: i32 = 5;

/// Lowers the priority of this thread and of threads that it starts. Has no effect if the system does not allow it.
pub fn lower_priority() {
    add_niceness(ADDED_NICENESS);
}

/// Lowers the priority of this thread below that of threads after [`lower_priority`]: work ahead of the import pipeline is done in
/// the time that the pipeline leaves.
pub(crate) fn lowest_priority() {
    add_niceness(2 * ADDED_NICENESS);
}

#[cfg(target_os = "linux")]
fn add_niceness(added: i32) {
    let _refused = rustix::process::nice(added);
}

/// Does nothing: Linux has priorities of threads, other systems only of the whole process.
#[cfg(not(target_os = "linux"))]
fn add_niceness(_added: i32) {}
