//! `eth_getUncleCountByBlockNumber`.

use crate::error::Answer;
use crate::json;
use crate::node::Node;
use crate::selector::{Place, Selector};

/// Number of uncles; -32600 for an unknown block.
pub fn answer(node: &Node, at: &Selector<'_>) -> Answer {
    let count = match at.allow_pending(node, "eth_getUncleCountByBlockNumber")?.locate(node)? {
        Place::Mined(record) => record.block.uncles.len(),
        Place::Pending(draft) => draft.block.uncles.len(),
    };
    Ok(json::quantity(count as u64))
}
