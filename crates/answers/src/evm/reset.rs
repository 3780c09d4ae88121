//! `evm_reset`.

use crate::error::Answer;
use crate::json;
use crate::node::Node;

/// Goes back to the genesis block, the empty one after it, or the block that a fork begins at, and forgets the snapshots.
pub fn answer(node: &Node) -> Answer {
    node.require_no_fleet("evm_reset")?;
    node.chain().reset()?;
    node.renew_instance();
    if node.options().begins_with_block && node.fork().is_none() {
        node.chain().mine(node.now())?;
    }
    Ok(json::null())
}
