//! Pace of the threads that compare and write blocks, for an estimate of the time that the blocks in flight still take.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Work of a block in addition to that for the keys that it changes, in keys.
const WORK_OF_BLOCK: usize = 16;

/// Thread that blocks in flight pass through.
#[derive(Clone, Copy)]
pub(crate) enum PipelineThread {
    Compare,
    Write,
}

/// Returns the work for blocks that change this number of keys together.
pub(crate) fn work(blocks: usize, keys: usize) -> usize {
    keys.saturating_add(WORK_OF_BLOCK * blocks)
}

/// Nanoseconds that each thread takes for a unit of work, averaged over the last groups.
#[derive(Default)]
pub(crate) struct PipelinePace {
    nanoseconds: [AtomicU64; 2],
}

impl PipelinePace {
    /// Records that a thread has taken a time for the work of a group.
    pub(crate) fn record(&self, thread: PipelineThread, work: usize, time: Duration) {
        let measured = time.as_nanos() as u64 / (work as u64).max(1);
        let average = &self.nanoseconds[thread as usize];
        let before = average.load(Ordering::Relaxed);
        let next = if before == 0 { measured } else { (3 * before).saturating_add(measured) / 4 };
        average.store(next, Ordering::Relaxed);
    }

    /// Returns the time that work takes: both threads work at the same time, so the slower one counts.
    pub(crate) fn time(&self, work: usize) -> Duration {
        let slower = self.nanoseconds.iter().map(|average| average.load(Ordering::Relaxed)).max().unwrap_or(0);
        Duration::from_nanos(slower.saturating_mul(work as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slower_thread_counts() {
        let pace = PipelinePace::default();
        assert_eq!(pace.time(1_000), Duration::ZERO);
        pace.record(PipelineThread::Compare, 100, Duration::from_micros(100));
        pace.record(PipelineThread::Write, 100, Duration::from_micros(300));
        assert_eq!(pace.time(10), Duration::from_micros(30));
        pace.record(PipelineThread::Write, 100, Duration::from_micros(700));
        assert_eq!(pace.time(10), Duration::from_micros(40));
    }
}
