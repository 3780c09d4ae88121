//! `rsk_getRawTransactionReceiptByHash`.

use crate::error::Answer;
use crate::json;
use crate::node::Node;
use rhizome_primitives::B256;

/// Returns the receipt of a transaction of the main chain as encoded in the receipts trie; otherwise `null`.
pub fn answer(node: &Node, hash: &B256) -> Answer {
    let Some(mined) = node.chain().transaction(hash)? else { return Ok(json::null()) };
    let receipts = node.chain().receipts(&mined.record.hash)?;
    let receipt = receipts.as_ref().and_then(|receipts| receipts.get(mined.index));
    Ok(receipt.map_or_else(json::null, |receipt| json::data(&receipt.encode())))
}
