//! The encrypted key of a stored account.

use crate::error::Answer;
use crate::json;
use crate::node::Node;
use rhizome_primitives::Address;

/// The text of its file, null for an account that is not stored.
pub fn answer(node: &Node, address: &Address) -> Answer {
    Ok(node.accounts().encrypted_key(address)?.map_or_else(json::null, |encrypted| json::text(&encrypted)))
}
