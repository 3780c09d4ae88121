//! `anvil_rollback`.

use crate::error::{Answer, RpcError};
use crate::json;
use crate::node::Node;

/// Deletes the highest `depth` blocks, with the pool; null.
pub fn answer(node: &Node, depth: u64) -> Answer {
    node.require_no_fleet("anvil_rollback")?;
    match node.require_development()?.roll_back(depth)? {
        true => Ok(json::null()),
        false => Err(too_deep(node, depth)),
    }
}

/// -32602 for more blocks than the chain has.
pub(super) fn too_deep(node: &Node, depth: u64) -> RpcError {
    let height = node.chain().head().number();
    RpcError::invalid_params(format!("Invalid depth: {depth}, the height of the chain is {height}"))
}
