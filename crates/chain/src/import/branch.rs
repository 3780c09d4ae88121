//! Executes a branch beside the best chain: the blocks that were stored without execution, then the tip.

use std::ops::ControlFlow;
use std::sync::Arc;

use rhizome_primitives::B256;
use rhizome_storage::{BranchAdoption, BranchOverlay, FlushedTrie, NodeVersions};
use rhizome_trie::{StateDelta, Trie};

use crate::archive::Archive;
use crate::archive::ancestry::walk_to_main;
use crate::archive::record::BlockRecord;
use crate::archive::side_branch::AncestorPosition;
use crate::error::ChainError;
use crate::head::branch_change::BranchChange;
use crate::import::branch_adoption;
use crate::import::head_writer::{FailedBlock, HeadWriter};
use crate::import::import_state::ImportState;
use crate::import::invalid_block::InvalidBlock;
use crate::import::pipeline::PipelineUse;
use crate::import::read_ahead::read_ahead;
use crate::import::rules::ImportFailure;
use crate::import::steps::{CheckedBlock, TrieUse, VerifiedBlock};

/// Most blocks between the head and the tip of a branch whose changes all stay in memory.
const SHORT_BRANCH: u64 = 64;
/// Blocks of a branch that are read ahead.
const BLOCKS_AHEAD: usize = 16;

/// Executes the ancestors of `tip` that are not executed yet, and `tip`. With `becomes_head` it becomes the best block. After a
/// failure the head is as before; the ancestors that were executed stay so.
pub(crate) fn execute(
    writer: &mut HeadWriter,
    state: &mut ImportState,
    tip: CheckedBlock,
    becomes_head: bool,
) -> Result<(), ImportFailure> {
    let parent = tip.block.header.parent().ok_or(ChainError::MissingBlock { hash: tip.hash })?;
    let (ancestors, base) = unexecuted_ancestors(writer, parent)?;
    let position = AncestorPosition { number: tip.block.header.number, hash: tip.hash };
    writer.steps.archive.follow_side_branch(position, &parent)?;
    let head = writer.steps.publisher.head();
    let base_position = base.position();
    let fork = walk_to_main(&writer.steps.archive, base_position)?.1;
    writer.steps.archive.check_branch(position, fork)?;
    let blocks = (head.number() - fork.number) + (position.number - fork.number);
    let is_long = blocks > SHORT_BRANCH;
    let is_long = is_long && prepare_long(writer, state);
    let entered = state.enter_branch(&writer.steps.archive, &head.record, &base, is_long).map_err(ImportFailure::from);
    let executed = entered
        .and_then(|()| execute_ancestors(writer, state, ancestors))
        .and_then(|()| execute_tip(writer, state, tip, becomes_head));
    if executed.is_err() {
        drop(writer.drain(state));
    }
    // Does nothing if the tip became the head.
    state.leave_branch();
    executed
}

/// Flushes the trie of the head, so that the changes of a long branch can leave the memory. Returns false if that failed.
fn prepare_long(writer: &HeadWriter, state: &mut ImportState) -> bool {
    if writer.steps.archive.store.node_versions() == NodeVersions::Current {
        writer.unshare_trie(state);
    }
    state.trie().changed_keys() == 0
}

/// Whether the branch of a block leaves the best chain below the oldest kept state.
pub(crate) fn is_below_history(archive: &Archive, block: &CheckedBlock) -> Result<bool, ChainError> {
    let oldest = archive.store.oldest_state();
    let Some(parent) = block.block.header.parent().filter(|_| oldest > 0) else { return Ok(false) };
    let number = block.block.header.number.saturating_sub(1);
    Ok(walk_to_main(archive, AncestorPosition { number, hash: parent })?.1.number < oldest)
}

/// Returns the hashes from `block` down to the first executed block, lowest first, and that block.
fn unexecuted_ancestors(writer: &HeadWriter, block: B256) -> Result<(Vec<B256>, Arc<BlockRecord>), ChainError> {
    let mut hashes = Vec::new();
    let mut cursor = writer.steps.archive.known_record(&block)?;
    while !cursor.is_executed() {
        hashes.push(cursor.hash);
        let parent = cursor.parent().ok_or(ChainError::MissingBlock { hash: cursor.hash })?;
        cursor = writer.steps.archive.known_record(&parent)?;
    }
    hashes.reverse();
    Ok((hashes, cursor))
}

fn execute_ancestors(writer: &mut HeadWriter, state: &mut ImportState, hashes: Vec<B256>) -> Result<(), ImportFailure> {
    if hashes.is_empty() {
        return Ok(());
    }
    let steps = Arc::clone(&writer.steps);
    let failed = read_ahead(
        hashes,
        BLOCKS_AHEAD,
        |hash| steps.unexecuted(hash),
        |block| match block.map_err(ImportFailure::from).and_then(|block| execute_ancestor(writer, state, block)) {
            Ok(()) => ControlFlow::Continue(()),
            Err(failure) => ControlFlow::Break(failure),
        },
    );
    match failed {
        Some(failure) => Err(failure),
        None => settle(writer, state),
    }
}

fn execute_ancestor(
    writer: &mut HeadWriter,
    state: &mut ImportState,
    block: CheckedBlock,
) -> Result<(), ImportFailure> {
    let (number, hash) = (block.block.header.number, block.hash);
    if let Some(verdict) = writer.invalid.verdict(&hash) {
        return Err(invalid_ancestor(number, hash, &verdict));
    }
    if writer.pipeline.is_full()
        && let Some(failed) = writer.settle_oldest(state)
    {
        return Err(failure_of(failed));
    }
    if writer.pipeline.has_full_trie(state) || state.has_many_branch_changes() {
        settle(writer, state)?;
        state.spill_branch()?;
    }
    let executed =
        writer.steps.execute(block, state.reader(writer.pipeline.unwritten())).map_err(|failure| match failure {
            ImportFailure::Invalid(invalid) => {
                writer.invalid.remember(hash, &invalid);
                invalid_ancestor(number, hash, &invalid)
            }
            error => error,
        })?;
    Ok(writer.pipeline.push(state, executed, PipelineUse::Side, None)?)
}

