//! Numbers of traces of executed transactions, for the pages of `trace_filter`: a later page does not execute skipped transactions again.

use super::ReplayKey;
use lru::LruCache;
use parking_lot::Mutex;
use std::num::NonZeroUsize;

/// Number of blocks. A page skips at most 10,000 traces by default, and each block has at least one.
const MAX_BLOCKS: NonZeroUsize = NonZeroUsize::MIN.saturating_add(16_383);

/// The numbers of traces of the most recently traced blocks.
pub(crate) struct TraceCounts(Mutex<LruCache<ReplayKey, Box<[Option<u32>]>>>);

impl Default for TraceCounts {
    fn default() -> Self {
        Self(Mutex::new(LruCache::new(MAX_BLOCKS)))
    }
}

impl TraceCounts {
    /// Returns the number of traces of each transaction of a block; `None` if it was not traced. Empty for an unknown block.
    pub(crate) fn of(&self, key: &ReplayKey) -> Box<[Option<u32>]> {
        self.0.lock().get(key).cloned().unwrap_or_default()
    }

    /// Adds the number of traces of the transaction at `index` of a block with a number of transactions.
    pub(crate) fn add(&self, key: ReplayKey, transactions: usize, index: usize, traces: usize) {
        let mut blocks = self.0.lock();
        let counts = blocks.get_or_insert_mut(key, || vec![None; transactions].into());
        if let Some(count) = counts.get_mut(index) {
            *count = u32::try_from(traces).ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rhizome_primitives::B256;

    fn key(number: u64) -> ReplayKey {
        ReplayKey { block: B256::left_padding_from(&number.to_be_bytes()), parent_state: B256::ZERO }
    }

    #[test]
    fn knows_what_was_added_to_the_latest_blocks() {
        let counts = TraceCounts::default();
        assert!(counts.of(&key(1)).is_empty());
        counts.add(key(1), 3, 2, 7);
        counts.add(key(1), 3, 0, 1);
        counts.add(key(1), 3, 3, 9);
        assert_eq!(*counts.of(&key(1)), [Some(1), None, Some(7)]);
        (2..=MAX_BLOCKS.get() as u64 + 1).for_each(|number| counts.add(key(number), 1, 0, 1));
        assert!(counts.of(&key(1)).is_empty());
        assert_eq!(*counts.of(&key(2)), [Some(1)]);
    }
}
