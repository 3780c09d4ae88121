//! `evm_revert`.

use crate::error::Answer;
use crate::json;
use crate::node::Node;

/// Goes back to a snapshot; false when there is none of that id.
pub fn answer(node: &Node, id: u64) -> Answer {
    Ok(json::boolean(node.chain().revert(id)?))
}
