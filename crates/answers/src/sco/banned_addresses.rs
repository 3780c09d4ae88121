//! `sco_bannedAddresses`.

use crate::error::Answer;
use crate::json::JsonWriter;
use crate::node::Node;

/// Banned addresses and blocks of addresses, IPv6 in full groups.
pub fn answer(node: &Node) -> Answer {
    let mut json = JsonWriter::new();
    json.begin_array();
    for block in node.chain().bans().list() {
        json.text(&block.to_string());
    }
    json.end_array();
    Ok(json.finish())
}
