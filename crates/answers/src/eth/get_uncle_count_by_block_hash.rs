//! `eth_getUncleCountByBlockHash`.

use crate::error::{Answer, ErrorCode, RpcError};
use crate::json;
use crate::node::Node;
use rhizome_primitives::B256;

/// Number of uncles; -32600 for an unknown block, whose hash the message gives without prefix.
pub fn answer(node: &Node, hash: &B256) -> Answer {
    match node.chain().block(hash)? {
        Some(record) => Ok(json::quantity(record.block.uncles.len() as u64)),
        None => {
            let message = format!("Block with hash {hash} not found").replace("0x", "");
            Err(RpcError::new(ErrorCode::InvalidRequest, message))
        }
    }
}
