//! `evm_revert`.

use crate::error::Answer;
use crate::json;
use crate::node::Node;

/// Reverts to a snapshot. Returns false if the id is unknown.
pub fn answer(node: &Node, id: u64) -> Answer {
    node.require_no_fleet("evm_revert")?;
    Ok(json::boolean(node.chain().revert(id)?))
}
