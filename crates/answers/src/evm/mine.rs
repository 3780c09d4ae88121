//! `evm_mine`.

use crate::error::{Answer, RpcError};
use crate::json;
use crate::node::Node;
use rhizome_chain::BlockTime;
use rhizome_evm::Deadline;

/// Mines blocks, also while mining is stopped. `timestamp` is the time of the first one.
pub fn answer(node: &Node, blocks: u64, timestamp: Option<u64>, deadline: &Deadline) -> Answer {
    node.require_miner("evm_mine")?;
    let mut time = match timestamp {
        Some(timestamp) => {
            node.require_development()?;
            BlockTime::At(timestamp)
        }
        None => BlockTime::Clock,
    };
    for _block in 0..blocks {
        if deadline.has_passed() {
            return Err(RpcError::timed_out());
        }
        node.chain().mine_at(node.now(), time)?;
        time = BlockTime::Clock;
    }
    Ok(json::null())
}
