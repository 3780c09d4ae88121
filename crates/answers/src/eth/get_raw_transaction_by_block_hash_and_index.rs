//! `eth_getRawTransactionByBlockHashAndIndex`.

use crate::error::Answer;
use crate::json;
use crate::lookup;
use crate::node::Node;
use rhizome_primitives::B256;

/// The signed bytes of a transaction of a block, also of one beside the main chain; `null` when there is none.
pub fn answer(node: &Node, hash: &B256, index: usize) -> Answer {
    let record = node.chain().block(hash)?;
    let found = record.as_ref().and_then(|record| lookup::counted(node, &record.block, index));
    Ok(found.map_or_else(json::null, |transaction| json::data(transaction.encoded())))
}