/// Waits until the ancestors in flight are written.
fn settle(writer: &mut HeadWriter, state: &mut ImportState) -> Result<(), ImportFailure> {
    writer.drain(state).map_or(Ok(()), |failed| Err(failure_of(failed)))
}

fn execute_tip(
    writer: &mut HeadWriter,
    state: &mut ImportState,
    tip: CheckedBlock,
    becomes_head: bool,
) -> Result<(), ImportFailure> {
    let steps = &writer.steps;
    let executed = steps.execute(tip, state.reader(Arc::default()))?;
    let delta = Arc::clone(&executed.delta);
    let mut trie = state.take_trie();
    if !becomes_head {
        return Ok(steps.write_side(steps.compare(executed, &mut trie, TrieUse::Checked)?)?);
    }
    if let Some(overlay) = state.branch_overlay() {
        let verified = steps.compare(executed, &mut trie, TrieUse::Checked)?;
        return adopt_in_steps(writer, state, BranchTip { verified, trie, delta }, overlay);
    }
    let verified = steps.compare(executed, &mut trie, TrieUse::Published)?;
    let head = steps.publisher.head();
    let change = BranchChange::plan(&steps.archive, &head.record, &verified.record)?;
    steps.write_best(verified, &change)?;
    state.adopt_branch(trie, &delta);
    if state.is_full(state.trie().created_nodes()) {
        state.evict();
    }
    Ok(())
}

/// The executed tip of a branch, with the trie after it.
struct BranchTip {
    verified: VerifiedBlock,
    trie: Trie,
    delta: Arc<StateDelta>,
}

/// Makes the tip of a branch whose changes are not all in memory the head.
fn adopt_in_steps(
    writer: &HeadWriter,
    state: &mut ImportState,
    BranchTip { verified, trie, delta }: BranchTip,
    overlay: Arc<BranchOverlay>,
) -> Result<(), ImportFailure> {
    let steps = &writer.steps;
    let (record, changes) = (Arc::clone(&verified.record), Arc::clone(&verified.changes));
    steps.write_side(verified)?;
    state.put_trie(trie);
    state.extend_branch(&changes);
    state.spill_branch()?;
    let tip = FlushedTrie { number: record.number(), hash: record.hash, root: record.state_root };
    let adoption = BranchAdoption::begin(&steps.archive.store, tip, overlay).map_err(ChainError::from)?;
    let moved = branch_adoption::move_head(&steps.archive, &adoption, |step| {
        let snapshot = match step.record.hash == tip.hash {
            true => steps.new_snapshot(&step.record, state.trie()),
            // Tries of the blocks in between are derived from that of the last head.
            false => steps.last_snapshot(&step.record, state.trie(), false),
        };
        steps.publisher.publish(step.record, step.generation, snapshot, &step.change, &step.change.retracted);
    });
    let trie = state.take_trie();
    match moved.and_then(|()| Ok(adoption.finish()?)) {
        Ok(()) => {
            state.adopt_branch(trie, &delta);
            Ok(())
        }
        Err(error) => {
            state.abandon_branch(steps.publisher.head().record.state_root);
            Err(error.into())
        }
    }
}

fn failure_of((block, failure): FailedBlock) -> ImportFailure {
    match failure {
        ImportFailure::Invalid(invalid) => invalid_ancestor(block.header.number, block.hash, &invalid),
        error => error,
    }
}

fn invalid_ancestor(number: u64, hash: B256, invalid: &InvalidBlock) -> ImportFailure {
    ImportFailure::Invalid(InvalidBlock::Ancestor { number, hash, reason: invalid.to_string() })
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;
    use std::sync::Arc;

    use rhizome_primitives::{Bytes, ChainSpec};

    use crate::{Chain, ChainConfig, DataDir};

    const NOW: u64 = 1_700_000_000;

    fn open(name: &'static str) -> Arc<Chain> {
        let mut config = ChainConfig::new(Arc::new(ChainSpec::regtest()), DataDir::Temporary);
        config.extra_data = Bytes::from_static(name.as_bytes());
        Chain::open(config).unwrap()
    }

    fn mined(name: &'static str, count: u64) -> Vec<Vec<u8>> {
        let chain = open(name);
        (0..count).map(|_| chain.mine(NOW).unwrap().block.encode()).collect()
    }

    /// Imports blocks. Returns the number of ancestors that were looked up.
    fn ancestor_reads(chain: &Chain, blocks: &[Vec<u8>]) -> u64 {
        let archive = &chain.importer().steps.archive;
        let before = archive.ancestor_reads();
        chain.import_stream(blocks.iter().cloned(), |_| ControlFlow::Continue(())).unwrap();
        archive.ancestor_reads() - before
    }

    #[test]
    fn a_branch_looks_up_as_many_ancestors_as_the_best_chain() {
        let (head, branch) = (mined("head", 600), mined("branch", 620));
        let straight = ancestor_reads(&open(""), &branch);
        let chain = open("");
        ancestor_reads(&chain, &head);
        let over = ancestor_reads(&chain, &branch);
        assert_eq!(chain.head().number(), 620);
        assert!(over < 3 * straight, "{over} look-ups, {straight} on the best chain");
    }
}
