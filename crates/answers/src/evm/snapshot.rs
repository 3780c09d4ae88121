//! `evm_snapshot`.

use crate::error::Answer;
use crate::json;
use crate::node::Node;

/// The id of a new snapshot: 1, 2, and so on.
pub fn answer(node: &Node) -> Answer {
    Ok(json::quantity(node.chain().snapshot()?))
}
