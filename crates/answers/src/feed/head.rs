//! The header of a block as `newHeads` subscriptions show it.

use crate::error::Answer;
use crate::json::{self, JsonWriter};
use crate::node::Node;
use rhizome_primitives::B256;

/// The header, on the main chain or off it; `null` for an unknown block. An absent base event is `0x00` here, as the
/// reference writes it.
pub fn answer(node: &Node, hash: &B256) -> Answer {
    let Some(record) = node.chain().block(hash)? else { return Ok(json::null()) };
    let header = &record.block.header;
    let mut json = JsonWriter::with_capacity(2048);
    json.begin_object();
    json.key("difficulty").quantity_wide(&header.difficulty_value());
    json.key("extraData").data(&header.extra_data);
    json.key("gasLimit").quantity_wide(&header.gas_limit_value());
    json.key("gasUsed").quantity(header.gas_used);
    json.key("logsBloom").data(&header.logs_bloom);
    json.key("miner").data(header.coinbase_address().as_slice());
    json.key("number").quantity(header.number);
    json.key("parentHash").data(&header.parent_hash);
    json.key("receiptsRoot").data(&header.receipts_root);
    json.key("sha3Uncles").data(&header.uncles_hash);
    json.key("stateRoot").data(&header.state_root);
    json.key("timestamp").quantity(header.timestamp);
    json.key("transactionsRoot").data(&header.transactions_root);
    json.key("hash").hash(hash);
    match header.base_event.as_ref().filter(|event| !event.is_empty()) {
        Some(event) => json.key("baseEvent").data(event),
        None => json.key("baseEvent").data(&[0]),
    }
    json.end_object();
    Ok(json.finish())
}
