//! `eth_hashrate`.

use crate::error::{Answer, RpcError};
use crate::json;
use crate::node::Node;
use rhizome_primitives::{Header, U256};

/// Seconds that count.
const WINDOW_SECONDS: u64 = 3600;
/// More blocks than a chain can hold in the window, unless its clock was moved.
const MOST_BLOCKS: u64 = 4096;

/// Difficulty of this node's own blocks of the last hour, divided by its seconds.
pub fn answer(node: &Node) -> Answer {
    if !node.mining().is_on() {
        return Ok(json::quantity(0));
    }
    let coinbase = node.chain().coinbase();
    let rate = recent_rate(node, |header| header.coinbase_address() == coinbase)?;
    Ok(json::quantity_wide(&rate))
}

/// Hashes a second that main chain blocks of the last hour stand for.
pub(crate) fn recent_rate(node: &Node, is_counted: impl Fn(&Header) -> bool) -> Result<U256, RpcError> {
    let chain = node.chain();
    let now = node.now();
    let window = now.saturating_sub(WINDOW_SECONDS)..=now;
    let mut work = U256::ZERO;
    let head = chain.head().number();
    for number in (head.saturating_sub(MOST_BLOCKS)..=head).rev() {
        let Some(record) = chain.main_block(number)? else { break };
        let header = &record.block.header;
        if !window.contains(&header.timestamp) {
            break;
        }
        if is_counted(header) {
            work = work.saturating_add(header.difficulty_value());
        }
    }
    Ok(work / U256::from(WINDOW_SECONDS))
}
