//! `hardhat_setMinGasPrice`.

use crate::error::Answer;
use crate::json;
use crate::node::Node;
use rhizome_primitives::U256;

/// Sets the minimum gas price that later blocks move toward, each by a hundredth at most; true.
pub fn answer(node: &Node, price: &U256) -> Answer {
    node.require_development()?.set_minimum_gas_price(*price);
    Ok(json::boolean(true))
}
