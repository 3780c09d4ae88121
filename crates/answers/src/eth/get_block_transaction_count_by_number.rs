//! `eth_getBlockTransactionCountByNumber`.

use crate::error::Answer;
use crate::json;
use crate::lookup;
use crate::node::Node;
use crate::selector::{Place, Selector};
use rhizome_chain::SubPool;

/// Number of transactions: in a block with REMASC's unless it is hidden, at `pending` those of the pool. -32600 for an unknown block.
pub fn answer(node: &Node, at: &Selector<'_>) -> Answer {
    let count = match at.locate(node)? {
        Place::Mined(record) => lookup::transaction_count(node, &record),
        Place::Pending(_draft) => node.chain().pool().count(SubPool::Pending) as u64,
    };
    Ok(json::quantity(count))
}
