//! `rsk_getStorageBytesAt`.

use crate::block_id::BlockId;
use crate::error::Answer;
use crate::json;
use crate::node::Node;
use rhizome_primitives::{Address, U256};

/// Returns the stored bytes of a slot: words without leading zeros, any length for precompiles. `"0x0"` for an empty slot.
pub fn answer(node: &Node, address: &Address, position: &U256, at: &BlockId<'_>) -> Answer {
    let cell = at.slot(node, address, position)?;
    Ok(if cell.is_empty() { json::quantity(0) } else { json::data(&cell) })
}
