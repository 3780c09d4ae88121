//! When an execution has to stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::yielding::yield_if_due;

/// A point in time, a flag that somebody else may raise, both or neither.
#[derive(Debug, Clone, Default)]
pub struct Deadline {
    at: Option<Instant>,
    cancelled: Option<Arc<AtomicBool>>,
    is_inline: bool,
}

impl Deadline {
    /// Never.
    pub fn none() -> Deadline {
        Deadline::default()
    }

    /// At a time.
    pub fn at(time: Instant) -> Deadline {
        Deadline { at: Some(time), ..Deadline::default() }
    }

    /// As soon as an execution takes more work than a thread with other things to do can wait for. `limit` is for what
    /// work does not tell, such as a slow disk.
    pub fn inline(limit: Duration) -> Deadline {
        Deadline { is_inline: true, ..Deadline::at(Instant::now() + limit) }
    }

    /// Whether it ends executions by the work that they do, too.
    pub fn is_inline(&self) -> bool {
        self.is_inline
    }

    /// As soon as the flag is true, too.
    #[must_use]
    pub fn or_when(mut self, cancelled: Arc<AtomicBool>) -> Deadline {
        self.cancelled = Some(cancelled);
        self
    }

    /// True once the execution has to stop. Costs a reading of the clock. A thread that [stands back] may let
    /// others in here.
    ///
    /// [stands back]: crate::yield_periodically
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
