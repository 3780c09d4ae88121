use std::sync::{Arc, OnceLock};

use rhizome_evm::{AncestorBlock, AncestryError};
use rhizome_pow::LookUpError;
use rhizome_primitives::{B256, Header};

use crate::archive::Archive;
use crate::{BlockRecord, ChainError};

/// The ancestors of a block that executes on top of a parent, the parent included. Follows the parent's own branch,
/// wherever the best chain goes meanwhile.
pub struct ChainAncestry {
    archive: Arc<Archive>,
    parent: AncestorPosition,
    branch: OnceLock<Branch>,
}

#[derive(Clone, Copy)]
struct AncestorPosition {
    number: u64,
    hash: B256,
}

/// The part of the branch that is off the best chain (highest first), and the block where it leaves it.
struct Branch {
    side: Vec<AncestorPosition>,
    fork: AncestorPosition,
}

impl ChainAncestry {
    pub(crate) fn new(archive: Arc<Archive>, number: u64, hash: B256) -> Self {
        Self { archive, parent: AncestorPosition { number, hash }, branch: OnceLock::new() }
    }

    /// Hash of the ancestor with this number; none above the parent.
    pub fn hash(&self, number: u64) -> Result<Option<B256>, ChainError> {
        if number >= self.parent.number {
            return Ok((number == self.parent.number).then_some(self.parent.hash));
        }
        let branch = self.branch()?;
        if let Some(position) = branch.side.iter().find(|position| position.number == number) {
            return Ok(Some(position.hash));
        }
        let hash = self.archive.store.main_hash(number)?;
        // Readers run beside the writer: the index speaks for this branch only if the branch still meets it.
        if self.archive.is_main(branch.fork.number, &branch.fork.hash)? {
            return Ok(hash);
        }
        let mut cursor = branch.fork;
        while cursor.number > number {
            cursor = self.below(cursor)?;
        }
        Ok(Some(cursor.hash))
    }

    fn branch(&self) -> Result<&Branch, ChainError> {
        if let Some(branch) = self.branch.get() {
            return Ok(branch);
        }
        let mut side = Vec::new();
        let mut cursor = self.parent;
        while !self.archive.is_main(cursor.number, &cursor.hash)? {
            side.push(cursor);
            cursor = self.below(cursor)?;
        }
        Ok(self.branch.get_or_init(|| Branch { side, fork: cursor }))
    }

    fn below(&self, position: AncestorPosition) -> Result<AncestorPosition, ChainError> {
        let missing = || ChainError::MissingBlock { hash: position.hash };
        let hash = self.archive.known_ancestor(&position.hash)?.header.parent().ok_or_else(missing)?;
        Ok(AncestorPosition { number: position.number.checked_sub(1).ok_or_else(missing)?, hash })
    }
}

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
}

impl rhizome_pow::Ancestry for Archive {
    fn header(&self, hash: &B256) -> Result<Option<Arc<Header>>, LookUpError> {
        Ok(self.ancestor(hash)?.map(|ancestor| Arc::new(ancestor.header.clone())))
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
                return Ok((header.number == number).then(|| Arc::new(header.clone())));
            }
            // On the best chain the index by height replaces the walk.
            cursor = if self.is_main(header.number, &cursor)? {
                match self.store.main_hash(number).map_err(ChainError::from)? {
                    Some(hash) => hash,
                    None => return Ok(None),
                }
            } else {
                match header.parent() {
                    Some(parent) => parent,
                    None => return Ok(None),
                }
            };
        }
    }
}
