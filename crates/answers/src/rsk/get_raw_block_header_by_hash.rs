//! `rsk_getRawBlockHeaderByHash`.

use crate::error::Answer;
use crate::json;
use crate::node::Node;
use rhizome_primitives::B256;

/// The full header without Merkle proof and coinbase transaction (RSKIP-92). Its Keccak is the block hash while headers are
/// of version 0; later ones are hashed with an extension hash in place of the bloom (RSKIP-351). `null` for an unknown block.
pub fn answer(node: &Node, hash: &B256) -> Answer {
    let record = node.chain().block(hash)?;
    Ok(record.map_or_else(json::null, |record| json::data(&record.block.header.encode_without_proof())))
}
