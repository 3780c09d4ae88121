//! `eth_pendingTransactions`.

use crate::error::Answer;
use crate::json::JsonWriter;
use crate::node::Node;
use crate::objects::transaction;
use crate::response_limit;

/// Executable transactions of the pool that this node's own accounts sent. Fails with -32011 above `max_bytes`.
pub fn answer(node: &Node, max_bytes: usize) -> Answer {
    let form = node.options().transaction_form;
    let mut json = JsonWriter::new();
    json.begin_array();
    let own = node.accounts().addresses();
    // The list of a full pool, 50,000 transactions, takes 12 ms. Most nodes have no accounts.
    let listed = if own.is_empty() { Vec::new() } else { node.chain().pool().pending_listed() };
    for waiting in listed.iter().filter(|waiting| own.contains(&waiting.sender)) {
        transaction::write(&mut json, &waiting.transaction, &waiting.sender, None, form);
        response_limit::check(&json, max_bytes)?;
    }
    json.end_array();
    Ok(json.finish())
}
