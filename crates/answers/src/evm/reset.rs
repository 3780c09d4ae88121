//! `evm_reset`.

use crate::error::Answer;
use crate::json;
use crate::node::Node;

/// Goes back to the genesis block and forgets the snapshots.
pub fn answer(node: &Node) -> Answer {
    node.chain().reset()?;
    Ok(json::null())
}
