//! `eth_getStorageAt`.

use crate::block_id::BlockId;
use crate::error::Answer;
use crate::json;
use crate::node::Node;
use rhizome_primitives::{Address, BRIDGE, U256};

/// Returns the word at a position. Slots of more than 32 bytes, which only precompiles have, read as zero.
pub fn answer(node: &Node, address: &Address, position: &U256, at: &BlockId<'_>) -> Answer {
    if *address == BRIDGE
        && let Some(fork) = node.fork()
        && let Some(shown) = fork.shown_bridge_slot(position)?
    {
        // No block of the fork can have changed it.
        at.locate(node)?;
        return Ok(shown.into_bytes());
    }
    let cell = at.slot(node, address, position)?;
    let mut word = [0; 32];
    if let Some(room) = 32usize.checked_sub(cell.len()).and_then(|start| word.get_mut(start..)) {
        room.copy_from_slice(&cell);
    }
    Ok(json::data(&word))
}
