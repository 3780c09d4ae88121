//! Data that answers keep between requests. A cache takes the chain or the state that it reads as an argument and
//! knows neither [`crate::Node`] nor another cache.
//!
//! | Cache | Key | An entry is valid | Bound |
//! | --- | --- | --- | --- |
//! | [`TextCache`] | block hash, kind of text | always: the text shows a block that never changes | `cache_bytes` |
//! | [`LatestHeadCache`] | account, storage slot, state key, transaction hash | while the head is the same | 8,192 values of each kind, 4 MB of state values |
//! | [`PendingStateCache`] | the pending block | while the pending block is the same | one state |
//! | [`ReplayCache`] | block hash, state root of the parent | always | `replay_bytes`, least recently used first |
//! | [`TraceCounts`] | block hash, state root of the parent | always | 16,384 blocks, least recently used first |
//! | [`SlowCallFilter`] | contract, function selector | for 31 calls | 1,024 entries of 8 bytes |

mod head_cache;
mod pending_state_cache;
mod replay_cache;
mod slow_call_filter;
mod text_cache;
mod trace_counts;

pub(crate) use head_cache::{HeadCache, LatestHeadCache, TransactionPosition};
pub(crate) use pending_state_cache::PendingStateCache;
pub(crate) use replay_cache::{ReplayCache, ReplayKey};
pub(crate) use slow_call_filter::SlowCallFilter;
pub(crate) use text_cache::{TextCache, TextKind};
pub(crate) use trace_counts::TraceCounts;

/// The caches of a node.
pub(crate) struct Caches {
    pub(crate) texts: TextCache,
    pub(crate) head: LatestHeadCache,
    pub(crate) pending_state: PendingStateCache,
    pub(crate) replays: ReplayCache,
    pub(crate) slow_calls: SlowCallFilter,
    pub(crate) trace_counts: TraceCounts,
}

impl Caches {
    /// Creates empty caches with the bounds in bytes of finished texts and of replayed blocks.
    pub(crate) fn new(text_bytes: usize, replay_bytes: usize) -> Self {
        Self {
            texts: TextCache::new(text_bytes),
            head: LatestHeadCache::default(),
            pending_state: PendingStateCache::default(),
            replays: ReplayCache::new(replay_bytes),
            slow_calls: SlowCallFilter::default(),
            trace_counts: TraceCounts::default(),
        }
    }
}
