//! `eth_getRawTransactionByBlockNumberAndIndex`.

use crate::block_id::BlockId;
use crate::error::Answer;
use crate::json;
use crate::lookup;
use crate::node::Node;

/// The signed bytes of a transaction of a block; `null` when there is none.
pub fn answer(node: &Node, at: &BlockId<'_>, index: usize) -> Answer {
    let block = at.allow_pending(node, "eth_getRawTransactionByBlockNumberAndIndex")?.find(node)?;
    let found = block.as_ref().and_then(|block| lookup::counted(node, block.block(), index));
    Ok(found.map_or_else(json::null, |transaction| json::data(transaction.encoded())))
}
