//! Progress of the synchronization, for answers, metrics and the log.

use super::window::WindowLengths;
use parking_lot::Mutex;
use rhizome_chain::{Chain, STATE_CHUNK_BYTES, StateProgress};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Blocks by which the head may be behind the best header without counting as syncing (docs/spec/p2p-additions.md, C.5).
pub const NEAR_BLOCKS: u64 = 24;
/// Time for which a synchronization counts as under way after its end: callers that ask now and then see short ones, too.
const SHOWN_TIME: Duration = Duration::from_secs(1);
/// Time over which rates are averaged.
const RATE_TIME: Duration = Duration::from_secs(30);
/// Time between two samples for the rates.
const SAMPLE_TIME: Duration = Duration::from_secs(1);

/// Progress that the task of the synchronization reports and others read.
#[derive(Debug, Default)]
pub(crate) struct SyncProgress {
    headers: AtomicU64,
    bodies: AtomicU64,
    budget_waits: AtomicU64,
    has_given_up_state: AtomicBool,
    /// Chunks of a state.
    chunks: AtomicU64,
    /// Older blocks stored.
    older_blocks: AtomicU64,
    /// Download of a state, while it is under way.
    download: Mutex<Option<StateProgress>>,
    /// Number of the lowest stored block, while older ones are missing.
    oldest: Mutex<Option<u64>>,
    state: Mutex<ProgressState>,
}

#[derive(Debug, Default)]
struct ProgressState {
    /// Number of the head when the synchronization began; `None` while it is not under way.
    start: Option<u64>,
    /// Time at which the head was last far behind the best header.
    behind_at: Option<Instant>,
    failure: Option<String>,
    load: SyncLoad,
    samples: VecDeque<ProgressSample>,
}

/// Work ahead of the synchronization, and the peers for it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SyncLoad {
    /// Peers that are asked.
    pub peers: usize,
    /// Peers that are not asked at the moment, because they would drop further messages of this minute.
    pub peers_over_budget: usize,
    /// Highest number that a peer claims whose chain is not lighter than that of the best header.
    pub claimed: u64,
    /// Blocks ahead of the importer.
    pub window: WindowLengths,
}

/// Counts at one time.
#[derive(Debug, Clone, Copy)]
struct ProgressSample {
    at: Instant,
    headers: u64,
    bodies: u64,
    number: u64,
    chunks: u64,
    older_blocks: u64,
}

/// Download of a state.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StateStage {
    /// Extent of the part that is there.
    pub progress: StateProgress,
    /// Received bytes of the trie a second.
    pub bytes_per_second: f64,
}

/// Download of the blocks below the ones of a state download.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OlderStage {
    /// Number of the lowest stored block above genesis.
    pub oldest: u64,
    /// Stored blocks a second.
    pub blocks_per_second: f64,
}

/// The synchronization at one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct SyncStatus {
    /// Whether the head is more than 24 blocks behind the best header, or was within the last second.
    pub is_syncing: bool,
    /// Number of the head when the synchronization began.
    pub start: u64,
    /// Number of the head.
    pub current: u64,
    /// Number of the best validated header.
    pub highest: u64,
    /// Seconds between the times of the head and of the best validated header.
    pub seconds_behind: u64,
    /// Headers verified since the start of the node.
    pub headers: u64,
    /// Bodies received since the start of the node.
    pub bodies: u64,
    /// Verified headers a second.
    pub headers_per_second: f64,
    /// Received bodies a second.
    pub bodies_per_second: f64,
    /// Blocks a second by which the head advances.
    pub blocks_per_second: f64,
    /// Times at which a peer could not be asked, because it would have dropped further messages of that minute.
    pub budget_waits: u64,
    /// Peers and blocks under way.
    pub load: SyncLoad,
    /// Download of a state, while it is under way.
    pub download: Option<StateStage>,
    /// Whether all blocks are executed because no peer delivered a state.
    pub has_given_up_state: bool,
    /// Download of older blocks; `None` unless some are missing.
    pub older: Option<OlderStage>,
    /// Failure of this node that stopped the synchronization.
    pub failure: Option<String>,
}

/// Whether a head counts as behind the best header.
fn is_behind(head: u64, best: u64) -> bool {
    best > head + NEAR_BLOCKS
}

impl SyncProgress {
    /// Whether the head of a chain is more than 24 blocks behind the best header.
    pub(crate) fn is_syncing(chain: &Chain) -> bool {
        is_behind(chain.head().number(), chain.headers().best_number())
    }

