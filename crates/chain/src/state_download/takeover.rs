//! Takeover of a complete download: its state and blocks become those of the chain.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use rhizome_primitives::{Block, ChainSpec, U256};
use rhizome_storage::{CurrentNodes, StateTakeover, Store, TakenBlock};
use rhizome_trie::Trie;

use super::{FOLDER, StateDownload, StatePivot, blocks, replace_file, segment};
use crate::error::ChainError;
use crate::head::branch_change::BranchChange;
use crate::import::head_writer::HeadWriter;
use crate::import::import_state::ImportState;
use crate::import::prepared_block::PreparedBlock;
use crate::older_blocks::taken_block;

/// File of the total difficulty of the pivot.
const DIFFICULTY: &str = "difficulty";
/// Values above this length are not part of their node's message.
const SHORT_VALUE: usize = 32;

/// Makes the state of a complete download that of the chain, and its pivot the head, with a total difficulty. The head must be
/// genesis.
pub(crate) fn take_over(writer: &mut HeadWriter, download: &StateDownload, difficulty: U256) -> Result<(), ChainError> {
    let (archive, publisher) = (&writer.steps.archive, &writer.steps.publisher);
    if publisher.head().number() > 0 {
        return Err(ChainError::HasBlocks);
    }
    let mut state = writer.state.lock();
    replace_file(&download.folder, DIFFICULTY, &difficulty.to_be_bytes::<32>())?;
    finish(download, difficulty)?;
    archive.forget_all();
    let record = archive.stored_head()?;
    *state = ImportState::open(&record, archive, &writer.steps.config)?;
    let snapshot = writer.steps.new_snapshot(&record, state.trie());
    let change = BranchChange { retracted: Vec::new(), enacted: Vec::new() };
    publisher.publish(record, archive.store.generation(), snapshot, &change, &[]);
    publisher.note_state_change();
    Ok(StateDownload::discard(&archive.store)?)
}

/// Finishes a takeover that a kill has interrupted. If that is not possible, the chain begins at genesis again.
pub(crate) fn finish_after_kill(store: &Arc<Store>, spec: &Arc<ChainSpec>) -> Result<(), ChainError> {
    let takeover = StateTakeover::new(store);
    if !takeover.is_under_way()? {
        return Ok(());
    }
    let finished = resume(store, spec);
    match finished {
        Err(error) if error.is_write_fault() => return Err(error),
        Err(_) => takeover.give_up()?,
        Ok(()) => {}
    }
    Ok(StateDownload::discard(store)?)
}

fn resume(store: &Arc<Store>, spec: &Arc<ChainSpec>) -> Result<(), ChainError> {
    let difficulty = fs::read(store.dir().join(FOLDER).join(DIFFICULTY))?;
    match StateDownload::resume(store, spec)? {
        Some(download) => {
            let number = download.pivot.number;
            let difficulty = <[u8; 32]>::try_from(difficulty).or(Err(ChainError::IncompleteState { number }))?;
            finish(&download, U256::from_be_bytes(difficulty))
        }
        None => Err(ChainError::IncompleteState { number: 0 }),
    }
}

fn finish(download: &StateDownload, difficulty: U256) -> Result<(), ChainError> {
    let StateDownload { pivot, folder, store, spec, plan, .. } = download;
    if !download.is_complete() {
        return Err(ChainError::IncompleteState { number: pivot.number });
    }
    let (names, nodes, size) = {
        let plan = plan.lock();
        let names: Vec<String> = plan.segments.iter().map(|one| segment::name(one.start())).collect();
        (names, plan.segments.iter().map(segment::Segment::nodes).sum::<u64>(), plan.trie_size)
    };
    let takeover = StateTakeover::new(store);
    takeover.begin(folder, &names)?;
    check_whole(store, pivot, nodes, size.unwrap_or_default())?;
    let genesis = store.identity().genesis;
    let genesis = store.block(&genesis)?.ok_or(ChainError::MissingBlock { hash: genesis })?;
    let blocks = taken_blocks(folder, pivot, (difficulty, genesis.total_difficulty), spec)?;
    takeover.finish(&blocks)?;
    Ok(())
}

/// Walks the whole trie in the database: each node is compared with the hash in its parent, number and size with those of the
/// chunks.
fn check_whole(store: &Arc<Store>, pivot: &StatePivot, nodes: u64, size: u64) -> Result<(), ChainError> {
    let (mut found, mut bytes) = (0_u64, 0_u64);
    for node in Trie::open_by_position(pivot.root, Arc::new(CurrentNodes::new(store))).nodes() {
        let node = node?;
        found += u64::from(!node.is_embedded);
        let outside = if node.value_length > SHORT_VALUE { node.value_length } else { 0 };
        bytes += (node.message.len() + outside) as u64;
    }
    if (found, bytes) == (nodes, size) { Ok(()) } else { Err(ChainError::IncompleteState { number: pivot.number }) }
}

/// Returns the blocks, ascending. Total difficulties follow from that of genesis if all blocks are there, otherwise from that of the
/// pivot downwards.
fn taken_blocks(
    folder: &Path,
    pivot: &StatePivot,
    (mut difficulty, of_genesis): (U256, U256),
    spec: &ChainSpec,
) -> Result<Vec<TakenBlock>, ChainError> {
    let mut taken = Vec::new();
    for raw in blocks::read_records(folder)? {
        let block = Block::decode(&raw, spec);
        let block = block.map_err(|source| ChainError::StoredBlock { hash: pivot.hash, source })?;
        let own = blocks::own_difficulty(&block);
        taken.push(taken_block(&PreparedBlock::new(block), difficulty));
        difficulty = difficulty.wrapping_sub(own);
    }
    taken.reverse();
    if taken.first().is_some_and(|lowest: &TakenBlock| lowest.number == 1) {
        let missing = of_genesis.wrapping_sub(difficulty);
        for block in &mut taken {
            block.counted_difficulty = block.counted_difficulty.wrapping_add(missing);
        }
    }
    Ok(taken)
}
