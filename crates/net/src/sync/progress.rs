//! Progress of the synchronization, for answers, metrics and the log.

use parking_lot::Mutex;
use rhizome_chain::Chain;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Blocks by which the head may be behind the best header without counting as syncing (docs/spec/p2p-additions.md, C.5).
const NEAR: u64 = 24;
/// Time over which rates are averaged.
const RATE_WINDOW: Duration = Duration::from_secs(30);

/// Progress that the task of the synchronization reports and others read.
#[derive(Debug, Default)]
pub(crate) struct SyncProgress {
    headers: AtomicU64,
    bodies: AtomicU64,
    state: Mutex<ProgressState>,
}

#[derive(Debug, Default)]
struct ProgressState {
    /// Number of the head when the synchronization began; `None` while it is not under way.
    start: Option<u64>,
    failure: Option<String>,
    peers: usize,
    /// Counts of headers and bodies at earlier times.
    samples: VecDeque<(Instant, u64, u64)>,
}

/// The synchronization at one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct SyncStatus {
    /// Whether the head is more than 24 blocks behind the best header.
    pub is_syncing: bool,
    /// Number of the head when the synchronization began.
    pub start: u64,
    /// Number of the head.
    pub current: u64,
    /// Number of the best validated header.
    pub highest: u64,
    /// Peers that are asked.
    pub peers: usize,
    /// Headers verified since the start of the node.
    pub headers: u64,
    /// Bodies received since the start of the node.
    pub bodies: u64,
    /// Verified headers a second.
    pub headers_per_second: f64,
    /// Received bodies a second.
    pub bodies_per_second: f64,
    /// Failure of this node that stopped the synchronization.
    pub failure: Option<String>,
}

impl SyncProgress {
    /// Returns the current state.
    pub(crate) fn status(&self, chain: &Chain) -> SyncStatus {
        let (current, highest) = (chain.head().number(), chain.headers().best_number());
        let is_syncing = highest > current + NEAR;
        let (headers, bodies) = (self.headers.load(Ordering::Relaxed), self.bodies.load(Ordering::Relaxed));
        let mut state = self.state.lock();
        let start =
            if is_syncing { *state.start.get_or_insert(current) } else { state.start.take().unwrap_or(current) };
        let (headers_per_second, bodies_per_second) = state.rates(headers, bodies);
        SyncStatus {
            is_syncing,
            start,
            current,
            highest: highest.max(current),
            peers: state.peers,
            headers,
            bodies,
            headers_per_second,
            bodies_per_second,
            failure: state.failure.clone(),
        }
    }

    pub(super) fn count_headers(&self, count: usize) {
        self.headers.fetch_add(count as u64, Ordering::Relaxed);
    }

    pub(super) fn count_bodies(&self, count: usize) {
        self.bodies.fetch_add(count as u64, Ordering::Relaxed);
    }

    pub(super) fn set_failure(&self, failure: Option<String>) {
        self.state.lock().failure = failure;
    }

    /// Records the state at regular times.
    pub(super) fn tick(&self, chain: &Chain, peers: usize) {
        let (headers, bodies) = (self.headers.load(Ordering::Relaxed), self.bodies.load(Ordering::Relaxed));
        let (current, highest, now) = (chain.head().number(), chain.headers().best_number(), Instant::now());
        let mut state = self.state.lock();
        state.peers = peers;
        state.start = if highest > current + NEAR { state.start.or(Some(current)) } else { None };
        if state.samples.back().is_none_or(|(at, _, _)| now - *at >= Duration::from_secs(1)) {
            state.samples.push_back((now, headers, bodies));
        }
        while state.samples.front().is_some_and(|(at, _, _)| now - *at > RATE_WINDOW) {
            state.samples.pop_front();
        }
    }
}

impl ProgressState {
    fn rates(&self, headers: u64, bodies: u64) -> (f64, f64) {
        let Some((at, old_headers, old_bodies)) = self.samples.front() else { return (0.0, 0.0) };
        let seconds = at.elapsed().as_secs_f64().max(1.0);
        let rate = |new: u64, old: u64| new.saturating_sub(old) as f64 / seconds;
        (rate(headers, *old_headers), rate(bodies, *old_bodies))
    }
}
