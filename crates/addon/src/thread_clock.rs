//! Processor time of a thread: on a busy machine, elapsed time includes waits for a processor.

use napi_derive::napi;

/// Returns the processor time of the calling thread in milliseconds. Null on systems where it is not known.
#[napi(catch_unwind)]
pub fn thread_cpu_ms() -> Option<f64> {
    #[cfg(target_os = "linux")]
    {
        let used = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        Some(used.tv_sec as f64 * 1e3 + used.tv_nsec as f64 / 1e6)
    }
    #[cfg(not(target_os = "linux"))]
    None
}
