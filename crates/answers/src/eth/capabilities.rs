//! `eth_capabilities`.

use crate::error::Answer;
use crate::json::JsonWriter;
use crate::node::Node;
use rhizome_chain::ProvenBlocks;

/// Returns the head, and for each kind of data the oldest block that has it and how many blocks are kept, as in the execution
/// APIs.
pub fn answer(node: &Node) -> Answer {
    let chain = node.chain();
    let head = chain.head();
    // Without blocks below it, the oldest block is the one after genesis.
    let oldest_block = chain.oldest_block()?.map_or(0, |oldest| if oldest.number <= 1 { 0 } else { oldest.number });
    let first_receipts = oldest_block.max(chain.first_receipts());
    let states = (chain.oldest_state(), chain.kept_states());
    let proofs = match chain.config().proven_blocks {
        ProvenBlocks::All => states,
        ProvenBlocks::Last(kept) => (states.0.max(head.number().saturating_sub(kept)), Some(kept)),
    };
    let mut json = JsonWriter::with_capacity(512);
    json.begin_object();
    json.key("head").begin_object();
    json.key("number").quantity(head.number());
    json.key("hash").hash(&head.hash());
    json.end_object();
    write(&mut json, "state", states);
    write(&mut json, "tx", (oldest_block, None));
    write(&mut json, "logs", (first_receipts, None));
    write(&mut json, "receipts", (first_receipts, None));
    write(&mut json, "blocks", (oldest_block, None));
    write(&mut json, "stateproofs", proofs);
    json.end_object();
    Ok(json.finish())
}

fn write(json: &mut JsonWriter, name: &str, (oldest, kept): (u64, Option<u64>)) {
    json.key(name).begin_object();
    json.key("disabled").boolean(false);
    json.key("oldestBlock").quantity(oldest);
    if let Some(kept) = kept {
        json.key("deleteStrategy").begin_object();
        json.key("type").text("window");
        json.key("retentionBlocks").quantity(kept);
        json.end_object();
    }
    json.end_object();
}
