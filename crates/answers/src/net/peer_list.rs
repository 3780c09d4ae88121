//! `net_peerList`.

use crate::error::Answer;
use crate::json::JsonWriter;
use crate::node::Node;

/// Returns a text for each peer: `<node id> | <host>/<address>:<port>`.
pub fn answer(node: &Node) -> Answer {
    let mut json = JsonWriter::new();
    json.begin_array();
    for peer in node.network().map(|network| network.peers()).unwrap_or_default() {
        let (id, address) = (peer.id, peer.address.ip());
        json.text(&format!("{id} | {address}/{address}:{}", peer.address.port()));
    }
    json.end_array();
    Ok(json.finish())
}
