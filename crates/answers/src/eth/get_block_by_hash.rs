//! `eth_getBlockByHash`.

use crate::block_id::BlockRef;
use crate::error::Answer;
use crate::json;
use crate::lookup;
use crate::node::Node;
use crate::objects::block::TransactionList;
use rhizome_primitives::B256;

/// The block, also one beside the main chain; `null` when unknown.
pub fn answer(node: &Node, hash: &B256, list: TransactionList) -> Answer {
    match node.chain().block(hash)? {
        Some(record) => lookup::block_text(node, &BlockRef::Mined(record), list),
        None => Ok(json::null()),
    }
}
