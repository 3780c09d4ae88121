//! `personal_unlockAccount`.

use crate::error::Answer;
use crate::json;
use crate::node::Node;
use rhizome_primitives::Address;
use std::time::Duration;

/// Unlocks a stored account with its decrypted key; true.
pub fn answer(node: &Node, address: &Address, key: &[u8], milliseconds: u64) -> Answer {
    node.accounts().unlock(address, key, Duration::from_millis(milliseconds))?;
    Ok(json::boolean(true))
}
