//! `evm_stopMining`.

use crate::error::Answer;
use crate::json;
use crate::node::Node;

/// Submitted transactions wait in the pool from now on, and the work for other miners stays what it is; `eth_mining`
/// does not change.
pub fn answer(node: &Node) -> Answer {
    node.chain().set_automine(false);
    Ok(json::null())
}
