//! `net_version`.

use crate::error::Answer;
use crate::json;
use crate::node::Node;

/// The chain's number in decimal.
pub fn answer(node: &Node) -> Answer {
    Ok(json::text(&node.chain().spec().chain_id.to_string()))
}
