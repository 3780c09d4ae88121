//! `eth_syncing`.

use crate::error::Answer;
use crate::json::{self, JsonWriter};
use crate::node::Node;
use rhizome_net::PeerNetwork;

/// Returns false within 24 blocks of the best validated header, and without a network. Otherwise the numbers of the block at
/// which this synchronization began, of the head, and of the best validated header, and the block that each stage has reached, in the
/// form of Erigon.
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
    for (name, number) in [("Headers", status.highest), ("Bodies", bodies), ("Execution", status.current)] {
        json.begin_object();
        json.key("stage_name").text(name);
        json.key("block_number").quantity(number);
        json.end_object();
    }
    json.end_array();
    json.end_object();
    Ok(json.finish())
}
