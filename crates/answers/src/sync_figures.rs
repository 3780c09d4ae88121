//! Statistics of the synchronization.

use crate::json::JsonWriter;
use crate::node::Node;
use rhizome_chain::StateProgress;
use rhizome_net::{OlderStage, PeerNetwork, StateStage, SyncStatus};

/// Writes the member `sync`: null without a network.
pub(crate) fn write(json: &mut JsonWriter, node: &Node) {
    json.key("sync");
    match node.network().and_then(PeerNetwork::sync_status) {
        Some(status) => write_status(json, &status),
        None => json.null(),
    }
}

fn write_status(json: &mut JsonWriter, status: &SyncStatus) {
    json.begin_object();
    json.key("isSyncing").raw(if status.is_syncing { b"true" } else { b"false" });
    let window = &status.load.window;
    for (name, count) in [
        ("start", status.start),
        ("head", status.current),
        ("bestHeader", status.highest),
        ("claimed", status.load.claimed),
        ("secondsBehind", status.seconds_behind),
        ("headers", status.headers),
        ("bodies", status.bodies),
        ("headersPerSecond", status.headers_per_second.round() as u64),
        ("bodiesPerSecond", status.bodies_per_second.round() as u64),
        ("blocksPerSecond", status.blocks_per_second.round() as u64),
        ("peers", status.load.peers as u64),
        ("peersOverBudget", status.load.peers_over_budget as u64),
        ("budgetWaits", status.budget_waits),
        ("missing", window.missing as u64),
        ("requested", window.requested as u64),
        ("ready", window.ready as u64),
        ("importing", window.importing as u64),
    ] {
        json.key(name).number(count.cast_signed());
    }
    json.key("state");
    match &status.download {
        Some(StateStage { progress, bytes_per_second }) => {
            json.begin_object();
            write_progress(json, progress);
            json.key("bytesPerSecond").number((bytes_per_second.round() as u64).cast_signed());
            json.end_object();
        }
        None => json.null(),
    }
    json.key("hasGivenUpState").raw(if status.has_given_up_state { b"true" } else { b"false" });
    json.key("older");
    match &status.older {
        Some(OlderStage { oldest, blocks_per_second }) => {
            json.begin_object();
            json.key("oldest").number(oldest.cast_signed());
            json.key("blocksPerSecond").number((blocks_per_second.round() as u64).cast_signed());
            json.end_object();
        }
        None => json.null(),
    }
    match &status.failure {
        Some(failure) => json.key("failure").text(failure),
        None => json.key("failure").null(),
    };
    json.end_object();
}

/// Writes the members of a download of a state: its pivot, and sizes in bytes.
pub(crate) fn write_progress(json: &mut JsonWriter, progress: &StateProgress) {
    json.key("pivot").number(progress.pivot.cast_signed());
    json.key("bytes").number(progress.bytes.cast_signed());
    json.key("totalBytes").number(progress.total_bytes.cast_signed());
}
