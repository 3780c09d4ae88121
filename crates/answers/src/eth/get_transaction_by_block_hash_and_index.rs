//! `eth_getTransactionByBlockHashAndIndex`.

use crate::error::Answer;
use crate::json;
use crate::lookup;
use crate::node::Node;
use rhizome_primitives::B256;

/// The transaction, also in a block beside the main chain; `null` when the block or the index is unknown.
pub fn answer(node: &Node, hash: &B256, index: usize) -> Answer {
    match node.chain().block(hash)? {
        Some(record) => lookup::indexed_transaction_text(node, &record, index),
        None => Ok(json::null()),
    }
}
