//! `eth_syncing`.

use crate::error::Answer;
use crate::json::{self, JsonWriter};
use crate::node::Node;
use rhizome_net::{PeerNetwork, StateStage};

/// Returns false within 24 blocks of the best validated header, and without a network. Otherwise the numbers of the block at
/// which this synchronization began, of the head, and of the best validated header, and the block that each stage has reached, in the
/// form of Erigon. The stage `State` is there only while the state after that block is downloaded, and has its bytes as well.
pub fn answer(node: &Node) -> Answer {
    let status = node.network().and_then(PeerNetwork::sync_status);
    let Some(status) = status.filter(|status| status.is_syncing) else { return Ok(json::boolean(false)) };
    let mut json = JsonWriter::new();
    json.begin_object();
    json.key("startingBlock").quantity(status.start);
    json.key("currentBlock").quantity(status.current);
    json.key("highestBlock").quantity(status.highest);
    let window = &status.load.window;
    let bodies = status.current + (window.importing + window.ready) as u64;
    json.key("stages").begin_array();
    begin_stage(&mut json, "Headers", status.highest);
    json.end_object();
    if let Some(StateStage { progress, .. }) = &status.download {
        begin_stage(&mut json, "State", progress.pivot);
        json.key("bytes").quantity(progress.bytes);
        json.key("total_bytes").quantity(progress.total_bytes);
        json.end_object();
    }
    for (name, number) in [("Bodies", bodies), ("Execution", status.current)] {
        begin_stage(&mut json, name, number);
        json.end_object();
    }
    json.end_array();
    json.end_object();
    Ok(json.finish())
}

fn begin_stage(json: &mut JsonWriter, name: &str, number: u64) {
    json.begin_object();
    json.key("stage_name").text(name);
    json.key("block_number").quantity(number);
}
