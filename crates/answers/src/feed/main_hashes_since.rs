//! How the main chain changed since a cursor.

use crate::error::{Answer, RpcError};
use crate::feed::head_cursor::write_cursor;
use crate::json::JsonWriter;
use crate::node::Node;
use rhizome_chain::BlockRecord;
use rhizome_primitives::B256;
use std::sync::Arc;

/// `{"hashes","removed","cursor"}`: blocks that joined the main chain, lowest first and at most `most`; blocks that left
/// it, highest first; where the next question continues. A cursor on a block that was deleted (`evm_revert`) brings no
/// removed blocks.
pub fn answer(node: &Node, number: u64, hash: &B256, most: u64) -> Answer {
    let Way { mut standing, removed } = way(node, number, hash)?;
    let fork = standing.number();
    let last = node.chain().head().number().min(fork.saturating_add(most));
    let mut json = JsonWriter::with_capacity(256);
    json.begin_object();
    json.key("hashes").begin_array();
    for height in fork.saturating_add(1)..=last {
        let Some(record) = node.chain().main_block(height)? else { break };
        // The chain may change while it is read: a block of a different branch belongs to the next answer.
        if record.block.header.parent() != Some(standing.hash) {
            break;
        }
        json.hash(&record.hash);
        standing = record;
    }
    json.end_array();
    json.key("removed").begin_array();
    removed.iter().for_each(|hash| json.hash(hash));
    json.end_array();
    write_cursor(json.key("cursor"), &standing);
    json.end_object();
    Ok(json.finish())
}

/// The way from a cursor down to the main chain.
struct Way {
    /// The main chain block that it ends at.
    standing: Arc<BlockRecord>,
    /// The blocks above it on the cursor's branch, highest first.
    removed: Vec<B256>,
}

fn way(node: &Node, number: u64, hash: &B256) -> Result<Way, RpcError> {
    let chain = node.chain();
    let mut removed = Vec::new();
    let (mut height, mut hash) = (number, *hash);
    loop {
        let is_main = chain.main_hash(height)? == Some(hash);
        let Some(record) = chain.block(&hash)? else { break };
        if is_main {
            return Ok(Way { standing: record, removed });
        }
        removed.push(hash);
        match (height.checked_sub(1), record.block.header.parent()) {
            (Some(below), Some(parent)) => (height, hash) = (below, parent),
            _ => break,
        }
    }
    // The block was deleted: the rest of its branch ends at the height of the rewind.
    let head = chain.head().record.clone();
    // A node that was reset to a fork has no blocks below it.
    let way_back = node.deleted().way_back(&hash).unwrap_or(height).max(chain.first_block());
    let fork = way_back.min(head.number());
    Ok(Way { standing: chain.main_block(fork)?.unwrap_or(head), removed })
}
