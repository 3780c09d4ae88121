//! Finished texts of blocks, transactions and receipts, from the store where possible.

use crate::block_id::BlockRef;
use crate::caches::TextKind;
use crate::error::{Answer, RpcError};
use crate::json::{self, JsonWriter};
use crate::node::Node;
use crate::objects::block::{self, TransactionList};
use crate::objects::receipt;
use crate::objects::transaction::{self, MinedPosition};
use rhizome_chain::BlockRecord;
use rhizome_primitives::{B256, Block, Transaction};

/// A finished text; `None` if its subject does not exist.
type Found = Result<Option<Vec<u8>>, RpcError>;

/// A block as text.
pub(crate) fn block_text(node: &Node, block: &BlockRef, list: TransactionList) -> Answer {
    let form = node.options().transaction_form;
    match block {
        BlockRef::Mined(record) => {
            let text = node.caches().texts.text::<RpcError>((record.hash, kind(list, record)), || {
                let mut json = JsonWriter::with_capacity(4096);
                block::write_mined(&mut json, record, list, form);
                Ok(Some(json.finish()))
            });
            text.map(or_null)
        }
        BlockRef::Pending(pending) => {
            let mut json = JsonWriter::with_capacity(4096);
            block::write_pending(&mut json, pending, list, form);
            Ok(json.finish())
        }
    }
}

fn kind(list: TransactionList, record: &BlockRecord) -> TextKind {
    match list {
        TransactionList::Hashes => TextKind::BlockWithHashes(record.total_difficulty),
        TransactionList::Objects => TextKind::BlockWithObjects(record.total_difficulty),
    }
}

/// The transaction at an index of a block as text, `null` when there is none.
pub(crate) fn transaction_text(node: &Node, block: &BlockRef, index: usize) -> Answer {
    match block {
        BlockRef::Mined(record) => indexed_transaction_text(node, record, index),
        BlockRef::Pending(_pending) => Ok(pending_transaction_text(node, index)),
    }
}

/// Returns the transaction at an index of a mined block as text; `null` if look-ups by index do not find it.
pub(crate) fn indexed_transaction_text(node: &Node, record: &BlockRecord, index: usize) -> Answer {
    match counted(node, &record.block, index) {
        Some(_known) => mined_transaction_text(node, &record.hash, index).map(or_null),
        None => Ok(json::null()),
    }
}

/// The transaction at an index of a mined block as text, if there is one.
pub(crate) fn mined_transaction_text(node: &Node, block: &B256, index: usize) -> Found {
    node.caches().texts.text((*block, TextKind::Transaction(index)), || {
        let Some(record) = node.chain().block(block)? else { return Ok(None) };
        let (Some(mined), Some(sender)) = (record.block.transactions.get(index), record.senders().get(index)) else {
            return Ok(None);
        };
        let mut json = JsonWriter::with_capacity(1024);
        let position = mined_position(&record, index);
        transaction::write(&mut json, mined, sender, Some(&position), node.options().transaction_form);
        Ok(Some(json.finish()))
    })
}

/// The transaction at an index of a block, as look-ups by index know it.
pub(crate) fn counted<'a>(node: &Node, block: &'a Block, index: usize) -> Option<&'a Transaction> {
    let form = node.options().transaction_form;
    block.transactions.get(index).filter(|transaction| form.counts(transaction))
}

/// Returns the number of transactions of a mined block, as counted by the RPC methods.
pub(crate) fn transaction_count(node: &Node, record: &BlockRecord) -> u64 {
    let form = node.options().transaction_form;
    record.block.transactions.iter().filter(|transaction| form.counts(transaction)).count() as u64
}

/// A pending transaction: as the reference does, those of the pool are counted, whether they are in the pending or not.
fn pending_transaction_text(node: &Node, index: usize) -> Vec<u8> {
    let mut json = JsonWriter::with_capacity(1024);
    match node.chain().pool().pending_listed().get(index) {
        Some(waiting) => {
            let form = node.options().transaction_form;
            transaction::write(&mut json, &waiting.transaction, &waiting.sender, None, form);
        }
        None => json.null(),
    }
    json.finish()
}

/// The receipt at an index of a mined block as text, if there is one.
pub(crate) fn receipt_text(node: &Node, block: &B256, index: usize) -> Found {
    node.caches().texts.text((*block, TextKind::Receipt(index)), || {
        let (Some(record), Some(receipts)) = (node.chain().block(block)?, node.chain().receipts(block)?) else {
            return Ok(None);
        };
        let (Some(mined), Some(sender), Some(found)) =
            (record.block.transactions.get(index), record.senders().get(index), receipts.get(index))
        else {
            return Ok(None);
        };
        let first_log_index = receipts.logs_before(index) as u64;
        let mut json = JsonWriter::with_capacity(2048);
        receipt::write(&mut json, mined, sender, found, &mined_position(&record, index), first_log_index);
        Ok(Some(json.finish()))
    })
}

/// All receipts of a mined block as text; `null` when it was never executed.
pub(crate) fn block_receipts_text(node: &Node, record: &BlockRecord) -> Answer {
    let text = node.caches().texts.text((record.hash, TextKind::Receipts), || {
        let Some(receipts) = node.chain().receipts(&record.hash)? else { return Ok(None) };
        let mut json = JsonWriter::with_capacity(2048);
        json.begin_array();
        let mut first_log_index = 0;
        let form = node.options().transaction_form;
        let mined = record.block.transactions.iter().zip(record.senders());
        for (index, ((mined, sender), found)) in mined.zip(receipts.iter()).enumerate() {
            if !form.counts(mined) {
                continue;
            }
            receipt::write(&mut json, mined, sender, found, &mined_position(record, index), first_log_index);
            first_log_index += found.logs.len() as u64;
        }
        json.end_array();
        Ok(Some(json.finish()))
    });
    text.map(or_null)
}

/// A text as an answer.
pub(crate) fn or_null(text: Option<Vec<u8>>) -> Vec<u8> {
    text.unwrap_or_else(json::null)
}

/// The header of a block as text.
pub(crate) fn header_text(block: &BlockRef) -> Vec<u8> {
    let mut json = JsonWriter::with_capacity(2048);
    match block {
        BlockRef::Mined(record) => block::write_mined_header(&mut json, record),
        BlockRef::Pending(pending) => block::write_pending_header(&mut json, pending),
    }
    json.finish()
}

pub(crate) fn mined_position(record: &BlockRecord, index: usize) -> MinedPosition {
    MinedPosition { block_hash: record.hash, block_number: record.number(), index: index as u64 }
}
