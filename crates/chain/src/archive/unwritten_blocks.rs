use std::collections::VecDeque;
use std::sync::Arc;

use rhizome_evm::AncestorBlock;
use rhizome_primitives::B256;

use crate::archive::side_branch::{AncestorPosition, BranchAncestor};

/// Executed blocks that are not written yet, oldest first, each the child of the one before. There are hundreds of them far behind the
/// head, and each block asks for dozens of its ancestors.
#[derive(Default)]
pub(crate) struct UnwrittenBlocks(VecDeque<Arc<AncestorBlock>>);

impl UnwrittenBlocks {
    pub(crate) fn push(&mut self, block: Arc<AncestorBlock>) {
        self.0.push_back(block);
    }

    /// Removes the oldest block.
    pub(crate) fn pop(&mut self) {
        self.0.pop_front();
    }

    /// Finds a block by its hash.
    pub(crate) fn get(&self, hash: &B256) -> Option<&Arc<AncestorBlock>> {
        self.0.iter().rev().find(|block| block.hash == *hash)
    }

    /// Looks up the ancestor of `block` with a lower number. `None` if `block` is written.
    pub(crate) fn ancestor(&self, block: AncestorPosition, number: u64) -> Option<BranchAncestor> {
        if self.at(block.number)?.hash != block.hash {
            return None;
        }
        if let Some(ancestor) = self.at(number) {
            return Some(BranchAncestor::OnBranch(ancestor.hash));
        }
        let oldest = &self.0.front()?.header;
        let below = AncestorPosition { number: oldest.number.checked_sub(1)?, hash: oldest.parent()? };
        Some(BranchAncestor::BelowFork(below))
    }

    fn at(&self, number: u64) -> Option<&Arc<AncestorBlock>> {
        let index = number.checked_sub(self.0.front()?.header.number)?;
        self.0.get(usize::try_from(index).ok()?)
    }
}

#[cfg(test)]
mod tests {
    use rhizome_primitives::{ChainSpec, Header, U256};

    use super::*;

    fn hash(number: u64) -> B256 {
        B256::repeat_byte(number as u8)
    }

    fn position(number: u64) -> AncestorPosition {
        AncestorPosition { number, hash: hash(number) }
    }

    fn unwritten(numbers: std::ops::RangeInclusive<u64>) -> UnwrittenBlocks {
        let mut blocks = UnwrittenBlocks::default();
        for number in numbers {
            let mut header = Header::new(number, &ChainSpec::regtest());
            header.parent_hash = hash(number - 1).into();
            let block = AncestorBlock {
                hash: hash(number),
                header: Arc::new(header),
                uncles: Vec::new(),
                total_difficulty: U256::ZERO,
            };
            blocks.push(Arc::new(block));
        }
        blocks
    }

    #[test]
    fn finds_ancestors_among_the_blocks_and_below() {
        let mut blocks = unwritten(6..=9);
        assert_eq!(blocks.ancestor(position(9), 7), Some(BranchAncestor::OnBranch(hash(7))));
        assert_eq!(blocks.ancestor(position(9), 6), Some(BranchAncestor::OnBranch(hash(6))));
        assert_eq!(blocks.ancestor(position(9), 5), Some(BranchAncestor::BelowFork(position(5))));
        assert_eq!(blocks.ancestor(position(7), 1), Some(BranchAncestor::BelowFork(position(5))));
        blocks.pop();
        assert_eq!(blocks.ancestor(position(9), 6), Some(BranchAncestor::BelowFork(position(6))));
        assert_eq!(blocks.ancestor(position(6), 5), None, "written");
    }

    #[test]
    fn does_not_know_other_blocks() {
        let blocks = unwritten(6..=9);
        assert_eq!(blocks.ancestor(position(5), 4), None);
        assert_eq!(blocks.ancestor(position(10), 8), None);
        assert_eq!(blocks.ancestor(AncestorPosition { number: 8, hash: hash(1) }, 7), None, "of another branch");
        assert_eq!(UnwrittenBlocks::default().ancestor(position(1), 0), None);
    }
}
