//! Changes of the state by hand, for development networks: balances, nonces, code and storage slots.
//!
//! The state after the best block is replaced, its header is not. Every reader and the next block see the change at once, it
//! survives a restart, and a way back to the block keeps it. The next block names the root that follows from it: this node, which
//! stores the change, can verify that block; every other node rejects it.

use std::sync::Arc;

use rhizome_evm::State;
use rhizome_primitives::B256;
use rhizome_storage::{ChangeSet, StateChange};
use rhizome_trie::{StateDelta, StateError};

use crate::error::ChainError;
use crate::import::head_writer::HeadWriter;
use crate::import::import_state::ImportState;

/// Changes the state after the best block.
pub(crate) fn change_state(
    writer: &mut HeadWriter,
    change: impl FnOnce(&mut State) -> Result<(), StateError>,
) -> Result<(), ChainError> {
    let mut changed = State::new(writer.steps.publisher.head().state());
    change(&mut changed)?;
    let head_state = writer.steps.publisher.head().state();
    let (mut delta, prior_values) = changed.into_changes();
    writer.steps.archive.store.base().hide_deleted(&mut delta, &*head_state)?;
    delta.delete_key_by_key(&*head_state)?;
    if delta.is_empty() {
        return Ok(());
    }
    let shared = Arc::clone(&writer.state);
    let state = &mut *shared.lock();
    let changes = writer.steps.archive.store.base().changes(&*head_state, &delta, prior_values.as_ref())?;
    replace_state(writer, state, &changes, &delta)
}

/// If `block` is the best block, replaces the state after it by the state of its transactions with `changes`.
pub(crate) fn restore_state(writer: &mut HeadWriter, block: &B256, changes: &ChangeSet) -> Result<(), ChainError> {
    let archive = Arc::clone(&writer.steps.archive);
    if writer.steps.publisher.head().hash() != *block {
        return Ok(());
    }
    let replaced = archive.store.replaced_state(block)?;
    let mut difference = replaced.map(|replaced| replaced.changes.reversed()).unwrap_or_default();
    difference.extend(changes);
    if difference.is_empty() {
        return Ok(());
    }
    let shared = Arc::clone(&writer.state);
    let state = &mut *shared.lock();
    let delta = archive.store.delta_of(&difference)?;
    replace_state(writer, state, &difference, &delta)
}

/// Makes `changes` to the state after the best block; `delta` has their new values.
fn replace_state(
    writer: &HeadWriter,
    state: &mut ImportState,
    changes: &ChangeSet,
    delta: &StateDelta,
) -> Result<(), ChainError> {
    let (archive, publisher) = (&writer.steps.archive, &writer.steps.publisher);
    let head = publisher.head();
    let mut trie = state.trie().clone();
    // Flushed: the changes since an earlier flush would lead to the state before.
    let nodes = writer.steps.apply(&mut trie, delta, &|_key| None, |_| true)?;
    let state_root = trie.root_hash();
    let (number, hash) = (head.number(), head.hash());
    let change = StateChange { number, head: hash, state_root, nodes, changes };
    let generation = archive.store.write_state(change)?;
    let record = Arc::new(head.record.with_state_root(state_root));
    let snapshot = writer.steps.new_snapshot(&record, &trie);
    state.advance(trie, delta);
    if archive.store.base().is_fork() {
        // Keys that became unwritten again have the values of the other chain.
        state.forget_values();
    }
    // Blocks that were invalid on the state before may be valid now.
    writer.invalid.clear();
    archive.replace_record(&record);
    publisher.publish_state(record, generation, snapshot);
    publisher.note_state_change();
    Ok(())
}
