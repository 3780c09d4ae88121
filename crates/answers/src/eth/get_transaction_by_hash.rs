//! `eth_getTransactionByHash`.

use crate::error::Answer;
use crate::json::JsonWriter;
use crate::lookup;
use crate::node::Node;
use crate::objects::transaction;
use rhizome_primitives::B256;

/// The transaction on the main chain, else in the pool (also one that waits for a nonce), else `null`.
pub fn answer(node: &Node, hash: &B256) -> Answer {
    if let Some(place) = node.transaction_position(hash)?
        && let Some(text) = lookup::mined_transaction_text(node, &place.block, place.index)?
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
