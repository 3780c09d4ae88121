//! `sco_bannedAddresses`.

use crate::error::Answer;
use crate::json::JsonWriter;
use crate::node::Node;
use rhizome_net::BanTarget;

/// Banned addresses and blocks of addresses, IPv6 in full groups.
pub fn answer(node: &Node) -> Answer {
    let mut json = JsonWriter::new();
    json.begin_array();
    for (target, _end) in node.standing().bans() {
        if let BanTarget::Addresses(block) = target {
            json.text(&block.to_string());
        }
    }
    json.end_array();
    Ok(json.finish())
}
