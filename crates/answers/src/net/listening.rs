//! `net_listening`.

use crate::error::Answer;
use crate::json;
use crate::node::Node;
use crate::options::Listening;

/// Returns whether a port for peers is open.
pub fn answer(node: &Node) -> Answer {
    let is_open = node.network().is_some_and(|network| network.listening().is_some());
    Ok(json::boolean(is_open || node.options().listening == Listening::Always))
}
