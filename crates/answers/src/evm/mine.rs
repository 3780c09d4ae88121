//! `evm_mine`.

use crate::error::Answer;
use crate::json;
use crate::node::Node;

/// Mines one block, also while mining is stopped.
pub fn answer(node: &Node) -> Answer {
    node.chain().mine(node.now())?;
    Ok(json::null())
}
