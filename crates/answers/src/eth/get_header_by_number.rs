//! `eth_getHeaderByNumber`.

use crate::block_id::BlockId;
use crate::error::Answer;
use crate::json;
use crate::lookup;
use crate::node::Node;

/// The block object without `size`, `transactions` and `uncles`; `null` when there is no such block.
pub fn answer(node: &Node, at: &BlockId<'_>) -> Answer {
    let block = at.allow_pending(node, "eth_getHeaderByNumber")?.find(node)?;
    Ok(block.map_or_else(json::null, |block| lookup::header_text(&block)))
}
