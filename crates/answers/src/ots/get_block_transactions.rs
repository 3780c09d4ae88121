//! `ots_getBlockTransactions`.

use crate::block_id::{BlockId, BlockRef};
use crate::error::Answer;
use crate::json::{self, JsonWriter};
use crate::lookup;
use crate::node::Node;
use crate::objects::{block, receipt};

/// Returns a page of the transactions of a block, with four bytes of their input, and of their receipts without logs; `null` for an
/// unknown block. Page 0 has the last transactions of the block. -32602 at `pending`.
pub fn answer(node: &Node, at: &BlockId<'_>, page: usize, size: usize) -> Answer {
    let Some(BlockRef::Mined(record)) = at.refuse_pending("ots_getBlockTransactions")?.find_stored(node)? else {
        return Ok(json::null());
    };
    let Some(receipts) = node.chain().receipts(&record.hash)? else { return Ok(json::null()) };
    let form = node.options().transaction_form;
    let transactions = record.block.transactions.iter().enumerate();
    let indexes: Vec<usize> = transactions.filter(|(_, mined)| form.counts(mined)).map(|(index, _)| index).collect();
    let end = indexes.len().saturating_sub(page.saturating_mul(size));
    let listed = indexes.get(end.saturating_sub(size)..end).unwrap_or_default();
    let mut json = JsonWriter::with_capacity(4096);
    json.begin_object();
    let count = indexes.len() as u64;
    block::write_summary(json.key("fullblock"), &record, count, Some(listed), form);
    json.key("receipts").begin_array();
    for index in listed {
        let mined = record.block.transactions.get(*index).zip(record.senders().get(*index));
        if let Some(((mined, sender), found)) = mined.zip(receipts.get(*index)) {
            receipt::write_without_logs(&mut json, mined, sender, found, &lookup::mined_position(&record, *index));
        }
    }
    json.end_array();
    json.end_object();
    Ok(json.finish())
}
