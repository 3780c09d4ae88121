//! `eth_getBlockByNumber`.

use crate::block_id::BlockId;
use crate::error::Answer;
use crate::json;
use crate::lookup;
use crate::node::Node;
use crate::objects::block::TransactionList;

/// The block, the pending at `pending`, `null` when there is none.
pub fn answer(node: &Node, at: &BlockId<'_>, list: TransactionList) -> Answer {
    match at.allow_pending(node, "eth_getBlockByNumber")?.find(node)? {
        Some(block) => lookup::block_text(node, &block, list),
        None => Ok(json::null()),
    }
}
