//! `personal_lockAccount`.

use crate::error::Answer;
use crate::json;
use crate::node::Node;
use rhizome_primitives::Address;

/// True if the account was unlocked.
pub fn answer(node: &Node, address: &Address) -> Answer {
    Ok(json::boolean(node.accounts().lock(address)?))
}
