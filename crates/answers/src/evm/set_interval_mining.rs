//! `evm_setIntervalMining`.

use crate::error::Answer;
use crate::json;
use crate::node::Node;
use std::time::Duration;

/// Mines a block at each interval of `milliseconds`; 0 turns this off. Returns true.
pub fn answer(node: &Node, milliseconds: u64) -> Answer {
    node.require_miner("evm_setIntervalMining")?;
    node.require_development()?;
    node.mining().set_interval(Some(Duration::from_millis(milliseconds)));
    Ok(json::boolean(true))
}
