//! `evm_setNextBlockTimestamp`.

use crate::error::Answer;
use crate::json;
use crate::node::Node;

/// Sets the time of the next block, in seconds since 1970; that time. -32602 when it is not after the head's.
pub fn answer(node: &Node, timestamp: u64) -> Answer {
    node.require_development()?.set_next_timestamp(timestamp)?;
    Ok(json::quantity(timestamp))
}
