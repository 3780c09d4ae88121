//! The limits of an execution: time, cancellation, and the budget of an inline call.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::yielding::yield_if_due;

/// A point in time, a cancellation flag, both or neither.
#[derive(Debug, Clone, Default)]
pub struct Deadline {
    at: Option<Instant>,
    cancelled: Option<Arc<AtomicBool>>,
    is_inline: bool,
}

impl Deadline {
    /// Returns a deadline that never passes.
    pub fn none() -> Deadline {
        Deadline::default()
    }

    /// Returns a deadline at a time.
    pub fn at(time: Instant) -> Deadline {
        Deadline { at: Some(time), ..Deadline::default() }
    }

    /// Returns the deadline of an inline call: the budget of `inline_budget.rs`, and `limit` for time that the budget does
    /// not cover, such as reads from a slow disk.
    pub fn inline(limit: Duration) -> Deadline {
        Deadline { is_inline: true, ..Deadline::at(Instant::now() + limit) }
    }

    /// Whether this is the deadline of an inline call.
    pub fn is_inline(&self) -> bool {
        self.is_inline
    }

    /// Makes the deadline pass also when the flag becomes true.
    #[must_use]
    pub fn or_when(mut self, cancelled: Arc<AtomicBool>) -> Deadline {
        self.cancelled = Some(cancelled);
        self
    }

    /// Whether the execution must stop. Reads the clock. A thread that [yields periodically] may yield here.
    ///
    /// [yields periodically]: crate::yield_periodically
    pub fn has_passed(&self) -> bool {
        yield_if_due();
        self.cancelled.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed))
            || self.at.is_some_and(|at| Instant::now() >= at)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn passes_by_time_or_by_flag() {
        assert!(!Deadline::none().has_passed());
        assert!(Deadline::at(Instant::now()).has_passed());
        let flag = Arc::new(AtomicBool::new(false));
        let deadline = Deadline::at(Instant::now() + Duration::from_secs(3600)).or_when(flag.clone());
        assert!(!deadline.has_passed());
        flag.store(true, Ordering::Relaxed);
        assert!(deadline.has_passed());
    }
}
