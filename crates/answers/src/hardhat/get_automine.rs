//! `hardhat_getAutomine`.

use crate::error::Answer;
use crate::json;
use crate::node::Node;

/// Whether each submission mines a block.
pub fn answer(node: &Node) -> Answer {
    Ok(json::boolean(node.mines_on_submission()))
}
