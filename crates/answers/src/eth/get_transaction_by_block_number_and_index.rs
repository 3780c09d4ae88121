//! `eth_getTransactionByBlockNumberAndIndex`.

use crate::block_id::BlockId;
use crate::error::Answer;
use crate::json;
use crate::lookup;
use crate::node::Node;

/// The transaction; at `pending` in the order in which the reference lists the pool; `null` when the block or the index is unknown.
pub fn answer(node: &Node, at: &BlockId<'_>, index: usize) -> Answer {
    match at.allow_pending(node, "eth_getTransactionByBlockNumberAndIndex")?.find(node)? {
        Some(block) => lookup::transaction_text(node, &block, index),
        None => Ok(json::null()),
    }
}
