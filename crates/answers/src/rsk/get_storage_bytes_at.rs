//! `rsk_getStorageBytesAt`.

use crate::error::Answer;
use crate::json;
use crate::node::Node;
use crate::selector::Selector;
use crate::state;
use rhizome_primitives::{Address, U256};

/// The stored bytes of a cell: words without leading zeros, any length for built-in contracts. `"0x0"` for an empty cell.
pub fn answer(node: &Node, address: &Address, position: &U256, at: &Selector<'_>) -> Answer {
    let cell = state::cell_at(node, at, address, position)?;
    Ok(if cell.is_empty() { json::quantity(0) } else { json::data(&cell) })
}
