//! Going back to a lower block of the best chain.

use std::sync::Arc;

use rhizome_storage::{NodeVersions, Rewind};

use crate::archive::derived_trie::move_trie;
use crate::error::ChainError;
use crate::head::branch_change::{BranchChange, positions};
use crate::import::head_writer::HeadWriter;
use crate::import::import_state::ImportState;

/// Heights deleted in one batch. Bounds the memory of a long way back: blocks may change a thousand keys each. The chain is
/// consistent after each batch.
const HEIGHTS_PER_BATCH: u64 = 128;

/// Makes the block of the best chain at `height` the head, deletes all blocks above it, on the best chain and off it, and
/// empties the pool. A height above the head only deletes the blocks above that height.
pub(crate) fn rewind(writer: &mut HeadWriter, height: u64) -> Result<(), ChainError> {
    writer.steps.archive.check_state(height)?;
    let mut top = writer.steps.archive.store.highest_number()?.unwrap_or_default();
    loop {
        let lowest = top.saturating_sub(HEIGHTS_PER_BATCH).max(height);
        delete_above(writer, lowest)?;
        if lowest == height || lowest == 0 {
            break;
        }
        top = lowest;
    }
    // Blocks on the deleted ones may be valid on another state.
    writer.invalid.clear();
    writer.steps.publisher.pool().clear();
    Ok(())
}

fn delete_above(writer: &mut HeadWriter, height: u64) -> Result<(), ChainError> {
    let (archive, publisher) = (&writer.steps.archive, &writer.steps.publisher);
    let mut state = writer.state.lock();
    let head = publisher.head();
    let target = match head.number() <= height {
        true => Arc::clone(&head.record),
        false => archive.main_record(height)?.ok_or(ChainError::MissingHeight { number: height })?,
    };
    let change = BranchChange::plan(archive, &head.record, &target)?;
    archive.remember_deleted(&change.retracted);
    let retracted = positions(&change.retracted);
    let flushed = match archive.store.node_versions() {
        NodeVersions::Current if !retracted.is_empty() => {
            // The flushed trie may contain the deleted blocks.
            let mut trie = state.take_trie();
            move_trie(archive, &mut trie, &head.record, &target)?;
            Some(trie.flush())
        }
        _ => None,
    };
    let rewind = Rewind { height, head: target.hash, retracted: &retracted, state_root: target.state_root, flushed };
    let generation = archive.store.delete_above(rewind)?;
    *state = ImportState::open(&target, archive, &writer.steps.config)?;
    archive.forget_all();
    let snapshot = writer.steps.new_snapshot(&target, state.trie());
    publisher.publish(target, generation, snapshot, &change, &[]);
    // The same block may be mined again, without a change by hand of the state after it.
    publisher.note_state_change();
    Ok(())
}
