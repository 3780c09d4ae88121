//! `evm_increaseTime`.

use crate::error::Answer;
use crate::json;
use crate::node::Node;

/// Moves the time of the next block ahead by `seconds`. Returns the total offset.
pub fn answer(node: &Node, seconds: u64) -> Answer {
    Ok(json::quantity(node.chain().increase_time(seconds)))
}
