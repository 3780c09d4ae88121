//! The blocks below the ones of a state download: stored later, downwards to genesis, without execution and without receipts
//! (docs/spec/p2p-additions.md, E). Each follows from the parent hash of the one above it.

use rhizome_primitives::{B256, EMPTY_ROOT, U256};
use rhizome_storage::{OlderBlocks, TakenBlock};

use crate::archive::Archive;
use crate::archive::record::cumulative_difficulty;
use crate::error::ChainError;
use crate::import::prepared_block::PreparedBlock;

/// The lowest stored block above genesis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OldestBlock {
    /// Number of the block.
    pub number: u64,
    /// Hash of its parent.
    pub parent: B256,
    /// Total difficulty of its parent, as far as that of the state's block is right.
    difficulty_below: U256,
}

/// Returns the lowest stored block above genesis; `None` if the best chain is genesis.
pub(crate) fn oldest_block(archive: &Archive) -> Result<Option<OldestBlock>, ChainError> {
    let Some(number) = OlderBlocks::new(&archive.store).lowest_number()? else { return Ok(None) };
    let Some(record) = archive.main_record(number)? else { return Ok(None) };
    let parent = record.parent().unwrap_or_default();
    let difficulty_below = record.total_difficulty.saturating_sub(record.cumulative_difficulty());
    Ok(Some(OldestBlock { number, parent, difficulty_below }))
}

/// Stores blocks below the oldest one, descending; stops before a block that is not the parent of the block before. Returns their number.
pub(crate) fn add_older_blocks(archive: &Archive, blocks: &[PreparedBlock]) -> Result<usize, ChainError> {
    let Some(oldest) = oldest_block(archive)? else { return Ok(0) };
    let OldestBlock { mut number, mut parent, difficulty_below: mut difficulty } = oldest;
    let mut taken = Vec::new();
    for block in blocks {
        if number <= 1 || (block.block.header.number, block.hash) != (number - 1, parent) {
            break;
        }
        taken.push(taken_block(block, difficulty));
        (number, parent) = (number - 1, block.block.header.parent().unwrap_or_default());
        difficulty = difficulty.saturating_sub(cumulative_difficulty(&block.block));
    }
    if !taken.is_empty() {
        OlderBlocks::new(&archive.store).write(&taken)?;
    }
    Ok(taken.len())
}

/// Returns the row of a block that is stored without execution.
pub(crate) fn taken_block(prepared: &PreparedBlock, total_difficulty: U256) -> TakenBlock {
    let (block, header) = (&prepared.block, &prepared.block.header);
    TakenBlock {
        hash: prepared.hash,
        number: header.number,
        raw: prepared.raw.clone(),
        total_difficulty,
        state_root: B256::try_from(header.state_root.as_ref()).unwrap_or(EMPTY_ROOT),
        senders: prepared.senders().iter().map(|sender| sender.as_ref().copied().unwrap_or_default()).collect(),
        transaction_hashes: block.transactions.iter().map(|transaction| transaction.hash()).collect(),
    }
}
