use rhizome_primitives::B256;

/// Number and hash of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AncestorPosition {
    pub(crate) number: u64,
    pub(crate) hash: B256,
}

/// The branch beside the best chain that was extended last, by number: an ancestor on it is one look-up instead of a walk.
#[derive(Default)]
pub(crate) struct SideBranch {
    /// The parent of the lowest block, on the best chain.
    fork: Option<AncestorPosition>,
    /// Hashes from the block above the fork on.
    hashes: Vec<B256>,
}

/// Result of a look-up.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum BranchAncestor {
    /// The ancestor is on the branch.
    OnBranch(B256),
    /// The ancestor is the fork or below it.
    BelowFork(AncestorPosition),
}

impl SideBranch {
    /// A branch on `fork`, lowest block first.
    pub(crate) fn new(fork: AncestorPosition, hashes: Vec<B256>) -> Self {
        Self { fork: Some(fork), hashes }
    }

    /// Adds a block if its parent is the tip. Returns whether it is on the branch now.
    pub(crate) fn extend(&mut self, block: AncestorPosition, parent: &B256) -> bool {
        if self.hashes.last() == Some(parent) {
            self.hashes.push(block.hash);
            return true;
        }
        self.hash_at(block.number) == Some(&block.hash)
    }

    /// Looks up the ancestor of `block` with a lower number. `None` if `block` is not on the branch.
    pub(crate) fn ancestor(&self, block: AncestorPosition, number: u64) -> Option<BranchAncestor> {
        if self.hash_at(block.number) != Some(&block.hash) {
            return None;
        }
        match self.hash_at(number) {
            Some(hash) => Some(BranchAncestor::OnBranch(*hash)),
            None => self.fork.map(BranchAncestor::BelowFork),
        }
    }

    fn hash_at(&self, number: u64) -> Option<&B256> {
        let above = number.checked_sub(self.fork?.number)?.checked_sub(1)?;
        self.hashes.get(usize::try_from(above).ok()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn position(number: u64) -> AncestorPosition {
        AncestorPosition { number, hash: B256::repeat_byte(number as u8) }
    }

    #[test]
    fn finds_ancestors_on_the_branch_and_below() {
        let mut branch = SideBranch::new(position(5), vec![position(6).hash]);
        assert!(branch.extend(position(7), &position(6).hash));
        assert!(branch.extend(position(7), &position(6).hash), "known");
        assert!(!branch.extend(position(9), &position(8).hash));
        assert_eq!(branch.ancestor(position(7), 6), Some(BranchAncestor::OnBranch(position(6).hash)));
        assert_eq!(branch.ancestor(position(7), 5), Some(BranchAncestor::BelowFork(position(5))));
        assert_eq!(branch.ancestor(position(7), 0), Some(BranchAncestor::BelowFork(position(5))));
        assert_eq!(branch.ancestor(position(8), 6), None);
        assert_eq!(SideBranch::default().ancestor(position(8), 6), None);
    }
}
