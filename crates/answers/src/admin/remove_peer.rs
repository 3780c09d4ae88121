//! `admin_removePeer`.

use super::{network, node_id};
use crate::error::Answer;
use crate::json;
use crate::node::Node;

/// Disconnects a node, named by URL or id, and does not dial it any more. Returns whether it was a peer or dialled.
pub fn answer(node: &Node, peer: &str) -> Answer {
    let id = node_id(peer)?;
    Ok(json::boolean(network(node)?.remove_peer(&id)))
}
