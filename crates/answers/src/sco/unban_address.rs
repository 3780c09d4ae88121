//! `sco_unbanAddress`.

use super::block;
use crate::error::Answer;
use crate::json;
use crate::node::Node;

/// Lifts the ban of an address, if any.
pub fn answer(node: &Node, text: &str) -> Answer {
    node.standing().unban(&block(text)?)?;
    Ok(json::null())
}
