//! `eth_getWork`.

use crate::error::Answer;
use crate::json::JsonWriter;
use crate::mining_work::not_available;
use crate::node::Node;
use rhizome_primitives::B256;

/// Hash for merged mining, 32 zero bytes (there is no seed) and target of the work that `mnr_getWork` gives.
pub fn answer(node: &Node) -> Answer {
    node.require_miner("eth_getWork")?;
    let work = node.chain().block_template(node.now())?.ok_or_else(|| not_available("eth_getWork"))?;
    let mut json = JsonWriter::new();
    json.begin_array();
    json.hash(&work.hash);
    json.hash(&B256::ZERO);
    json.word(&work.target);
    json.end_array();
    Ok(json.finish())
}
