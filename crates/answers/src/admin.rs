//! `admin_*`: this node among others, and its peers.

pub mod add_peer;
pub mod node_info;
pub mod peer_rules;
pub mod peers;
pub mod remove_peer;

use crate::error::{ErrorCode, RpcError};
use crate::node::Node;
use rhizome_net::{Enode, NodeId, PeerNetwork};

fn network(node: &Node) -> Result<&PeerNetwork, RpcError> {
    let off = || RpcError::new(ErrorCode::ServerError, "the node runs without peers: set --p2p-port or --peers");
    node.network().ok_or_else(off)
}

/// Reads an id, or the URL of a node.
fn node_id(text: &str) -> Result<NodeId, RpcError> {
    text.parse().or_else(|_not_an_id| enode(text).map(|enode| enode.id))
}

fn enode(text: &str) -> Result<Enode, RpcError> {
    text.parse().map_err(|error| RpcError::invalid_params(format!("invalid enode: {error}")))
}
