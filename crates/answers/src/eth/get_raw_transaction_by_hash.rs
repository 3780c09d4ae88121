//! `eth_getRawTransactionByHash`, `debug_getRawTransaction`.

use crate::error::Answer;
use crate::json;
use crate::node::Node;
use rhizome_primitives::B256;

/// The signed bytes of a transaction of the main chain or of the pool, else `null`.
pub fn answer(node: &Node, hash: &B256) -> Answer {
    if let Some(mined) = node.chain().transaction(hash)? {
        let found = mined.record.block.transactions.get(mined.index);
        return Ok(found.map_or_else(json::null, |transaction| json::data(transaction.encoded())));
    }
    let waiting = node.chain().pool().get(hash);
    Ok(waiting.map_or_else(json::null, |waiting| json::data(waiting.transaction.encoded())))
}
