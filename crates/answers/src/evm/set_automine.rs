//! `evm_setAutomine`.

use crate::error::Answer;
use crate::json;
use crate::node::Node;

/// Whether each submission mines a block from now on; true.
pub fn answer(node: &Node, is_on: bool) -> Answer {
    node.require_miner("evm_setAutomine")?;
    let chain = node.require_development()?;
    if is_on {
        // Also when `evm_stopMining` was called before.
        chain.set_automine(true);
    }
    node.mining().set_instant(is_on);
    Ok(json::boolean(true))
}
