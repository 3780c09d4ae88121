//! Statistics of a fleet.

use crate::json::JsonWriter;
use crate::node::Node;
use rhizome_fleet::{ChangeStatus, Fleet, FleetNode, FleetStatus};

/// Writes the member `fleet`: null without a fleet.
pub(crate) fn write(json: &mut JsonWriter, node: &Node) {
    json.key("fleet");
    match node.fleet().map(Fleet::status) {
        Some(status) => write_status(json, &status, node.latest_number()),
        None => json.null(),
    }
}

fn write_status(json: &mut JsonWriter, status: &FleetStatus, latest: u64) {
    json.begin_object();
    json.key("role").text(status.role.name());
    json.key("isConnected").boolean(status.is_connected);
    json.key("isBehind").boolean(status.is_behind);
    json.key("latest").number(latest.cast_signed());
    for (name, text) in [("failure", &status.failure), ("lastFault", &status.last_fault)] {
        match text {
            Some(text) => json.key(name).text(text),
            None => json.key(name).null(),
        };
    }
    let failing = status.failing.map_or(0, |since| since.as_secs());
    count(json, "failingSeconds", failing);
    let restore = &status.restore;
    json.key("restore").begin_object();
    for (name, number) in [("completed", restore.completed), ("done", restore.done), ("total", restore.total)] {
        count(json, name, number);
    }
    match &restore.failure {
        Some(text) => json.key("failure").text(text),
        None => json.key("failure").null(),
    };
    json.end_object();
    let log = &status.log;
    counts(
        json,
        "log",
        &[
            ("published", log.published),
            ("refused", log.refused),
            ("received", log.received),
            ("damaged", log.damaged),
            ("invalid", log.invalid),
            ("waiting", log.waiting),
            ("place", log.place),
            ("last", log.last),
            ("renewed", log.renewed),
        ],
    );
    let transactions = &status.transactions;
    counts(
        json,
        "transactions",
        &[
            ("sent", transactions.sent),
            ("taken", transactions.taken),
            ("rejected", transactions.rejected),
            ("damaged", transactions.damaged),
        ],
    );
    write_changes(json, status.changes.as_ref());
    json.key("nodes").begin_array();
    status.nodes.iter().for_each(|node| write_node(json, node));
    json.end_array();
    json.end_object();
}

fn write_changes(json: &mut JsonWriter, changes: Option<&ChangeStatus>) {
    json.key("changes");
    let Some(changes) = changes else { return json.null() };
    json.begin_object();
    json.key("isHolder").boolean(changes.is_holder);
    count(json, "sequence", changes.sequence);
    count(json, "published", changes.published);
    match &changes.failure {
        Some(text) => json.key("failure").text(text),
        None => json.key("failure").null(),
    };
    json.end_object();
}

fn write_node(json: &mut JsonWriter, node: &FleetNode) {
    json.begin_object();
    json.key("name").text(&node.name);
    json.key("role").text(&node.role);
    json.key("version").text(&node.version);
    count(json, "number", node.head.number);
    json.key("hash").hash(&node.head.hash);
    json.key("isReady").boolean(node.is_ready);
    for (name, time) in [("silentMs", node.silence), ("behindMs", node.behind)] {
        count(json, name, u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
    }
    json.end_object();
}

/// Writes a member that is an object of numbers.
fn counts(json: &mut JsonWriter, name: &str, numbers: &[(&str, u64)]) {
    json.key(name).begin_object();
    numbers.iter().for_each(|(name, number)| count(json, name, *number));
    json.end_object();
}

fn count(json: &mut JsonWriter, name: &str, number: u64) {
    json.key(name).number(number.cast_signed());
}
