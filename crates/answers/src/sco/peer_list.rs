//! `sco_peerList`.

use super::COUNTED;
use crate::error::Answer;
use crate::json::JsonWriter;
use crate::node::Node;
use rhizome_net::ScoredPeer;

/// Digits of a node id that name a node.
const ID_DIGITS: usize = 8;

/// Returns the counters, score and punishment of each node, then of each address.
pub fn answer(node: &Node) -> Answer {
    let mut json = JsonWriter::new();
    json.begin_array();
    for (peer, score) in node.standing().scores() {
        json.begin_object();
        for event in COUNTED {
            json.key(event.name()).number(score.count(event).cast_signed());
        }
        json.key("score").number(score.score);
        json.key("punishments").number(score.punishments.into());
        json.key("goodReputation").boolean(score.punished_until == 0);
        json.key("punishedUntil").number(score.punished_until.cast_signed());
        match peer {
            ScoredPeer::Node(id) => {
                json.key("id").text(&id.to_string()[..ID_DIGITS]);
                json.key("type").text("node");
            }
            ScoredPeer::Address(address) => {
                json.key("id").text(&address.to_string());
                json.key("type").text("address");
            }
        }
        json.end_object();
    }
    json.end_array();
    Ok(json.finish())
}
