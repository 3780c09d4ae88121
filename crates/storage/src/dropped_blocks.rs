use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rocksdb::CompactionDecision;

use crate::history_key::split_row_key;

/// Number of the last block whose rows compactions drop; 0 if nothing was pruned. Shared with the engine.
#[derive(Clone, Default)]
pub(crate) struct DroppedBlocks(Arc<AtomicU64>);

impl DroppedBlocks {
    pub(crate) fn raise(&self, number: u64) {
        self.0.fetch_max(number, Ordering::SeqCst);
    }

    fn decide(&self, number: Option<u64>) -> CompactionDecision {
        let dropped = self.0.load(Ordering::Relaxed);
        let is_dropped = dropped > 0 && number.is_some_and(|number| number <= dropped);
        if is_dropped { CompactionDecision::Remove } else { CompactionDecision::Keep }
    }

    /// Returns the filter of the column `changes`.
    pub(crate) fn filter_changes(&self) -> impl FnMut(u32, &[u8], &[u8]) -> CompactionDecision + Send + 'static {
        let dropped = self.clone();
        move |_, key, _| dropped.decide(key.first_chunk().copied().map(u64::from_be_bytes))
    }

    /// Returns the filter of the column `history`.
    pub(crate) fn filter_history(&self) -> impl FnMut(u32, &[u8], &[u8]) -> CompactionDecision + Send + 'static {
        let dropped = self.clone();
        move |_, key, _| dropped.decide(split_row_key(key).map(|(_, number)| number))
    }
}
