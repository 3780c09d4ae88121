//! `anvil_nodeInfo`.

use crate::error::Answer;
use crate::gas_price;
use crate::json::JsonWriter;
use crate::node::Node;
use rhizome_primitives::Upgrade;

/// Returns head, latest upgrade and prices of the node. The minimum gas price of the head is the base fee, as in
/// `eth_feeHistory`.
pub fn answer(node: &Node) -> Answer {
    let chain = node.require_development()?;
    let head = chain.head();
    let header = &head.record.block.header;
    let is_active = |upgrade: &&Upgrade| chain.spec().upgrade_height(**upgrade).is_some_and(|at| at <= head.number());
    let upgrade = Upgrade::ALL.iter().rfind(is_active);
    let mut json = JsonWriter::new();
    json.begin_object();
    json.key("currentBlockNumber").quantity(head.number());
    json.key("currentBlockTimestamp").number(header.timestamp.cast_signed());
    json.key("currentBlockHash").hash(&head.hash());
    json.key("hardFork").text(upgrade.map_or("", |upgrade| upgrade.name()));
    json.key("transactionOrder").text("fees");
    json.key("environment").begin_object();
    json.key("baseFee").quantity_wide(&header.min_gas_price());
    json.key("chainId").number(chain.spec().chain_id.into());
    json.key("gasLimit").quantity_wide(&header.gas_limit_value());
    json.key("gasPrice").quantity_wide(&gas_price::suggested(node));
    json.end_object();
    json.key("forkConfig").begin_object();
    match node.fork() {
        Some(fork) => {
            // The rest of the URL may be a key.
            json.key("forkUrl").text(&fork.name());
            json.key("forkBlockNumber").number(fork.number().cast_signed());
        }
        None => {
            json.key("forkUrl").null();
            json.key("forkBlockNumber").null();
        }
    }
    json.key("forkRetryBackoff").null();
    json.end_object();
    json.end_object();
    Ok(json.finish())
}
