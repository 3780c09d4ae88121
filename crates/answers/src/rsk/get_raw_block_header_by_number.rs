//! `rsk_getRawBlockHeaderByNumber`.

use crate::block_id::BlockId;
use crate::error::Answer;
use crate::json;
use crate::node::Node;

/// Returns the full header without Merkle proof and coinbase transaction, for `pending` that of the pending block. `null` for an
/// unknown block.
pub fn answer(node: &Node, at: &BlockId<'_>) -> Answer {
    let found = at.find(node)?;
    Ok(found.map_or_else(json::null, |block| json::data(&block.block().header.encode_without_proof())))
}
