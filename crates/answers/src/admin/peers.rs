//! `admin_peers`.

use crate::error::Answer;
use crate::json::JsonWriter;
use crate::node::Node;
use rhizome_net::{Peer, PeerDirection, PeerNetwork};
use std::sync::atomic::Ordering::Relaxed;

/// Returns the peers with program, direction, last stated head, score and traffic. Empty without a network.
pub fn answer(node: &Node) -> Answer {
    let mut json = JsonWriter::with_capacity(1024);
    json.begin_array();
    if let Some(network) = node.network() {
        for peer in network.peers() {
            write(&mut json, network, &peer);
        }
    }
    json.end_array();
    Ok(json.finish())
}

fn write(json: &mut JsonWriter, network: &PeerNetwork, peer: &Peer) {
    let is_inbound = peer.direction == PeerDirection::Inbound;
    let address = peer.address.to_string();
    json.begin_object();
    // The source port of an inbound connection is not that of its listener.
    let port = if is_inbound { peer.listen_port } else { peer.address.port() };
    json.key("enode").text(&format!("enode://{}@{}", peer.id, std::net::SocketAddr::new(peer.address.ip(), port)));
    json.key("id").text(&peer.id.to_string());
    json.key("name").text(&peer.client);
    json.key("caps").begin_array();
    json.text("rsk/62");
    if peer.shared.serves_snap {
        json.text("snap/1");
    }
    if peer.shared.has_rhizome {
        json.text("rhz/1");
    }
    json.end_array();
    json.key("network").begin_object();
    json.key("remoteAddress").text(&address);
    json.key("inbound").boolean(is_inbound);
    json.key("static").boolean(peer.is_static);
    json.end_object();
    json.key("connectedSeconds").number(peer.connected.elapsed().as_secs().cast_signed());
    json.key("score").number(network.standing().node_score(&peer.id));
    json.key("bytesIn").number(peer.traffic.bytes_in.load(Relaxed).cast_signed());
    json.key("bytesOut").number(peer.traffic.bytes_out.load(Relaxed).cast_signed());
    json.key("protocols").begin_object();
    json.key("rsk").begin_object();
    json.key("version").number(62);
    match (peer.best(), peer.claimed_best()) {
        (Some(status), claimed) => {
            json.key("head").hash(&status.best.hash);
            json.key("number").number(status.best.number.cast_signed());
            let difficulty = status.parent_and_difficulty.map(|(_parent, difficulty)| difficulty);
            let difficulty = difficulty.or(claimed.map(|(_hash, difficulty)| difficulty));
            json.key("difficulty").text(&difficulty.unwrap_or_default().to_string());
        }
        (None, Some((head, difficulty))) => {
            json.key("head").hash(&head);
            json.key("difficulty").text(&difficulty.to_string());
        }
        (None, None) => {}
    }
    json.end_object();
    json.end_object();
    json.end_object();
}
