//! `mnr_submitBitcoinBlock`.

use crate::error::Answer;
use crate::mining_work::{malformed, message_bytes, submit};
use crate::node::Node;
use rhizome_chain::MiningSolution;

/// Takes a solved Bitcoin block, as hex.
pub fn answer(node: &Node, block: &str) -> Answer {
    let block = message_bytes("the Bitcoin block", block)?;
    submit(node, "mnr_submitBitcoinBlock", &MiningSolution::from_block(&block).map_err(malformed)?)
}
