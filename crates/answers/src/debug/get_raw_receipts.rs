//! `debug_getRawReceipts`.

use crate::block_id::{BlockId, BlockRef};
use crate::error::Answer;
use crate::json::{self, JsonWriter};
use crate::node::Node;
use rhizome_primitives::Receipt;

/// Returns the receipts of a block as encoded in its receipts trie; `null` if the block is unknown.
pub fn answer(node: &Node, at: &BlockId<'_>) -> Answer {
    match at.find_stored(node)? {
        Some(BlockRef::Mined(record)) => {
            Ok(node.chain().receipts(&record.hash)?.map_or_else(json::null, |receipts| list(&receipts)))
        }
        Some(BlockRef::Pending(pending)) => Ok(list(&pending.receipts)),
        None => Ok(json::null()),
    }
}

fn list(receipts: &[Receipt]) -> Vec<u8> {
    let mut json = JsonWriter::with_capacity(1024);
    json.begin_array();
    receipts.iter().for_each(|receipt| json.data(&receipt.encode()));
    json.end_array();
    json.finish()
}
