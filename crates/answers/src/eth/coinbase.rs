//! `eth_coinbase`.

use crate::error::Answer;
use crate::json;
use crate::node::Node;

/// The address that mined blocks pay.
pub fn answer(node: &Node) -> Answer {
    Ok(json::data(node.chain().coinbase().as_slice()))
}
