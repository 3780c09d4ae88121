//! `anvil_setLoggingEnabled`.

use crate::error::Answer;
use crate::json;
use crate::node::Node;

/// Whether what happens on the chain is printed from now on; null.
pub fn answer(node: &Node, is_on: bool) -> Answer {
    node.require_development()?;
    node.print_chain(is_on);
    Ok(json::null())
}
