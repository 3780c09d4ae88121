//! `anvil_setBlockTimestampInterval`.

use crate::error::Answer;
use crate::json;
use crate::node::Node;

/// Puts each later block `seconds` after its parent, whatever the clock says; null.
pub fn answer(node: &Node, seconds: u64) -> Answer {
    node.require_development()?.set_block_interval(Some(seconds));
    Ok(json::null())
}
