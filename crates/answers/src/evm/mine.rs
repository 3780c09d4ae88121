//! `evm_mine`.

use crate::error::{Answer, RpcError};
use crate::evm::set_next_block_timestamp;
use crate::json;
use crate::node::Node;
use rhizome_evm::Deadline;

/// Mines blocks, also while mining is stopped. `timestamp` is the time of the first one.
pub fn answer(node: &Node, blocks: u64, timestamp: Option<u64>, deadline: &Deadline) -> Answer {
    if let Some(timestamp) = timestamp {
        set_next_block_timestamp::set(node, timestamp)?;
    }
    for _block in 0..blocks {
        if deadline.has_passed() {
            return Err(RpcError::timed_out());
        }
        node.chain().mine(node.now())?;
    }
    Ok(json::null())
}
