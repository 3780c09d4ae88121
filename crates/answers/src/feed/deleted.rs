//! Blocks that a rewind deleted (`evm_revert`, `evm_reset`). Cursors on deleted blocks are resolved with them.

use parking_lot::Mutex;
use rhizome_primitives::B256;
use std::collections::VecDeque;

/// Deleted blocks that are remembered, in the order of their deletion.
const MEMORY: usize = 16_384;

/// Deleted blocks, each with the height that the chain went back to.
#[derive(Debug, Default)]
pub(crate) struct DeletedBlocks(Mutex<VecDeque<(B256, u64)>>);

impl DeletedBlocks {
    /// Remembers that the chain went back to a height and lost a block.
    pub(crate) fn push(&self, hash: B256, height: u64) {
        let mut deleted = self.0.lock();
        if deleted.len() == MEMORY {
            deleted.pop_front();
        }
        deleted.push_back((hash, height));
    }

    /// Returns the lowest height of the chain since the block was deleted: up to it the chain is unchanged. `None` for a block
    /// that is not remembered.
    pub(crate) fn way_back(&self, hash: &B256) -> Option<u64> {
        let deleted = self.0.lock();
        let at = deleted.iter().rposition(|(known, _height)| known == hash)?;
        deleted.range(at..).map(|(_hash, height)| *height).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_losses_lead_further_back() {
        let deleted = DeletedBlocks::default();
        let block = B256::with_last_byte;
        deleted.push(block(5), 3);
        deleted.push(block(4), 3);
        assert_eq!(deleted.way_back(&block(5)), Some(3));
        deleted.push(block(14), 1);
        assert_eq!(deleted.way_back(&block(4)), Some(1));
        deleted.push(block(22), 2);
        assert_eq!(deleted.way_back(&block(22)), Some(2));
        assert_eq!(deleted.way_back(&block(9)), None);
    }
}
