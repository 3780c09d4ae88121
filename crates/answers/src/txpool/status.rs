//! `txpool_status`.

use crate::error::Answer;
use crate::json::JsonWriter;
use crate::node::Node;
use rhizome_chain::SubPool;

/// Returns the numbers of pending and queued transactions, as JSON numbers.
pub fn answer(node: &Node) -> Answer {
    let pool = node.chain().pool();
    let mut json = JsonWriter::new();
    json.begin_object();
    for (name, kind) in [("pending", SubPool::Pending), ("queued", SubPool::Queued)] {
        json.key(name).raw(pool.count(kind).to_string().as_bytes());
    }
    json.end_object();
    Ok(json.finish())
}
