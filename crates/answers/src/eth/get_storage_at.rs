//! `eth_getStorageAt`.

use crate::block_id::BlockId;
use crate::error::Answer;
use crate::json;
use crate::node::Node;
use rhizome_primitives::{Address, U256};

/// Returns the word at a position. Slots of more than 32 bytes, which only precompiles have, read as zero.
pub fn answer(node: &Node, address: &Address, position: &U256, at: &BlockId<'_>) -> Answer {
    let cell = at.slot(node, address, position)?;
    let mut word = [0; 32];
    if let Some(room) = 32usize.checked_sub(cell.len()).and_then(|start| word.get_mut(start..)) {
        room.copy_from_slice(&cell);
    }
    Ok(json::data(&word))
}
