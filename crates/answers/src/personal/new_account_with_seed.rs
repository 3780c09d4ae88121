//! `personal_newAccountWithSeed`.

use crate::error::Answer;
use crate::json;
use crate::node::Node;

/// The address of the account whose key is the hash of the text.
pub fn answer(node: &Node, seed: &str) -> Answer {
    Ok(json::data(node.accounts().add_seeded(seed)?.as_slice()))
}
