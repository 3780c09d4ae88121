//! Time limits of a frame that has begun (docs/spec/p2p-additions.md, F).

use super::keep_alive::OWN_PAUSE;
use crate::options::Limits;
use std::time::{Duration, Instant};

/// Start of the current frame, and bytes in the current interval.
pub(super) struct FrameClock {
    started: Instant,
    window: Instant,
    window_bytes: usize,
}

impl FrameClock {
    pub(super) fn start(now: Instant) -> FrameClock {
        FrameClock { started: now, window: now, window_bytes: 0 }
    }

    /// Excludes the time since a check was due if this node did not run meanwhile: the bytes of the peer may wait in the socket.
    pub(super) fn excuse(&mut self, due: Instant, now: Instant) {
        let late = now.saturating_duration_since(due);
        if late >= OWN_PAUSE {
            self.resume(late, now);
        }
    }

    /// Excludes a time in which this node did not read.
    pub(super) fn resume(&mut self, paused: Duration, now: Instant) {
        self.started += paused;
        (self.window, self.window_bytes) = (now, 0);
    }

    pub(super) fn add(&mut self, bytes: usize) {
        self.window_bytes += bytes;
    }

    /// Returns the time of the next check.
    pub(super) fn deadline(&self, limits: &Limits) -> Instant {
        (self.started + limits.frame_time).min(self.window + limits.frame_window)
    }

    /// Whether the frame may continue. Begins another interval at the end of one.
    pub(super) fn is_fast(&mut self, limits: &Limits, now: Instant) -> bool {
        if now >= self.started + limits.frame_time {
            return false;
        }
        if now >= self.window + limits.frame_window {
            if self.window_bytes < limits.frame_window_bytes {
                return false;
            }
            (self.window, self.window_bytes) = (now, 0);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_frames_end() {
        let (limits, start) = (Limits::default(), Instant::now());
        let after = |seconds| start + Duration::from_secs(seconds);
        let mut slow = FrameClock::start(start);
        slow.add(1_000);
        assert!(slow.is_fast(&limits, after(9)));
        assert!(!slow.is_fast(&limits, after(10)));

        let mut fast = FrameClock::start(start);
        for second in (10..60).step_by(10) {
            fast.add(200_000);
            assert!(fast.is_fast(&limits, after(second)), "{second}");
        }
        fast.add(200_000);
        assert!(!fast.is_fast(&limits, after(60)));
    }

    #[test]
    fn a_pause_of_this_node_ends_no_frame() {
        let (limits, start) = (Limits::default(), Instant::now());
        let after = |seconds| start + Duration::from_secs(seconds);
        let mut clock = FrameClock::start(start);
        // Suspended until long after the time of a frame.
        clock.excuse(clock.deadline(&limits), after(300));
        assert!(clock.is_fast(&limits, after(300)));
        // Then the limits hold again.
        clock.excuse(clock.deadline(&limits), after(310));
        assert!(!clock.is_fast(&limits, after(310)));
    }
}
