//! `eth_getBlockReceipts`.

use crate::error::Answer;
use crate::json;
use crate::lookup;
use crate::node::Node;
use crate::selector::{Place, Selector};

/// The receipts of a block, REMASC's included unless it is hidden; `null` for an unknown block. -32602 at `pending`, whose receipts can change.
pub fn answer(node: &Node, at: &Selector<'_>) -> Answer {
    match at.refuse_pending("eth_getBlockReceipts")?.find(node)? {
        Some(Place::Mined(record)) => lookup::block_receipts_text(node, &record),
        Some(Place::Pending(_)) | None => Ok(json::null()),
    }
}
