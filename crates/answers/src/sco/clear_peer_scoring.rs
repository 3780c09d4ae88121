//! `sco_clearPeerScoring`.

use super::peer_list;
use crate::error::{Answer, RpcError};
use crate::node::Node;
use rhizome_net::ScoredPeer;

/// Deletes the score of a peer, named by address or node id. Returns the remaining scores, like `sco_peerList`.
pub fn answer(node: &Node, peer: &str) -> Answer {
    let by_address = || peer.parse().map(ScoredPeer::Address);
    let target = peer.parse().map(ScoredPeer::Node).or_else(|_not_an_id| by_address());
    let target = target.map_err(|_malformed| RpcError::invalid_params(format!("invalid peer {peer}")))?;
    node.standing().clear(&target);
    peer_list::answer(node)
}
