//! The schedule of automatic mining: after a submission, at an interval, or both. Initialised from the settings; methods
//! change it while the node runs.

use crate::options::MiningMode;
use parking_lot::{Condvar, Mutex};
use std::time::{Duration, Instant};

/// The schedule, shared by submitting requests and the interval thread.
#[derive(Debug, Default)]
pub struct MiningSchedule {
    plan: Mutex<Plan>,
    /// Rung when the plan changes.
    bell: Condvar,
}

#[derive(Debug, Default, Clone, Copy)]
struct Plan {
    is_instant: bool,
    interval: Option<Duration>,
    is_over: bool,
}

impl MiningSchedule {
    /// Returns the schedule of a setting.
    pub fn new(mode: MiningMode) -> Self {
        let (is_instant, interval) = match mode {
            MiningMode::Auto => (true, None),
            MiningMode::Interval { milliseconds } => (false, Some(Duration::from_millis(milliseconds))),
            MiningMode::Off => (false, None),
        };
        Self { plan: Mutex::new(Plan { is_instant, interval, is_over: false }), bell: Condvar::new() }
    }

    /// Whether each submission mines a block.
    pub fn is_instant(&self) -> bool {
        self.plan.lock().is_instant
    }

    /// Returns `true` if the node mines blocks automatically.
    pub fn is_on(&self) -> bool {
        let plan = self.plan.lock();
        plan.is_instant || plan.interval.is_some()
    }

    /// Switches instant mining.
    pub fn set_instant(&self, is_instant: bool) {
        self.plan.lock().is_instant = is_instant;
    }

    /// Sets the time between blocks, from now on; none or zero: no blocks by time.
    pub fn set_interval(&self, interval: Option<Duration>) {
        self.plan.lock().interval = interval.filter(|interval| !interval.is_zero());
        self.bell.notify_all();
    }

    /// Ends all waiting.
    pub fn end(&self) {
        self.plan.lock().is_over = true;
        self.bell.notify_all();
    }

    /// Waits until a block is due by time. False when the schedule has ended.
    pub fn wait(&self) -> bool {
        let mut plan = self.plan.lock();
        'plan: while !plan.is_over {
            let Some(interval) = plan.interval else {
                self.bell.wait(&mut plan);
                continue;
            };
            // An interval beyond the clock's range never passes.
            let due = Instant::now().checked_add(interval);
            loop {
                let is_due = match due {
                    Some(due) => self.bell.wait_until(&mut plan, due).timed_out(),
                    None => {
                        self.bell.wait(&mut plan);
                        false
                    }
                };
                if plan.is_over || plan.interval != Some(interval) {
                    continue 'plan;
                }
                if is_due {
                    return true;
                }
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn starts_as_the_settings_say() {
        let of = |mode| {
            let schedule = MiningSchedule::new(mode);
            (schedule.is_instant(), schedule.is_on())
        };
        assert_eq!(of(MiningMode::Auto), (true, true));
        assert_eq!(of(MiningMode::Interval { milliseconds: 5 }), (false, true));
        assert_eq!(of(MiningMode::Off), (false, false));
    }

    #[test]
    fn a_new_interval_counts_at_once_and_the_end_too() {
        let schedule = Arc::new(MiningSchedule::new(MiningMode::Interval { milliseconds: 1_000_000_000 }));
        let waiting = || {
            let schedule = Arc::clone(&schedule);
            std::thread::spawn(move || schedule.wait())
        };
        let due = waiting();
        schedule.set_interval(Some(Duration::from_millis(1)));
        assert!(due.join().unwrap());
        schedule.set_interval(None);
        let ended = waiting();
        schedule.end();
        assert!(!ended.join().unwrap());
        assert!(!schedule.is_on() && !schedule.wait());
    }
}
