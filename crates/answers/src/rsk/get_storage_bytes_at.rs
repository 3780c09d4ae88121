//! `rsk_getStorageBytesAt`.

use crate::block_id::BlockId;
use crate::error::Answer;
use crate::json;
use crate::node::Node;
use rhizome_primitives::{Address, U256};

/// The stored bytes of a cell: words without leading zeros, any length for built-in contracts. `"0x0"` for an empty cell.
pub fn answer(node: &Node, address: &Address, position: &U256, at: &BlockId<'_>) -> Answer {
    let cell = at.slot(node, address, position)?;
    Ok(if cell.is_empty() { json::quantity(0) } else { json::data(&cell) })
}
