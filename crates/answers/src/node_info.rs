//! Extent of the stored chain and state.

use crate::error::Answer;
use crate::json::JsonWriter;
use crate::node::Node;

/// Network, chain id, genesis, head, highest stored block and size on disk, as JSON.
pub fn answer(node: &Node) -> Answer {
    let chain = node.chain();
    let head = chain.head();
    let mut json = JsonWriter::with_capacity(512);
    json.begin_object();
    json.key("network").text(&chain.spec().name);
    json.key("chainId").number(i64::from(chain.spec().chain_id));
    if let Some(genesis) = chain.main_hash(0)? {
        json.key("genesis").hash(&genesis);
    }
    json.key("number").number(head.number().cast_signed());
    json.key("hash").hash(&head.hash());
    json.key("stateRoot").data(&head.record.block.header.state_root);
    json.key("totalDifficulty").text(&head.record.total_difficulty.to_string());
    json.key("highestBlock").number(chain.highest_number()?.cast_signed());
    json.key("diskBytes").number(chain.disk_bytes()?.cast_signed());
    json.end_object();
    Ok(json.finish())
}
