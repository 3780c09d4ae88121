//! `hardhat_mine`.

use crate::error::{Answer, RpcError};
use crate::json;
use crate::node::Node;
use rhizome_evm::Deadline;

/// Mines so many blocks; each but the first is `interval` seconds after the one before. True.
pub fn answer(node: &Node, blocks: u64, interval: u64, deadline: &Deadline) -> Answer {
    let chain = node.require_development()?;
    for index in 0..blocks {
        if deadline.has_passed() {
            let message = format!("Execution has got timeout out: {index} of {blocks} blocks are mined.");
            return Err(RpcError { message, ..RpcError::timed_out() });
        }
        if index > 0 {
            // An interval of 0 leaves it to the clock.
            chain.set_next_timestamp(chain.head().record.block.header.timestamp.saturating_add(interval));
        }
        chain.mine(node.now())?;
    }
    Ok(json::boolean(true))
}
