//! `eth_getUncleByBlockNumberAndIndex`.

use crate::error::Answer;
use crate::eth::get_uncle_by_block_hash_and_index::uncle_text;
use crate::node::Node;
use crate::selector::{Place, Selector};

/// The uncle; `null` when the block or the index is unknown.
pub fn answer(node: &Node, at: &Selector<'_>, index: usize) -> Answer {
    match at.allow_pending(node, "eth_getUncleByBlockNumberAndIndex")?.find(node)? {
        Some(Place::Mined(record)) => uncle_text(node, record.block.uncles.get(index)),
        Some(Place::Pending(draft)) => uncle_text(node, draft.block.uncles.get(index)),
        None => uncle_text(node, None),
    }
}
