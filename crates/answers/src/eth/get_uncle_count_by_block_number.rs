//! `eth_getUncleCountByBlockNumber`.

use crate::block_id::{BlockId, BlockRef};
use crate::error::Answer;
use crate::json;
use crate::node::Node;

/// Number of uncles; -32600 for an unknown block.
pub fn answer(node: &Node, at: &BlockId<'_>) -> Answer {
    let count = match at.allow_pending(node, "eth_getUncleCountByBlockNumber")?.locate(node)? {
        BlockRef::Mined(record) => record.block.uncles.len(),
        BlockRef::Pending(pending) => pending.block.uncles.len(),
    };
    Ok(json::quantity(count as u64))
}
