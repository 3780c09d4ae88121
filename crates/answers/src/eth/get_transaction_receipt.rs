//! `eth_getTransactionReceipt`.

use crate::error::Answer;
use crate::json;
use crate::lookup;
use crate::node::Node;
use rhizome_primitives::B256;

/// The receipt of a transaction on the main chain, else `null`.
pub fn answer(node: &Node, hash: &B256) -> Answer {
    match node.transaction_position(hash)? {
        Some(position) => lookup::receipt_text(node, &position.block, position.index).map(lookup::or_null),
        None => Ok(json::null()),
    }
}
