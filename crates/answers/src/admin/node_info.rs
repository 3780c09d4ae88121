//! `admin_nodeInfo`.

use super::network;
use crate::error::Answer;
use crate::json::JsonWriter;
use crate::node::Node;

/// Returns id, address, ports and chain of this node. `enode` is null without a listener.
pub fn answer(node: &Node) -> Answer {
    let (network, chain) = (network(node)?, node.chain());
    let head = chain.head();
    let address = network.listening();
    let mut json = JsonWriter::with_capacity(1024);
    json.begin_object();
    match network.enode() {
        Some(enode) => json.key("enode").text(&enode.to_string()),
        None => json.key("enode").null(),
    }
    json.key("id").text(&network.id().to_string());
    json.key("name").text(&node.options().client_version);
    match address {
        Some(address) => json.key("listenAddr").text(&address.to_string()),
        None => json.key("listenAddr").null(),
    }
    json.key("ports").begin_object();
    let port = address.map_or(0, |address| i64::from(address.port()));
    json.key("listener").number(port);
    json.key("discovery").number(if network.has_discovery() { port } else { 0 });
    json.end_object();
    json.key("protocols").begin_object();
    json.key("rsk").begin_object();
    json.key("network").number(chain.spec().network_id.into());
    if let Some(genesis) = chain.main_hash(0)? {
        json.key("genesis").hash(&genesis);
    }
    json.key("head").hash(&head.hash());
    json.key("difficulty").text(&head.record.total_difficulty.to_string());
    json.end_object();
    json.end_object();
    json.end_object();
    Ok(json.finish())
}
