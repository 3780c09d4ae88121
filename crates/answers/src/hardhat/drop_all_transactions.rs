//! `anvil_dropAllTransactions`.

use crate::error::Answer;
use crate::json;
use crate::node::Node;

/// Empties the pool; null.
pub fn answer(node: &Node) -> Answer {
    node.require_development()?.pool().clear();
    Ok(json::null())
}
