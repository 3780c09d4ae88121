//! `eth_chainId`.

use crate::error::Answer;
use crate::json;
use crate::node::Node;

/// The number that signatures carry.
pub fn answer(node: &Node) -> Answer {
    Ok(json::quantity(u64::from(node.chain().spec().chain_id)))
}
