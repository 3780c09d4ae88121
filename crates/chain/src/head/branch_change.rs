//! The blocks that leave and join the best chain when another block becomes its tip.

use std::sync::Arc;

use rhizome_primitives::B256;

use crate::archive::Archive;
use crate::archive::ancestry::parent_of;
use crate::archive::record::BlockRecord;
use crate::error::ChainError;

/// The blocks that leave and join the best chain.
pub(crate) struct BranchChange {
    /// Highest first.
    pub(crate) retracted: Vec<Arc<BlockRecord>>,
    /// Lowest first. The new tip is the last one.
    pub(crate) enacted: Vec<Arc<BlockRecord>>,
}

impl BranchChange {
    /// Plans the change from the tip `old` to the tip `new`, whose ancestors are stored.
    pub(crate) fn plan(archive: &Archive, old: &Arc<BlockRecord>, new: &Arc<BlockRecord>) -> Result<Self, ChainError> {
        let mut change = Self { retracted: Vec::new(), enacted: Vec::new() };
        let (mut low, mut high) = (Arc::clone(old), Arc::clone(new));
        while low.hash != high.hash {
            if high.number() >= low.number() {
                let parent = parent_of(archive, &high)?;
                change.enacted.push(std::mem::replace(&mut high, parent));
            } else {
                let parent = parent_of(archive, &low)?;
                change.retracted.push(std::mem::replace(&mut low, parent));
            }
        }
        change.enacted.reverse();
        Ok(change)
    }
}

/// Returns number and hash of each record.
pub(crate) fn positions(records: &[Arc<BlockRecord>]) -> Vec<(u64, B256)> {
    records.iter().map(|record| (record.number(), record.hash)).collect()
}

/// Returns the hash of each record.
pub(crate) fn hashes(records: &[Arc<BlockRecord>]) -> Vec<B256> {
    records.iter().map(|record| record.hash).collect()
}
