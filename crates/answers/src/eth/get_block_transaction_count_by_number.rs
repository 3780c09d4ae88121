//! `eth_getBlockTransactionCountByNumber`.

use crate::block_id::{BlockId, BlockRef};
use crate::error::Answer;
use crate::json;
use crate::lookup;
use crate::node::Node;
use rhizome_chain::SubPool;

/// Number of transactions: in a block with REMASC's unless it is hidden, at `pending` those of the pool. -32600 for an unknown block.
pub fn answer(node: &Node, at: &BlockId<'_>) -> Answer {
    let count = match at.locate(node)? {
        BlockRef::Mined(record) => lookup::transaction_count(node, &record),
        BlockRef::Pending(_pending) => node.chain().pool().count(SubPool::Pending) as u64,
    };
    Ok(json::quantity(count))
}
