//! `admin_addPeer`.

use super::{enode, network};
use crate::error::Answer;
use crate::json;
use crate::node::Node;

/// Dials a node from now on, until the node stops. Returns true.
pub fn answer(node: &Node, url: &str) -> Answer {
    let enode = enode(url)?;
    network(node)?.add_peer(enode);
    Ok(json::boolean(true))
}
