//! `txpool_contentFrom`.

use crate::error::Answer;
use crate::json::JsonWriter;
use crate::node::Node;
use crate::objects::transaction;
use crate::response_limit;
use rhizome_primitives::Address;

/// Returns the waiting transactions of a sender, as `{pending, queued}`, each nonce in decimal -> transaction object. Fails with
/// -32011 above `max_bytes`.
pub fn answer(node: &Node, sender: &Address, max_bytes: usize) -> Answer {
    let pool = node.chain().pool();
    let mut json = JsonWriter::new();
    json.begin_object();
    for (name, waiting) in [("pending", pool.pending()), ("queued", pool.queued())] {
        json.key(name).begin_object();
        for pooled in waiting.iter().filter(|pooled| pooled.sender == *sender) {
            json.key(&pooled.nonce.to_string());
            transaction::write(&mut json, &pooled.transaction, sender, None, node.options().transaction_form);
            response_limit::check(&json, max_bytes)?;
        }
        json.end_object();
    }
    json.end_object();
    Ok(json.finish())
}
