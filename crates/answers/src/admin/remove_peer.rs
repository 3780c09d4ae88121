//! `admin_removePeer`.

use super::{enode, network};
use crate::error::Answer;
use crate::json;
use crate::node::Node;

/// Disconnects a node and does not dial it any more. Returns whether it was a peer or dialled.
pub fn answer(node: &Node, url: &str) -> Answer {
    let enode = enode(url)?;
    Ok(json::boolean(network(node)?.remove_peer(&enode.id)))
}
