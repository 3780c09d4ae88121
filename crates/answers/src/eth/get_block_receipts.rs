//! `eth_getBlockReceipts`.

use crate::block_id::{BlockId, BlockRef};
use crate::error::Answer;
use crate::json;
use crate::lookup;
use crate::node::Node;

/// The receipts of a block, REMASC's included unless it is hidden; `null` for an unknown block. -32602 at `pending`, whose receipts can change.
pub fn answer(node: &Node, at: &BlockId<'_>) -> Answer {
    match at.refuse_pending("eth_getBlockReceipts")?.find_stored(node)? {
        Some(BlockRef::Mined(record)) => lookup::block_receipts_text(node, &record),
        Some(BlockRef::Pending(_)) | None => Ok(json::null()),
    }
}
