//! `sco_clearPeerScoring`.

use super::peer_list;
use crate::error::{Answer, RpcError};
use std::net::IpAddr;

/// Hex digits of a node id.
const NODE_ID_DIGITS: usize = 128;

/// Deletes the score of a peer, named by address or node id. Returns the remaining scores, like `sco_peerList`.
pub fn answer(peer: &str) -> Answer {
    let is_node_id = peer.len() == NODE_ID_DIGITS && peer.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !is_node_id && peer.parse::<IpAddr>().is_err() {
        return Err(RpcError::invalid_params(format!("invalid peer {peer}")));
    }
    peer_list::answer()
}
