//! `net_listening`.

use crate::error::Answer;
use crate::json;
use crate::node::Node;
use crate::options::Listening;

/// Whether others can connect to this node. No peer port is open, so the truth is false.
pub fn answer(node: &Node) -> Answer {
    Ok(json::boolean(node.options().listening == Listening::Always))
}
