use std::num::NonZeroUsize;

use lru::LruCache;
use parking_lot::Mutex;
use rhizome_primitives::B256;

use crate::import::invalid_block::InvalidBlock;

/// Number of hashes remembered.
const CAPACITY: NonZeroUsize = NonZeroUsize::MIN.saturating_add(8_191);

/// Hashes of blocks that were found invalid, each with the broken rule. Bounded: the least recently seen is evicted.
pub(crate) struct InvalidBlocks(Mutex<LruCache<B256, String>>);

impl Default for InvalidBlocks {
    fn default() -> Self {
        Self(Mutex::new(LruCache::new(CAPACITY)))
    }
}

impl InvalidBlocks {
    /// Remembers a block if every block with its hash breaks the same rule.
    pub(crate) fn remember(&self, hash: B256, invalid: &InvalidBlock) {
        if invalid.holds_for_hash() {
            self.0.lock().put(hash, invalid.to_string());
        }
    }

    /// Returns the verdict on a remembered hash.
    pub(crate) fn verdict(&self, hash: &B256) -> Option<InvalidBlock> {
        let reason = self.0.lock().get(hash)?.clone();
        Some(InvalidBlock::KnownInvalid { hash: *hash, reason })
    }

    /// Forgets everything. Called when the state after a block is replaced: blocks on it may be valid now.
    pub(crate) fn clear(&self) {
        self.0.lock().clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remembers_a_bounded_number_of_hashes() {
        let blocks = InvalidBlocks::default();
        let hash = |number: usize| B256::left_padding_from(&number.to_be_bytes());
        for number in 0..=CAPACITY.get() {
            blocks.remember(hash(number), &InvalidBlock::SublistConflict);
        }
        assert!(blocks.verdict(&hash(0)).is_none());
        assert!(blocks.verdict(&hash(1)).is_some());
        blocks.clear();
        assert!(blocks.verdict(&hash(1)).is_none());
    }

    #[test]
    fn does_not_remember_rules_that_do_not_bind_the_hash() {
        let blocks = InvalidBlocks::default();
        let invalid = InvalidBlock::TransactionsRoot { header: String::new(), computed: B256::ZERO };
        blocks.remember(B256::ZERO, &invalid);
        assert!(blocks.verdict(&B256::ZERO).is_none());
    }
}
