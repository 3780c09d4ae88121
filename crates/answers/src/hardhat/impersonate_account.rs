//! `hardhat_impersonateAccount`.

use crate::error::Answer;
use crate::json;
use crate::node::Node;
use rhizome_primitives::Address;

/// From now on `eth_sendTransaction` sends as this address without its key; true.
pub fn answer(node: &Node, address: &Address) -> Answer {
    node.require_no_fleet("hardhat_impersonateAccount")?;
    node.require_development()?;
    node.accounts().impersonate(*address);
    Ok(json::boolean(true))
}
