//! `evm_setTime`.

use crate::error::Answer;
use crate::json::JsonWriter;
use crate::node::Node;

/// Sets the clock of later blocks, in seconds since 1970; by how many seconds it was moved ahead. -32602 when it is
/// not after the head's.
pub fn answer(node: &Node, timestamp: u64) -> Answer {
    let chain = node.require_development()?;
    let moved = chain.set_time(timestamp, node.now())?;
    let mut json = JsonWriter::new();
    json.number(moved.cast_signed());
    Ok(json.finish())
}
