//! Returns freed memory to the system, on a separate thread.
//!
//! The allocator leaves this to any thread that frees a page, once a second: with bodies of 5 MB from 100 connections a worker spent
//! 8 to 25 ms in `madvise` within one step of its event loop (`npm run bench -- --only fairness`). Should the thread fail to start,
//! the allocator does it as before.
//!
//! RocksDB and Node.js allocate with the C library, where each thread leaves holes in its arena that no other thread uses: 390 MB of
//! 560 MB were free after a state from peers was taken over (`npm run bench -- --only snap`). The thread returns them, too.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// `mi_option_purge_delay` of mimalloc: milliseconds for which freed memory stays. The crate has no name for it.
const PURGE_DELAY: libmimalloc_sys::mi_option_t = 15;
/// Longer than the interval, so that no other thread finds memory to return.
const DELAY_MS: std::ffi::c_long = 60_000;
/// Interval, the delay that mimalloc has by default.
const INTERVAL: Duration = Duration::from_secs(1);
/// Intervals between two trims of the C library's memory: each occupies a processor for 2 to 5 ms, and requests wait.
const TRIM_ROUNDS: u32 = 3;

/// The thread. Ends when it is dropped.
pub(crate) struct MemoryPurge {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl MemoryPurge {
    /// Starts the thread.
    pub(crate) fn start() -> Option<Self> {
        let (stop, stopped) = channel();
        let purge = move || {
            set_delay(DELAY_MS);
            for round in 1_u32.. {
                if stopped.recv_timeout(INTERVAL) != Err(RecvTimeoutError::Timeout) {
                    break;
                }
                collect();
                if round.is_multiple_of(TRIM_ROUNDS) {
                    c_library::trim();
                }
            }
            set_delay(INTERVAL.as_millis() as std::ffi::c_long);
        };
        let thread = thread::Builder::new().name("rhizome-purge".into()).spawn(purge).ok()?;
        Some(Self { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for MemoryPurge {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

/// The allocator of the C library.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod c_library {
    use std::ffi::c_int;

    #[expect(unsafe_code, reason = "a function of the allocator in C")]
    unsafe extern "C" {
        fn malloc_trim(left: usize) -> c_int;
    }

    #[expect(unsafe_code, reason = "a call of the allocator in C")]
    pub(super) fn trim() {
        // SAFETY: may be called on any thread at any time.
        unsafe { malloc_trim(0) };
    }
}

/// Does nothing: other C libraries lack this function.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
mod c_library {
    pub(super) fn trim() {}
}

#[expect(unsafe_code, reason = "a call of the allocator in C")]
fn set_delay(milliseconds: std::ffi::c_long) {
    // SAFETY: the option exists, and options may be set at any time.
    unsafe { libmimalloc_sys::mi_option_set(PURGE_DELAY, milliseconds) }
}

#[expect(unsafe_code, reason = "a call of the allocator in C")]
fn collect() {
    // SAFETY: may be called on any thread at any time.
    unsafe { libmimalloc_sys::mi_collect(true) }
}
