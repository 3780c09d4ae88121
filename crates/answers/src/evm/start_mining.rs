//! `evm_startMining`.

use crate::error::Answer;
use crate::json;
use crate::node::Node;
use crate::options::MiningMode;
use rhizome_chain::Kind;

/// Ends `evm_stopMining`. With instant mining, what was submitted meanwhile is mined at once.
pub fn answer(node: &Node) -> Answer {
    let was_stopped = !node.chain().is_automining();
    node.chain().set_automine(true);
    if was_stopped && node.options().mining == MiningMode::Auto && node.chain().pool().count(Kind::Pending) > 0 {
        node.chain().mine(node.now())?;
    }
    Ok(json::null())
}
