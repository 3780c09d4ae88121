//! `hardhat_setCoinbase`.

use crate::error::Answer;
use crate::json;
use crate::node::Node;
use rhizome_primitives::Address;

/// Sets the receiver of the fees of later blocks, also in work for other miners; true.
pub fn answer(node: &Node, coinbase: &Address) -> Answer {
    node.require_development()?.set_coinbase(*coinbase);
    Ok(json::boolean(true))
}
