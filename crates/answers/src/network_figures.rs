//! Statistics of the connections to other nodes.

use crate::json::JsonWriter;
use crate::node::Node;
use rhizome_net::{MessageCount, PeerNetwork, QueueLength};
use std::collections::BTreeMap;

/// Writes the member `network`: null without a network.
pub(crate) fn write(json: &mut JsonWriter, node: &Node) {
    json.key("network");
    let Some(figures) = node.network().map(PeerNetwork::figures) else { return json.null() };
    json.begin_object();
    json.key("peers").begin_object();
    count(json, "in", figures.inbound as u64);
    count(json, "out", figures.outbound as u64);
    json.end_object();
    json.key("stalledSeconds");
    match figures.stalled {
        Some(stalled) => json.number(stalled.as_secs().cast_signed()),
        None => json.null(),
    }
    count(json, "knownNodes", figures.known_nodes as u64);
    count(json, "banned", figures.banned as u64);
    json.key("messages").begin_object();
    messages(json, "in", &figures.received);
    messages(json, "out", &figures.sent);
    json.end_object();
    json.key("queues").begin_object();
    queue(json, "in", figures.unhandled);
    queue(json, "out", figures.unsent);
    json.end_object();
    by_reason(json, "bans", &figures.bans);
    by_reason(json, "closed", &figures.closed);
    json.end_object();
}

fn messages(json: &mut JsonWriter, direction: &str, counts: &[MessageCount]) {
    json.key(direction).begin_object();
    for one in counts {
        json.key(one.name).begin_object();
        count(json, "messages", one.messages);
        count(json, "bytes", one.bytes);
        json.end_object();
    }
    json.end_object();
}

fn queue(json: &mut JsonWriter, direction: &str, length: QueueLength) {
    json.key(direction).begin_object();
    count(json, "messages", length.messages as u64);
    count(json, "bytes", length.bytes as u64);
    json.end_object();
}

fn by_reason(json: &mut JsonWriter, name: &str, counts: &BTreeMap<&'static str, u64>) {
    json.key(name).begin_object();
    for (reason, number) in counts {
        count(json, reason, *number);
    }
    json.end_object();
}

fn count(json: &mut JsonWriter, name: &str, number: u64) {
    json.key(name).number(number.cast_signed());
}
