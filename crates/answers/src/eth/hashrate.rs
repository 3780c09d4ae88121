//! `eth_hashrate`.

use crate::error::Answer;
use crate::json;
use crate::node::Node;
use crate::options::MiningMode;
use rhizome_primitives::U256;

/// Seconds that count.
const WINDOW_SECONDS: u64 = 3600;
/// More blocks than a chain can hold in the window, unless its clock was moved.
const MOST_BLOCKS: u64 = 4096;

/// Difficulty of this node's own blocks of the last hour, divided by its seconds.
pub fn answer(node: &Node) -> Answer {
    if node.options().mining == MiningMode::Off {
        return Ok(json::quantity(0));
    }
    let chain = node.chain();
    let coinbase = chain.config().coinbase;
    let since = node.now().saturating_sub(WINDOW_SECONDS);
    let mut work = U256::ZERO;
    let head = chain.head().number();
    for number in (head.saturating_sub(MOST_BLOCKS)..=head).rev() {
        let Some(record) = chain.main_block(number)? else { break };
        let header = &record.block.header;
        if header.timestamp < since {
            break;
        }
        if header.coinbase_address() == coinbase {
            work = work.saturating_add(header.difficulty_value());
        }
    }
    Ok(json::quantity_wide(&(work / U256::from(WINDOW_SECONDS))))
}
