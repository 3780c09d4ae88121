//! `eth_getTransactionReceipt`.

use crate::error::Answer;
use crate::json;
use crate::lookup;
use crate::node::Node;
use rhizome_primitives::B256;

/// The receipt of a transaction on the main chain, else `null`.
pub fn answer(node: &Node, hash: &B256) -> Answer {
    match node.transaction_position(hash)? {
        Some(place) => lookup::receipt_text(node, &place.block, place.index).map(lookup::or_null),
        None => Ok(json::null()),
    }
}
