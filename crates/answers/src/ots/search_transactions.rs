//! `ots_searchTransactionsBefore` and `ots_searchTransactionsAfter`.

use crate::error::{Answer, ErrorCode, RpcError};
use crate::json::JsonWriter;
use crate::lookup::mined_position;
use crate::node::Node;
use crate::objects::{receipt, transaction};
use crate::response_limit;
use rhizome_chain::{AddressRange, AddressSearchError};
use rhizome_evm::Deadline;
use rhizome_primitives::Address;

/// Blocks of a search, by the number of the block that it begins at, which is not part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchFrom {
    /// Earlier blocks; all blocks if the number is 0.
    Before(u64),
    /// Later blocks.
    After(u64),
}

/// Returns at least `size` transactions of an address, if there are as many, highest first, and their receipts, each with the time
/// of its block. A block is never divided. The first page has the highest blocks. Fails with -32000 unless the address index is there
/// and complete, and with -32011 above `max_bytes`.
pub fn answer(
    node: &Node,
    address: &Address,
    direction: SearchFrom,
    size: usize,
    max_bytes: usize,
    deadline: &Deadline,
) -> Answer {
    let range = match direction {
        SearchFrom::Before(0) => AddressRange::Before(u64::MAX),
        SearchFrom::Before(number) => AddressRange::Before(number),
        SearchFrom::After(number) => AddressRange::After(number),
    };
    let mut page = node.chain().address_transactions(address, range, size)?;
    let (is_first, is_last) = match direction {
        SearchFrom::Before(number) => (number == 0, !page.has_more),
        SearchFrom::After(number) => (!page.has_more, number == 0),
    };
    if matches!(direction, SearchFrom::After(_)) {
        page.transactions.reverse();
    }
    let form = node.options().transaction_form;
    let (mut transactions, mut receipts) = (JsonWriter::with_capacity(4096), JsonWriter::with_capacity(8192));
    transactions.begin_array();
    receipts.begin_array();
    for found in &page.transactions {
        if deadline.has_passed() {
            return Err(RpcError::timed_out());
        }
        let (record, index) = (&found.record, found.index);
        let mined = record.block.transactions.get(index).zip(record.senders().get(index));
        let stored = node.chain().receipts(&record.hash)?;
        let Some(((mined, sender), stored)) = mined.zip(stored) else { continue };
        let Some(receipt) = stored.get(index) else { continue };
        let position = mined_position(record, index);
        transaction::write(&mut transactions, mined, sender, Some(&position), form);
        let first_log = stored.logs_before(index) as u64;
        let more = (first_log, record.block.header.timestamp);
        receipt::write_with_time(&mut receipts, mined, sender, receipt, &position, more);
        response_limit::check(&transactions, max_bytes)?;
        response_limit::check(&receipts, max_bytes)?;
    }
    transactions.end_array();
    receipts.end_array();
    let mut json = JsonWriter::with_capacity(transactions.len() + receipts.len() + 64);
    json.begin_object();
    json.key("txs").raw(&transactions.finish());
    json.key("receipts").raw(&receipts.finish());
    json.key("firstPage").boolean(is_first);
    json.key("lastPage").boolean(is_last);
    json.end_object();
    Ok(json.finish())
}

impl From<AddressSearchError> for RpcError {
    fn from(failure: AddressSearchError) -> Self {
        match failure {
            AddressSearchError::Chain(failure) => failure.into(),
            AddressSearchError::Off => Self::new(
                ErrorCode::ServerError,
                "this node has no index of transactions by address (setting index.addresses)",
            ),
            AddressSearchError::Incomplete { .. } | AddressSearchError::WithoutCalls { .. } => {
                Self::new(ErrorCode::ServerError, failure.to_string())
            }
        }
    }
}
