//! `eth_getBlockByNumber`.

use crate::error::Answer;
use crate::json;
use crate::lookup;
use crate::node::Node;
use crate::objects::block::TransactionList;
use crate::selector::Selector;

/// The block, the draft at `pending`, `null` when there is none.
pub fn answer(node: &Node, at: &Selector<'_>, list: TransactionList) -> Answer {
    match at.allow_pending(node, "eth_getBlockByNumber")?.find(node)? {
        Some(place) => lookup::block_text(node, &place, list),
        None => Ok(json::null()),
    }
}
