//! `eth_gasPrice`.

use crate::error::Answer;
use crate::gas_price;
use crate::json;
use crate::node::Node;

/// Wei for a unit of gas that the pool accepts now.
pub fn answer(node: &Node) -> Answer {
    Ok(json::quantity_wide(&gas_price::suggested(node)))
}
