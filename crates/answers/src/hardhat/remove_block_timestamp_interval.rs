//! `anvil_removeBlockTimestampInterval`.

use crate::error::Answer;
use crate::json;
use crate::node::Node;

/// Leaves the times of later blocks to the clock again; whether there was an interval.
pub fn answer(node: &Node) -> Answer {
    Ok(json::boolean(node.require_development()?.set_block_interval(None).is_some()))
}
