//! Yields of threads that run long work at low priority.
//!
//! A scheduler lets a thread run for milliseconds before it looks at waiting threads, also at those of higher priority.
//! So a thread of the pool yields every 0.1 ms, at its regular checks of the deadline. A check costs one read of the
//! clock, in a place that reads the clock anyway. `npm run bench -- --only fairness` measures the latency of light
//! methods while all threads of the pool are busy.
//!
//! Fallback: a thread that never calls [`yield_periodically`] only reads a thread-local value.

use std::cell::Cell;
use std::thread;
use std::time::{Duration, Instant};

/// Time between two yields.
const INTERVAL: Duration = Duration::from_micros(100);

thread_local! {
    /// The time of the last yield; `None` if this thread does not yield.
    static LAST_YIELD: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// Makes this thread yield at each check of a deadline, at most once per interval.
pub fn yield_periodically() {
    LAST_YIELD.set(Some(Instant::now()));
}

/// Yields if this thread yields periodically and the interval has elapsed.
pub(crate) fn yield_if_due() {
    if LAST_YIELD.get().is_some_and(|last| last.elapsed() >= INTERVAL) {
        thread::yield_now();
        LAST_YIELD.set(Some(Instant::now()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn yields_only_after_the_interval() {
        yield_if_due();
        assert_eq!(LAST_YIELD.get(), None);
        yield_periodically();
        let first = LAST_YIELD.get();
        thread::sleep(2 * INTERVAL);
        yield_if_due();
        assert!(LAST_YIELD.get() > first);
    }
}
