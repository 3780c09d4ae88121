//! The blocks below the ones of a state download: stored later, downwards to genesis, without execution and without receipts
//! (docs/spec/p2p-additions.md, E). Each follows from the parent hash of the one above it.

use rhizome_primitives::{B256, EMPTY_ROOT, U256};
use rhizome_storage::{OlderBlocks, TakenBlock};

use crate::archive::Archive;
use crate::archive::record::cumulative_difficulty;
use crate::error::ChainError;
use crate::import::head_writer::HeadWriter;
use crate::import::prepared_block::PreparedBlock;

/// The lowest stored block above genesis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OldestBlock {
    /// Number of the block.
    pub number: u64,
    /// Hash of its parent.
    pub parent: B256,
    /// Total difficulty of its parent, counted down from that of the state's block, modulo 2^256.
    difficulty_below: U256,
}

/// Blocks right below the oldest one, ready to be stored.
pub(crate) struct NextOlderBlocks {
    /// Descending.
    pub(crate) blocks: Vec<TakenBlock>,
    /// The difference of all total difficulties to the true ones, modulo 2^256, if genesis follows and there is any.
    pub(crate) correction: Option<U256>,
}

/// Returns the lowest stored block above genesis; `None` if the best chain is genesis.
pub(crate) fn oldest_block(archive: &Archive) -> Result<Option<OldestBlock>, ChainError> {
    let Some(number) = OlderBlocks::new(&archive.store).lowest_number()? else { return Ok(None) };
    let Some(record) = archive.main_record(number)? else { return Ok(None) };
    let parent = record.parent().unwrap_or_default();
    let counted = OlderBlocks::new(&archive.store).counted_difficulty(&record.hash)?;
    let counted = counted.ok_or(ChainError::MissingBlock { hash: record.hash })?;
    let difficulty_below = counted.wrapping_sub(record.cumulative_difficulty());
    Ok(Some(OldestBlock { number, parent, difficulty_below }))
}

/// Returns the blocks that can be stored below the oldest one. `blocks`: descending; a block that is not the parent of the block before
/// ends them.
pub(crate) fn next_blocks(archive: &Archive, blocks: &[PreparedBlock]) -> Result<NextOlderBlocks, ChainError> {
    let mut next = NextOlderBlocks { blocks: Vec::new(), correction: None };
    let Some(oldest) = oldest_block(archive)? else { return Ok(next) };
    let OldestBlock { mut number, mut parent, difficulty_below: mut difficulty } = oldest;
    for block in blocks {
        if number <= 1 || (block.block.header.number, block.hash) != (number - 1, parent) {
            break;
        }
        next.blocks.push(taken_block(block, difficulty));
        (number, parent) = (number - 1, block.block.header.parent().unwrap_or_default());
        difficulty = difficulty.wrapping_sub(cumulative_difficulty(&block.block));
    }
    if number == 1 && !next.blocks.is_empty() {
        let genesis = archive.known_record(&archive.store.identity().genesis)?;
        next.correction =
            Some(genesis.total_difficulty.wrapping_sub(difficulty)).filter(|difference| !difference.is_zero());
    }
    Ok(next)
}

/// Stores blocks. May run beside the importer.
pub(crate) fn store(archive: &Archive, blocks: &[TakenBlock]) -> Result<(), ChainError> {
    if blocks.is_empty() { Ok(()) } else { Ok(OlderBlocks::new(&archive.store).write(blocks)?) }
}

/// Stores the blocks down to block 1, and corrects the total difficulties of all blocks above genesis.
pub(crate) fn store_last(writer: &HeadWriter, blocks: &[TakenBlock], correction: U256) -> Result<(), ChainError> {
    let (archive, publisher) = (&writer.steps.archive, &writer.steps.publisher);
    let state = writer.state.lock();
    OlderBlocks::new(&archive.store).write_last(blocks, correction)?;
    archive.forget_all();
    archive.forget_ancestors();
    let record = archive.stored_head()?;
    let snapshot = writer.steps.new_snapshot(&record, state.trie());
    // Contracts can read total difficulties, so verdicts on executions with wrong ones are outdated.
    writer.invalid.clear();
    publisher.publish_state(record, archive.store.generation(), snapshot);
    publisher.note_side_change();
    publisher.note_state_change();
    Ok(())
}

/// Returns the row of a block that is stored without execution.
pub(crate) fn taken_block(prepared: &PreparedBlock, counted_difficulty: U256) -> TakenBlock {
    let (block, header) = (&prepared.block, &prepared.block.header);
    TakenBlock {
        hash: prepared.hash,
        number: header.number,
        raw: prepared.raw.clone(),
        counted_difficulty,
        state_root: B256::try_from(header.state_root.as_ref()).unwrap_or(EMPTY_ROOT),
        senders: prepared.senders().iter().map(|sender| sender.as_ref().copied().unwrap_or_default()).collect(),
        transaction_hashes: block.transactions.iter().map(|transaction| transaction.hash()).collect(),
    }
}
