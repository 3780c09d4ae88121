//! `debug_getRawBlock`.

use crate::block_id::BlockId;
use crate::error::Answer;
use crate::json;
use crate::node::Node;

/// The full encoding of a block: header with the merged-mining fields, transactions, uncles. `null` when unknown.
pub fn answer(node: &Node, at: &BlockId<'_>) -> Answer {
    let block = at.find(node)?;
    Ok(block.map_or_else(json::null, |block| json::data(&block.block().encode())))
}
