//! `hardhat_mine`.

use crate::error::{Answer, RpcError};
use crate::json;
use crate::node::Node;
use rhizome_chain::BlockTime;
use rhizome_evm::Deadline;

/// Mines `blocks` blocks; each but the first is `interval` seconds after its parent (`None`: the fixed interval, else a
/// second). True.
pub fn answer(node: &Node, blocks: u64, interval: Option<u64>, deadline: &Deadline) -> Answer {
    node.require_miner("hardhat_mine")?;
    let chain = node.require_development()?;
    let interval = interval.or_else(|| chain.block_interval()).unwrap_or(1);
    for index in 0..blocks {
        if deadline.has_passed() {
            let message = format!("Execution has got timeout out: {index} of {blocks} blocks are mined.");
            return Err(RpcError { message, ..RpcError::timed_out() });
        }
        let time = if index > 0 { BlockTime::After(interval) } else { BlockTime::Clock };
        chain.mine_at(node.now(), time)?;
    }
    Ok(json::boolean(true))
}
