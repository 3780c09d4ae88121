//! `hardhat_metadata`.

use crate::error::Answer;
use crate::json::JsonWriter;
use crate::node::Node;

/// Returns the version of the node, its head and its snapshots. The instance id changes with each start and reset.
pub fn answer(node: &Node) -> Answer {
    let chain = node.require_development()?;
    let head = chain.head();
    let mut json = JsonWriter::new();
    json.begin_object();
    json.key("clientVersion").text(&node.options().client_version);
    json.key("chainId").number(chain.spec().chain_id.into());
    json.key("instanceId").hash(&node.instance_id());
    json.key("latestBlockNumber").number(head.number().cast_signed());
    json.key("latestBlockHash").hash(&head.hash());
    json.key("forkedNetwork");
    match node.fork() {
        Some(fork) => {
            json.begin_object();
            json.key("chainId").number(chain.spec().chain_id.into());
            json.key("forkBlockNumber").number(fork.number().cast_signed());
            json.key("forkBlockHash").hash(&fork.hash());
            json.end_object();
        }
        None => json.null(),
    }
    json.key("snapshots").begin_object();
    for (id, height, hash) in chain.snapshots() {
        json.key(&format!("{id:#x}")).begin_array();
        json.number(height.cast_signed());
        json.hash(&hash);
        json.end_array();
    }
    json.end_object();
    json.end_object();
    Ok(json.finish())
}
