//! Moves the head to the tip of a long branch in several steps. The chain is consistent after each of them.

use std::mem;
use std::sync::Arc;

use rhizome_storage::{BranchAdoption, BranchOverlay, HeadChange};

use crate::archive::Archive;
use crate::archive::ancestry::{parent_of, walk_to_main};
use crate::archive::record::BlockRecord;
use crate::archive::side_branch::AncestorPosition;
use crate::error::ChainError;
use crate::head::branch_change::{BranchChange, positions};

/// Most blocks that leave or join the best chain in one batch.
const BLOCKS_PER_STEP: usize = 16;

/// A written step.
pub(crate) struct AdoptionStep {
    /// The head after it.
    pub(crate) record: Arc<BlockRecord>,
    /// The generation of the flat state after it.
    pub(crate) generation: u64,
    pub(crate) change: BranchChange,
}

/// Moves the head down to the fork point, then up to the tip. `written` is called after each step.
pub(crate) fn move_head(
    archive: &Archive,
    adoption: &BranchAdoption<'_>,
    mut written: impl FnMut(AdoptionStep),
) -> Result<(), ChainError> {
    let mut step = |record: &Arc<BlockRecord>, change: BranchChange| -> Result<(), ChainError> {
        let (retracted, enacted) = (positions(&change.retracted), positions(&change.enacted));
        let generation = adoption.move_head(&HeadChange { enacted: &enacted, retracted: &retracted })?;
        written(AdoptionStep { record: Arc::clone(record), generation, change });
        Ok(())
    };
    let tip = adoption.tip();
    let (side, fork) = walk_to_main(archive, AncestorPosition { number: tip.number, hash: tip.hash })?;
    let mut record = archive.stored_head()?;
    while record.number() > fork.number {
        let mut retracted = Vec::new();
        while record.number() > fork.number && retracted.len() < BLOCKS_PER_STEP {
            let parent = parent_of(archive, &record)?;
            retracted.push(mem::replace(&mut record, parent));
        }
        step(&record, BranchChange { retracted, enacted: Vec::new() })?;
    }
    // The highest block is the first one.
    for blocks in side.rchunks(BLOCKS_PER_STEP) {
        let enacted = blocks.iter().rev().map(|block| archive.known_record(&block.hash));
        let enacted = enacted.collect::<Result<Vec<_>, _>>()?;
        if let Some(last) = enacted.last().cloned() {
            step(&last, BranchChange { retracted: Vec::new(), enacted })?;
        }
    }
    Ok(())
}

/// Continues an adoption that was interrupted. Removes the rows of a branch that did not win.
pub(crate) fn resume(archive: &Archive) -> Result<(), ChainError> {
    let Some(adoption) = BranchAdoption::resume(&archive.store)? else {
        return Ok(BranchOverlay::discard(&archive.store)?);
    };
    move_head(archive, &adoption, drop)?;
    Ok(adoption.finish()?)
}
