//! `eth_pendingTransactions`.

use crate::error::Answer;
use crate::json::JsonWriter;
use crate::node::Node;
use crate::objects::transaction;

/// Executable transactions of the pool that this node's own accounts sent.
pub fn answer(node: &Node) -> Answer {
    let form = node.options().transaction_form;
    let mut json = JsonWriter::new();
    json.begin_array();
    let own = node.accounts().addresses();
    for waiting in node.chain().pool().pending_listed() {
        if own.contains(&waiting.sender) {
            transaction::write(&mut json, &waiting.transaction, &waiting.sender, None, form);
        }
    }
    json.end_array();
    Ok(json.finish())
}
