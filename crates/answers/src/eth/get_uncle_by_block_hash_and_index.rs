//! `eth_getUncleByBlockHashAndIndex`.

use crate::block_id::BlockRef;
use crate::error::Answer;
use crate::json::{self, JsonWriter};
use crate::lookup;
use crate::node::Node;
use crate::objects::block::{self, TransactionList};
use rhizome_primitives::{B256, Header};

/// The uncle; `null` when the block or the index is unknown.
pub fn answer(node: &Node, hash: &B256, index: usize) -> Answer {
    let record = node.chain().block(hash)?;
    uncle_text(node, record.as_ref().and_then(|record| record.block.uncles.get(index)))
}

/// Returns an uncle as text: the whole block if it is stored, otherwise the members of the header.
pub(crate) fn uncle_text(node: &Node, uncle: Option<&Header>) -> Answer {
    let Some(uncle) = uncle else {
        return Ok(json::null());
    };
    if let Some(record) = node.chain().block(&uncle.hash())? {
        return lookup::block_text(node, &BlockRef::Mined(record), TransactionList::Hashes);
    }
    let mut json = JsonWriter::with_capacity(2048);
    block::write_uncle_header(&mut json, uncle);
    Ok(json.finish())
}
