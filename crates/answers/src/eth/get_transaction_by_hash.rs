//! `eth_getTransactionByHash`.

use crate::error::Answer;
use crate::json::JsonWriter;
use crate::lookup;
use crate::node::Node;
use crate::objects::transaction;
use rhizome_primitives::B256;

/// Returns the transaction on the main chain or in the pool, including queued transactions; otherwise `null`.
pub fn answer(node: &Node, hash: &B256) -> Answer {
    if let Some(position) = node.transaction_position(hash)?
        && let Some(text) = lookup::mined_transaction_text(node, &position.block, position.index)?
    {
        return Ok(text);
    }
    let mut json = JsonWriter::with_capacity(1024);
    match node.chain().pool().get(hash) {
        Some(waiting) => {
            let form = node.options().transaction_form;
            transaction::write(&mut json, &waiting.transaction, &waiting.sender, None, form);
        }
        None => json.null(),
    }
    Ok(json.finish())
}
