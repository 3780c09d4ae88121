//! Blocks that passed the header checks and are possibly not on disk yet. Peers ask for them as soon as they are announced.

use parking_lot::Mutex;
use rhizome_primitives::{B256, Bytes};
use std::collections::{HashMap, VecDeque};

/// Maximum number of blocks.
const MAX_BLOCKS: usize = 64;
/// Size in bytes above which the oldest blocks are removed.
const MAX_BYTES: usize = 32 << 20;

/// Encodings of the blocks that were accepted last.
#[derive(Default)]
pub(crate) struct AcceptedBlocks(Mutex<AcceptedByAge>);

#[derive(Default)]
struct AcceptedByAge {
    blocks: HashMap<B256, Bytes>,
    order: VecDeque<B256>,
    bytes: usize,
}

impl AcceptedBlocks {
    /// Adds a block. Returns false if it is there already.
    pub(super) fn insert(&self, hash: B256, raw: Bytes) -> bool {
        let mut accepted = self.0.lock();
        let size = raw.len();
        if accepted.blocks.contains_key(&hash) {
            return false;
        }
        accepted.blocks.insert(hash, raw);
        accepted.order.push_back(hash);
        accepted.bytes += size;
        while (accepted.order.len() > MAX_BLOCKS || accepted.bytes > MAX_BYTES)
            && let Some(oldest) = accepted.order.pop_front()
        {
            let removed = accepted.blocks.remove(&oldest);
            accepted.bytes -= removed.map_or(0, |raw| raw.len());
        }
        true
    }

    /// Returns the encoding of a block.
    pub(crate) fn get(&self, hash: &B256) -> Option<Bytes> {
        self.0.lock().blocks.get(hash).cloned()
    }

    pub(super) fn contains(&self, hash: &B256) -> bool {
        self.0.lock().blocks.contains_key(hash)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_blocks_are_removed() {
        let accepted = AcceptedBlocks::default();
        let hash = |number: usize| B256::left_padding_from(&number.to_be_bytes());
        for number in 0..=MAX_BLOCKS {
            assert!(accepted.insert(hash(number), Bytes::from_static(b"block")));
        }
        assert!(!accepted.insert(hash(MAX_BLOCKS), Bytes::new()));
        assert!(!accepted.contains(&hash(0)) && accepted.contains(&hash(1)));
        accepted.insert(hash(100), vec![0; MAX_BYTES].into());
        assert!(accepted.get(&hash(MAX_BLOCKS)).is_none() && accepted.get(&hash(100)).is_some());
    }
}
