//! `evm_stopMining`.

use crate::error::Answer;
use crate::json;
use crate::node::Node;

/// Stops mining: submitted transactions wait in the pool, and the block template for external miners no longer changes.
/// `eth_mining` does not change.
pub fn answer(node: &Node) -> Answer {
    node.chain().set_automine(false);
    Ok(json::null())
}
