//! `eth_sign`.

use crate::error::Answer;
use crate::json;
use crate::node::Node;
use rhizome_primitives::{Address, Bytes};

/// Signature under the standard prefix by an unlocked account: r, s, v.
pub fn answer(node: &Node, address: &Address, message: &Bytes) -> Answer {
    Ok(json::data(&node.accounts().sign_message(address, message)?))
}
