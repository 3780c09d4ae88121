//! `evm_startMining`.

use crate::error::Answer;
use crate::json;
use crate::node::Node;
use rhizome_chain::SubPool;

/// Ends `evm_stopMining`. With instant mining, waiting transactions are mined at once. With external miners, the next block
/// template is built at once, at the time that `evm_increaseTime` has set.
pub fn answer(node: &Node) -> Answer {
    node.require_miner("evm_startMining")?;
    let was_stopped = !node.chain().is_automining();
    node.chain().set_automine(true);
    if was_stopped && node.mining().is_instant() {
        if node.chain().pool().count(SubPool::Pending) > 0 {
            node.chain().mine(node.now())?;
        }
    } else if was_stopped && !node.mining().is_on() {
        node.chain().renew_block_template(node.now())?;
    }
    Ok(json::null())
}
