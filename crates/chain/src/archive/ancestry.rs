use std::sync::{Arc, OnceLock};

use rhizome_evm::{AncestorBlock, AncestryError, BridgeAnswers};
use rhizome_pow::LookUpError;
use rhizome_primitives::{B256, Header};

use crate::archive::Archive;
use crate::archive::record::BlockRecord;
use crate::archive::side_branch::{AncestorPosition, BranchAncestor};
use crate::error::ChainError;

/// The ancestors of a block that executes on top of a parent, the parent included. Follows the parent's own branch,
/// whichever way the best chain goes.
pub struct ChainAncestry {
    archive: Arc<Archive>,
    parent: AncestorPosition,
    branch: OnceLock<BranchWalk>,
}

/// The part of a branch that is off the best chain (highest first), and the block where it leaves the best chain.
struct BranchWalk {
    side: Vec<AncestorPosition>,
    fork: AncestorPosition,
}

impl ChainAncestry {
    pub(crate) fn new(archive: Arc<Archive>, number: u64, hash: B256) -> Self {
        Self { archive, parent: AncestorPosition { number, hash }, branch: OnceLock::new() }
    }

    /// Returns the hash of the ancestor with this number. `None` above the parent.
    pub fn hash(&self, number: u64) -> Result<Option<B256>, ChainError> {
        if number >= self.parent.number {
            return Ok((number == self.parent.number).then_some(self.parent.hash));
        }
        let fork = match self.archive.branch_ancestor(self.parent, number) {
            Some(BranchAncestor::OnBranch(hash)) => return Ok(Some(hash)),
            Some(BranchAncestor::BelowFork(fork)) => fork,
            None => {
                let branch = self.branch()?;
                if let Some(position) = branch.side.iter().find(|position| position.number == number) {
                    return Ok(Some(position.hash));
                }
                branch.fork
            }
        };
        let hash = self.archive.main_hash(number)?;
        // Readers run beside the importer: the index by height holds for this branch only while the fork is on the best chain.
        if self.archive.is_main(fork.number, &fork.hash)? {
            return Ok(hash);
        }
        let mut cursor = fork;
        while cursor.number > number {
            cursor = parent_position(&self.archive, cursor)?;
        }
        Ok(Some(cursor.hash))
    }

    fn branch(&self) -> Result<&BranchWalk, ChainError> {
        if let Some(branch) = self.branch.get() {
            return Ok(branch);
        }
        let (side, fork) = walk_to_main(&self.archive, self.parent)?;
        Ok(self.branch.get_or_init(|| BranchWalk { side, fork }))
    }
}

/// Returns the blocks from `block` down to the best chain, highest first, and the block of the best chain below them.
pub(crate) fn walk_to_main(
    archive: &Archive,
    block: AncestorPosition,
) -> Result<(Vec<AncestorPosition>, AncestorPosition), ChainError> {
    let mut side = Vec::new();
    let mut cursor = block;
    while !archive.is_main(cursor.number, &cursor.hash)? {
        side.push(cursor);
        cursor = parent_position(archive, cursor)?;
    }
    Ok((side, cursor))
}

/// Returns number and hash of the parent of a stored block.
pub(crate) fn parent_position(archive: &Archive, block: AncestorPosition) -> Result<AncestorPosition, ChainError> {
    let missing = || ChainError::MissingBlock { hash: block.hash };
    let hash = archive.known_ancestor(&block.hash)?.header.parent().ok_or_else(missing)?;
    Ok(AncestorPosition { number: block.number.checked_sub(1).ok_or_else(missing)?, hash })
}

/// Returns the parent of a stored block.
pub(crate) fn parent_of(archive: &Archive, record: &BlockRecord) -> Result<Arc<BlockRecord>, ChainError> {
    archive.known_record(&record.parent().ok_or(ChainError::MissingBlock { hash: record.hash })?)
}

impl rhizome_evm::Ancestry for ChainAncestry {
    fn ancestor(&self, number: u64) -> Result<Option<Arc<AncestorBlock>>, AncestryError> {
        let find = || match self.hash(number)? {
            Some(hash) => self.archive.ancestor(&hash),
            None => Ok(None),
        };
        find().map_err(|error: ChainError| AncestryError { number, reason: Box::new(error) })
    }

    fn bridge_answers(&self) -> Option<&dyn BridgeAnswers> {
        self.archive.fork()?.0.bridge_answers()
    }
}

impl rhizome_pow::BlockLookup for Archive {
    fn header(&self, hash: &B256) -> Result<Option<Arc<Header>>, LookUpError> {
        Ok(self.ancestor(hash)?.map(|ancestor| Arc::clone(&ancestor.header)))
    }

    fn uncle_hashes(&self, hash: &B256) -> Result<Option<Vec<B256>>, LookUpError> {
        Ok(self.ancestor(hash)?.map(|ancestor| ancestor.uncles.iter().map(|uncle| uncle.hash()).collect()))
    }

    fn ancestor(&self, descendant: &B256, number: u64) -> Result<Option<Arc<Header>>, LookUpError> {
        let mut cursor = *descendant;
        loop {
            let Some(block) = Archive::ancestor(self, &cursor)? else { return Ok(None) };
            let header = &block.header;
            if header.number <= number {
                return Ok((header.number == number).then(|| Arc::clone(header)));
            }
            let position = AncestorPosition { number: header.number, hash: cursor };
            let on_branch = self.branch_ancestor(position, number);
            // On the best chain, on the indexed branch and among the blocks in flight, the index by height replaces the walk.
            cursor = match on_branch {
                Some(BranchAncestor::OnBranch(hash)) => hash,
                Some(BranchAncestor::BelowFork(fork)) => fork.hash,
                None if self.is_main(header.number, &cursor)? => match self.main_hash(number)? {
                    Some(hash) => hash,
                    None => return Ok(None),
                },
                None => match header.parent() {
                    Some(parent) => parent,
                    None => return Ok(None),
                },
            };
        }
    }
}
