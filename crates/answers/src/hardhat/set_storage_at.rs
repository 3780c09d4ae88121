//! `hardhat_setStorageAt`.

use crate::error::Answer;
use crate::json;
use crate::node::Node;
use rhizome_primitives::{Address, U256};

/// Writes a storage slot. Returns true.
pub fn answer(node: &Node, address: &Address, position: &U256, word: &U256) -> Answer {
    let (address, position, word) = (*address, *position, *word);
    node.require_development()?.change_state(move |state| state.set_storage_word(address, position, word))?;
    Ok(json::boolean(true))
}
