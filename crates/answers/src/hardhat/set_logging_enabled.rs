//! `anvil_setLoggingEnabled`.

use crate::error::Answer;
use crate::json;
use crate::node::Node;

/// Turns the printing of chain events on or off. Returns null.
pub fn answer(node: &Node, is_on: bool) -> Answer {
    node.require_development()?;
    node.print_chain(is_on);
    Ok(json::null())
}
