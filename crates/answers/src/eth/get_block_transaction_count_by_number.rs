//! `eth_getBlockTransactionCountByNumber`.

use crate::error::Answer;
use crate::json;
use crate::lookup;
use crate::node::Node;
use crate::selector::{Place, Selector};

/// Number of transactions: REMASC's is counted in a block, not in the draft. -32600 for an unknown block.
pub fn answer(node: &Node, at: &Selector<'_>) -> Answer {
    let count = match at.locate(node)? {
        Place::Mined(record) => record.block.transactions.len(),
        Place::Pending(draft) => lookup::pending_count(&draft),
    };
    Ok(json::quantity(count as u64))
}