    /// Returns the current state.
    pub(crate) fn status(&self, chain: &Chain) -> SyncStatus {
        let (head, highest) = (chain.head(), chain.headers().best_number());
        let current = head.number();
        let tip = chain.headers().tip().filter(|_| highest > current);
        let head_time = head.record.block.header.timestamp;
        let seconds_behind = tip.map_or(0, |tip| tip.header.timestamp.saturating_sub(head_time));
        let now = self.sample(current);
        let mut state = self.state.lock();
        let is_syncing = state.is_syncing(current, highest, now.at);
        let start = state.start.unwrap_or(current);
        let rates = state.rates(&now);
        let [headers_per_second, bodies_per_second, blocks_per_second, chunks_per_second, older_per_second] = rates;
        let bytes_per_second = chunks_per_second * STATE_CHUNK_BYTES as f64;
        let download = (*self.download.lock()).map(|progress| StateStage { progress, bytes_per_second });
        SyncStatus {
            is_syncing,
            start,
            current,
            highest: highest.max(current),
            seconds_behind,
            headers: now.headers,
            bodies: now.bodies,
            headers_per_second,
            bodies_per_second,
            blocks_per_second,
            budget_waits: self.budget_waits.load(Ordering::Relaxed),
            load: state.load,
            download,
            has_given_up_state: self.has_given_up_state.load(Ordering::Relaxed),
            older: (*self.oldest.lock()).map(|oldest| OlderStage { oldest, blocks_per_second: older_per_second }),
            failure: state.failure.clone(),
        }
    }

    pub(super) fn count_headers(&self, count: usize) {
        self.headers.fetch_add(count as u64, Ordering::Relaxed);
    }

    pub(super) fn count_bodies(&self, count: usize) {
        self.bodies.fetch_add(count as u64, Ordering::Relaxed);
    }

    pub(super) fn count_budget_wait(&self) {
        self.budget_waits.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a received chunk of a state.
    pub(crate) fn count_chunk(&self) {
        self.chunks.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the progress of the download of a state; `None` while there is none.
    pub(crate) fn download(&self) -> Option<StateProgress> {
        *self.download.lock()
    }

    pub(crate) fn set_download(&self, download: Option<StateProgress>) {
        *self.download.lock() = download;
    }

    /// Notes the lowest stored block, `None` if no older ones are missing, and the number of older blocks that were stored.
    pub(crate) fn note_oldest(&self, oldest: Option<u64>, stored: u64) {
        *self.oldest.lock() = oldest;
        self.older_blocks.fetch_add(stored, Ordering::Relaxed);
    }

    pub(crate) fn note_state_given_up(&self) {
        self.has_given_up_state.store(true, Ordering::Relaxed);
    }

    pub(crate) fn set_failure(&self, failure: Option<String>) {
        self.state.lock().failure = failure;
    }

    /// Records the state at regular times.
    pub(super) fn tick(&self, chain: &Chain, load: impl FnOnce() -> SyncLoad) {
        let (current, highest) = (chain.head().number(), chain.headers().best_number());
        let now = self.sample(current);
        let mut state = self.state.lock();
        state.is_syncing(current, highest, now.at);
        if state.samples.back().is_some_and(|last| now.at - last.at < SAMPLE_TIME) {
            return;
        }
        state.load = load();
        state.samples.push_back(now);
        while state.samples.front().is_some_and(|first| now.at - first.at > RATE_TIME) {
            state.samples.pop_front();
        }
    }

    fn sample(&self, number: u64) -> ProgressSample {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        ProgressSample {
            at: Instant::now(),
            headers: count(&self.headers),
            bodies: count(&self.bodies),
            number,
            chunks: count(&self.chunks),
            older_blocks: count(&self.older_blocks),
        }
    }
}

impl ProgressState {
    /// Notes head and best header. Returns whether a synchronization is under way.
    fn is_syncing(&mut self, current: u64, highest: u64, now: Instant) -> bool {
        if is_behind(current, highest) {
            self.behind_at = Some(now);
        }
        let is_syncing = self.behind_at.is_some_and(|at| now - at < SHOWN_TIME);
        self.start = is_syncing.then(|| self.start.unwrap_or(current));
        is_syncing
    }

    /// Returns headers, bodies, blocks, chunks and older blocks a second.
    fn rates(&self, now: &ProgressSample) -> [f64; 5] {
        let Some(first) = self.samples.front() else { return [0.0; 5] };
        let seconds = (now.at - first.at).as_secs_f64().max(1.0);
        let rate = |new: u64, old: u64| new.saturating_sub(old) as f64 / seconds;
        [
            rate(now.headers, first.headers),
            rate(now.bodies, first.bodies),
            rate(now.number, first.number),
            rate(now.chunks, first.chunks),
            rate(now.older_blocks, first.older_blocks),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_synchronization_is_shown_for_a_second() {
        let (mut state, begin) = (ProgressState::default(), Instant::now());
        let after = |milliseconds| begin + Duration::from_millis(milliseconds);
        assert!(!state.is_syncing(10, 10 + NEAR_BLOCKS, begin));
        assert!(state.is_syncing(10, 11 + NEAR_BLOCKS, begin));
        assert!(state.is_syncing(500, 500, after(900)) && state.start == Some(10));
        assert!(!state.is_syncing(500, 500, after(1_001)) && state.start.is_none());
    }
}
