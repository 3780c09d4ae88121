//! `rsk_getRawBlockHeaderByNumber`.

use crate::block_id::BlockId;
use crate::error::Answer;
use crate::json;
use crate::node::Node;

/// The full header without Merkle proof and coinbase transaction; that of the pending at `pending`. `null` for an unknown block.
pub fn answer(node: &Node, at: &BlockId<'_>) -> Answer {
    let place = at.find(node)?;
    Ok(place.map_or_else(json::null, |place| json::data(&place.block().header.encode_without_proof())))
}
