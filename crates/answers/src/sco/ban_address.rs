//! `sco_banAddress`.

use super::block;
use crate::error::Answer;
use crate::json;
use crate::node::Node;

/// Bans an address or a block of addresses, across restarts.
pub fn answer(node: &Node, text: &str) -> Answer {
    node.standing().ban(block(text)?, None)?;
    Ok(json::null())
}
