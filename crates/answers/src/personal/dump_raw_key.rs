//! `personal_dumpRawKey`.

use crate::error::Answer;
use crate::json;
use crate::node::Node;
use rhizome_primitives::Address;

/// The private key of an unlocked account.
pub fn answer(node: &Node, address: &Address) -> Answer {
    Ok(json::data(node.accounts().dump(address)?.as_slice()))
}
