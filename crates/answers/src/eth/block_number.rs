//! `eth_blockNumber`.

use crate::error::Answer;
use crate::json;
use crate::node::Node;

/// The height of the head.
pub fn answer(node: &Node) -> Answer {
    Ok(json::quantity(node.chain().head().number()))
}
