//! `eth_getBlockTransactionCountByHash`.

use crate::error::Answer;
use crate::json;
use crate::lookup;
use crate::node::Node;
use rhizome_primitives::B256;

/// Number of transactions, REMASC's included unless it is hidden; `null` for an unknown block.
pub fn answer(node: &Node, hash: &B256) -> Answer {
    let count = node.chain().block(hash)?.map(|record| lookup::transaction_count(node, &record));
    Ok(count.map_or_else(json::null, json::quantity))
}
