//! `net_peerCount`.

use crate::error::Answer;
use crate::json;
use crate::node::Node;

/// Returns the number of peers of our chain.
pub fn answer(node: &Node) -> Answer {
    Ok(json::quantity(node.network().map_or(0, |network| network.peers().len() as u64)))
}
