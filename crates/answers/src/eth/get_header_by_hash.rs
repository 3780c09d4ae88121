//! `eth_getHeaderByHash`.

use crate::block_id::BlockRef;
use crate::error::Answer;
use crate::json;
use crate::lookup;
use crate::node::Node;
use rhizome_primitives::B256;

/// The block object without `size`, `transactions` and `uncles`, also of a block beside the main chain; `null` when unknown.
pub fn answer(node: &Node, hash: &B256) -> Answer {
    let record = node.chain().block(hash)?;
    Ok(record.map_or_else(json::null, |record| lookup::header_text(&BlockRef::Mined(record))))
}
