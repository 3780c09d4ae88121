//! `rsk_flush`.

use crate::error::Answer;
use crate::json;
use crate::node::Node;

/// `null`, once everything that was written is on the disk.
pub fn answer(node: &Node) -> Answer {
    node.chain().flush()?;
    Ok(json::null())
}
