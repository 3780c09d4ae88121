//! `hardhat_setStorageAt`.

use crate::error::Answer;
use crate::json;
use crate::node::Node;
use rhizome_primitives::{Address, U256};

/// Writes a storage cell; true.
pub fn answer(node: &Node, address: &Address, position: &U256, word: &U256) -> Answer {
    node.require_development()?.change_state(|state| state.set_storage_word(*address, *position, *word))?;
    Ok(json::boolean(true))
}
