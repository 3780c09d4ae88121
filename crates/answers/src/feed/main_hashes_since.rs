//! How the main chain changed since a cursor.

use crate::error::{Answer, RpcError};
use crate::feed::head_cursor::write_cursor;
use crate::json::JsonWriter;
use crate::node::Node;
use rhizome_primitives::B256;

/// Most blocks in one answer; the cursor then stands on the last of them and the next poll goes on from there.
const MOST_BLOCKS: u64 = 10_000;

/// `{"hashes","removed","cursor"}`: blocks that joined the main chain, lowest first; blocks that left it, highest first;
/// where the next question continues. A cursor on a block that was deleted (`evm_revert`) brings no removed blocks.
pub fn answer(node: &Node, number: u64, hash: &B256) -> Answer {
    let head = node.chain().head().record.clone();
    let (fork, removed) = abandoned(node, number, hash)?;
    let last = head.number().min(fork.saturating_add(MOST_BLOCKS));
    let mut json = JsonWriter::with_capacity(256);
    json.begin_object();
    json.key("hashes").begin_array();
    let mut reached = None;
    for height in fork.saturating_add(1)..=last {
        let Some(record) = node.chain().main_block(height)? else { break };
        json.hash(&record.hash);
        reached = Some(record);
    }
    json.end_array();
    json.key("removed").begin_array();
    removed.iter().for_each(|hash| json.hash(hash));
    json.end_array();
    let standing = match reached {
        Some(record) => record,
        None => node.chain().main_block(fork.min(head.number()))?.unwrap_or(head),
    };
    write_cursor(json.key("cursor"), &standing);
    json.end_object();
    Ok(json.finish())
}

/// The height of the last main chain block at or below the cursor, and the blocks above it on the cursor's branch.
fn abandoned(node: &Node, number: u64, hash: &B256) -> Result<(u64, Vec<B256>), RpcError> {
    let mut removed = Vec::new();
    let (mut height, mut hash) = (number, *hash);
    while node.chain().main_hash(height)? != Some(hash) {
        let Some(record) = node.chain().block(&hash)? else {
            let fork = node.deleted().way_back(&hash).unwrap_or(height);
            return Ok((fork.min(node.chain().head().number()), removed));
        };
        removed.push(hash);
        match (height.checked_sub(1), record.block.header.parent()) {
            (Some(below), Some(parent)) => (height, hash) = (below, parent),
            _ => break,
        }
    }
    Ok((height, removed))
}
