//! `eth_blockNumber`.

use crate::error::Answer;
use crate::json;
use crate::node::Node;

/// The height of the block of the tag `latest`.
pub fn answer(node: &Node) -> Answer {
    Ok(json::quantity(node.latest_number()))
}
