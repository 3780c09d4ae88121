//! The address of a key that is to be stored.

use crate::error::Answer;
use crate::json;
use crate::node::Node;

/// The address, or why this node cannot keep the key.
pub fn answer(node: &Node, key: &[u8]) -> Answer {
    Ok(json::data(node.accounts().address_of_new(key)?.as_slice()))
}
