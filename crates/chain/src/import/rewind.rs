//! Going back to a lower block of the best chain.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread::{self, Builder};

use rhizome_storage::{ChangeSet, NodeVersions, Rewind};

use crate::archive::Archive;
use crate::error::ChainError;
use crate::head::branch_change::{BranchChange, positions};
use crate::import::head_writer::HeadWriter;
use crate::import::import_state::ImportState;

/// Most heights that are deleted in one batch. The chain is consistent after each batch.
const HEIGHTS_PER_BATCH: u64 = 1024;

/// Blocks that are deleted in one batch.
struct RewindBatch {
    /// Height above which all blocks up to those of the batch before are deleted.
    height: u64,
    /// Changes from the state of the head to that after the block of the best chain at the height.
    difference: ChangeSet,
}

impl RewindBatch {
    /// Plans a batch from the height `top` down to at least `height`.
    fn plan(archive: &Archive, top: u64, height: u64, most_changes: usize) -> Result<Self, ChainError> {
        let mut batch = Self { height: top, difference: ChangeSet::default() };
        let lowest = top.saturating_sub(HEIGHTS_PER_BATCH).max(height);
        while batch.height > lowest && batch.difference.len() < most_changes {
            if let Some(hash) = archive.store.main_hash(batch.height)? {
                batch.difference.extend(&archive.store.changes(batch.height, &hash)?.reversed());
            }
            batch.height -= 1;
        }
        Ok(batch)
    }
}

/// Makes the block of the best chain at `height` the head, deletes all blocks above it, on the best chain and off it, and
/// empties the pool. A height above the head only deletes the blocks above that height.
pub(crate) fn rewind(writer: &mut HeadWriter, height: u64) -> Result<(), ChainError> {
    let steps = Arc::clone(&writer.steps);
    steps.archive.check_state(height)?;
    let top = steps.archive.store.highest_number()?.unwrap_or_default().max(height);
    let plan = |top| RewindBatch::plan(&steps.archive, top, height, steps.config.changes_per_batch());
    let mut batch = plan(top)?;
    loop {
        let next = thread::scope(|scope| {
            let plan_next = || (batch.height > height).then(|| plan(batch.height)).transpose();
            // Reads the changes of lower blocks while those of this batch are written; after that if the system refuses a thread.
            let planning = Builder::new().name("rewind-plan".into()).spawn_scoped(scope, plan_next);
            delete_above(writer, &batch)?;
            planning.map_or_else(
                |_refused| plan_next(),
                |thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
            )
        })?;
        match next {
            Some(next) => batch = next,
            None => break,
        }
    }
    // Blocks on the deleted ones may be valid on another state.
    writer.invalid.clear();
    writer.steps.publisher.pool().clear();
    Ok(())
}

fn delete_above(writer: &HeadWriter, batch: &RewindBatch) -> Result<(), ChainError> {
    let mut state = writer.state.lock();
    let done = delete_blocks(writer, &mut state, batch);
    if done.is_err() {
        let head = writer.steps.publisher.head();
        // A failure shows again at the next block.
        drop(state.reopen(&head.record, &writer.steps.archive));
    }
    done
}

fn delete_blocks(writer: &HeadWriter, state: &mut ImportState, batch: &RewindBatch) -> Result<(), ChainError> {
    let (archive, publisher) = (&writer.steps.archive, &writer.steps.publisher);
    let RewindBatch { height, difference } = batch;
    let head = publisher.head();
    let target = match head.number() <= *height {
        true => Arc::clone(&head.record),
        false => archive.main_record(*height)?.ok_or(ChainError::MissingHeight { number: *height })?,
    };
    let change = BranchChange::plan(archive, &head.record, &target)?;
    archive.remember_deleted(&change.retracted);
    let retracted = positions(&change.retracted);
    let (mut trie, mut flushed) = (state.trie_after(&target, difference)?, None);
    if archive.store.node_versions() == NodeVersions::Current && !retracted.is_empty() {
        // The flushed trie may contain the deleted blocks.
        flushed = Some(trie.flush());
    }
    let (head, state_root, is_flushed) = (target.hash, target.state_root, flushed.is_some());
    let rewind = Rewind { height: *height, head, retracted: &retracted, difference, state_root, flushed };
    let generation = archive.store.delete_above(rewind)?;
    state.return_to(trie);
    archive.forget_all();
    // The next batch would copy all nodes that readers share.
    let snapshot = writer.steps.last_snapshot(&target, state.trie(), is_flushed);
    publisher.publish(target, generation, snapshot, &change, &[]);
    // The same block may be mined again, without a change by hand of the state after it.
    publisher.note_state_change();
    Ok(())
}
