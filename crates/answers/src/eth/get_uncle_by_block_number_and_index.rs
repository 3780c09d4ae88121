//! `eth_getUncleByBlockNumberAndIndex`.

use crate::block_id::{BlockId, BlockRef};
use crate::error::Answer;
use crate::eth::get_uncle_by_block_hash_and_index::uncle_text;
use crate::node::Node;

/// The uncle; `null` when the block or the index is unknown.
pub fn answer(node: &Node, at: &BlockId<'_>, index: usize) -> Answer {
    match at.allow_pending(node, "eth_getUncleByBlockNumberAndIndex")?.find(node)? {
        Some(BlockRef::Mined(record)) => uncle_text(node, record.block.uncles.get(index)),
        Some(BlockRef::Pending(pending)) => uncle_text(node, pending.block.uncles.get(index)),
        None => uncle_text(node, None),
    }
}
