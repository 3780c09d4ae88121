//! `eth_accounts`.

use crate::error::Answer;
use crate::json::JsonWriter;
use crate::node::Node;

/// The addresses that this node signs for.
pub fn answer(node: &Node) -> Answer {
    let mut json = JsonWriter::new();
    json.begin_array();
    node.accounts().addresses().iter().for_each(|address| json.data(address.as_slice()));
    json.end_array();
    Ok(json.finish())
}
