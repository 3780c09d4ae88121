//! `eth_mining`.

use crate::error::Answer;
use crate::json;
use crate::node::Node;

/// Whether this node finds its own proofs of work.
pub fn answer(node: &Node) -> Answer {
    Ok(json::boolean(node.mining().is_on()))
}
