//! `eth_getBlockTransactionCountByNumber`.

use crate::error::Answer;
use crate::json;
use crate::node::Node;
use crate::selector::{Place, Selector};
use rhizome_chain::Kind;

/// Number of transactions: in a block with REMASC's, at `pending` those of the pool. -32600 for an unknown block.
pub fn answer(node: &Node, at: &Selector<'_>) -> Answer {
    let count = match at.locate(node)? {
        Place::Mined(record) => record.block.transactions.len(),
        Place::Pending(_draft) => node.chain().pool().count(Kind::Pending),
    };
    Ok(json::quantity(count as u64))
}
