//! `admin_*`: this node among others, and its peers.

pub mod add_peer;
pub mod node_info;
pub mod peers;
pub mod remove_peer;

use crate::error::{ErrorCode, RpcError};
use crate::node::Node;
use rhizome_net::{Enode, PeerNetwork};

fn network(node: &Node) -> Result<&PeerNetwork, RpcError> {
    let off = || RpcError::new(ErrorCode::ServerError, "the node runs without peers: set --p2p-port or --peers");
    node.network().ok_or_else(off)
}

fn enode(text: &str) -> Result<Enode, RpcError> {
    text.parse().map_err(|error| RpcError::invalid_params(format!("invalid enode: {error}")))
}
