//! `mnr_getWork`.

use crate::error::Answer;
use crate::json::JsonWriter;
use crate::mining_work::not_available;
use crate::node::Node;
use rhizome_chain::BlockTemplate;

/// Returns the block template that waits for a proof of work. `notify` is true in the first result for a template only.
pub fn answer(node: &Node) -> Answer {
    node.require_miner("mnr_getWork")?;
    written(node.chain().fetch_block_template(node.now())?)
}

/// Returns the same without taking the request to change over from the next miner.
pub fn current(node: &Node) -> Answer {
    node.require_miner("newWork")?;
    written(node.chain().block_template(node.now())?)
}

fn written(work: Option<BlockTemplate>) -> Answer {
    let work = work.ok_or_else(|| not_available("mnr_getWork"))?;
    let mut json = JsonWriter::new();
    json.begin_object();
    json.key("blockHashForMergedMining").hash(&work.hash);
    json.key("target").word(&work.target);
    json.key("feesPaidToMiner").text(&work.fees.to_string());
    json.key("notify").boolean(work.notify);
    json.key("parentBlockHash").hash(&work.parent);
    json.end_object();
    Ok(json.finish())
}
