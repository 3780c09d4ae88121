//! Answers to snap clients (docs/spec/p2p.md, 10.2). Only with `serves_snap`.

use super::chain_server::{ChainServer, ServeError};
use crate::snap::pivot_below;
use rhizome_chain::{ChainError, STATE_CHUNK_BYTES};
use rhizome_wire::rsk::{EncodedList, RskMessage, WeighedBlocks, block_strings};

/// Maximum number of blocks in an answer, and of those below a checkpoint.
const BLOCKS: u64 = 400;
/// Size in bytes above which an answer has fewer blocks: a frame is below 8 MiB.
const MAX_BYTES: usize = 7 << 20;

/// Returns the payload of the answer; `None` if there is none.
pub(super) fn answer(server: &ChainServer, request: RskMessage<'_>) -> Result<Option<Vec<u8>>, ServeError> {
    let best = server.chain.head().number();
    match request {
        RskMessage::SnapBlocksRequest { id, number } if (2..=best).contains(&number) => {
            weighed(server, number.saturating_sub(BLOCKS).max(1), number - 1, |blocks| RskMessage::SnapBlocksResponse {
                id,
                blocks,
            })
        }
        RskMessage::SnapStatusRequest { id } => {
            let checkpoint = pivot_below(best).unwrap_or_default();
            let Some(trie_size) = trie_size(server, checkpoint)? else { return Ok(None) };
            weighed(server, checkpoint.saturating_sub(BLOCKS), checkpoint, |blocks| RskMessage::SnapStatusResponse {
                id,
                blocks,
                trie_size,
            })
        }
        RskMessage::StateChunkRequest { id, number, from, .. } => state_chunk(server, id, number, from),
        _ => Ok(None),
    }
}

/// Returns the message with blocks of the main chain, both ends included; `None` without any. Leaves out the lowest blocks above the
/// size limit, and below the lowest stored one.
fn weighed(
    server: &ChainServer,
    from: u64,
    to: u64,
    message: impl FnOnce(WeighedBlocks<'_>) -> RskMessage<'_>,
) -> Result<Option<Vec<u8>>, ServeError> {
    let (mut raws, mut difficulties, mut size) = (Vec::new(), Vec::new(), 0);
    for number in (from..=to).rev() {
        let Some(record) = server.chain.main_block(number)? else { break };
        size += record.size;
        if size > MAX_BYTES && !raws.is_empty() {
            break;
        }
        let Some(raw) = server.chain.raw_block(&record.hash)? else { break };
        raws.push(raw);
        difficulties.push(record.total_difficulty);
    }
    if raws.is_empty() {
        return Ok(None);
    }
    raws.reverse();
    difficulties.reverse();
    let strings = block_strings(raws.iter().map(AsRef::as_ref));
    let blocks = WeighedBlocks::new(EncodedList::decode(&strings, "blocks")?, difficulties)?;
    Ok(Some(message(blocks).encode()))
}

/// Returns the size of the state trie after a block of the main chain; `None` if there is no snapshot of it.
fn trie_size(server: &ChainServer, number: u64) -> Result<Option<u64>, ServeError> {
    let Some(snapshot) = server.chain.state_snapshot(number)? else { return Ok(None) };
    Ok(Some(snapshot.trie().size().map_err(ChainError::from)?))
}

/// Returns the part of the state trie after a block of the main chain from byte `from` on; `None` beyond its end or if there is no
/// snapshot of the state.
fn state_chunk(server: &ChainServer, id: u64, number: u64, from: u64) -> Result<Option<Vec<u8>>, ServeError> {
    let Some(snapshot) = server.chain.state_snapshot(number)? else { return Ok(None) };
    let Some(built) = snapshot.chunk(from)? else { return Ok(None) };
    let (chunk, to, is_complete) = (&built.bytes, from.saturating_add(STATE_CHUNK_BYTES), built.is_complete);
    Ok(Some(RskMessage::StateChunkResponse { id, chunk, number, from, to, is_complete }.encode()))
}
