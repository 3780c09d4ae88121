//! Receipt objects.

use crate::json::JsonWriter;
use crate::objects::log;
use crate::objects::transaction::{self, MinedPosition};
use rhizome_chain::LogPosition;
use rhizome_primitives::transaction::created_address;
use rhizome_primitives::{Address, B256, Receipt, Transaction};

/// How the logs of a receipt are written.
#[derive(Clone, Copy)]
struct LogForm {
    /// Number of the logs of the transactions before it.
    first_index: u64,
    /// Value of the member `removed`; absent in receipts of the interface.
    removed: Option<bool>,
}

/// Writes the receipt of a mined transaction. `first_log_index` is the number of logs of the transactions before it.
pub fn write(
    json: &mut JsonWriter,
    mined: &Transaction,
    sender: &Address,
    receipt: &Receipt,
    position: &MinedPosition,
    first_log_index: u64,
) {
    json.begin_object();
    write_members(
        json,
        mined,
        sender,
        receipt,
        position,
        Some(LogForm { first_index: first_log_index, removed: None }),
    );
    json.end_object();
}

/// Does the same as [`write`] with the time of the block in seconds since 1970, and `removed` in logs, without which Otterscan does not
/// read them.
pub(crate) fn write_with_time(
    json: &mut JsonWriter,
    mined: &Transaction,
    sender: &Address,
    receipt: &Receipt,
    position: &MinedPosition,
    (first_log_index, timestamp): (u64, u64),
) {
    json.begin_object();
    let logs = LogForm { first_index: first_log_index, removed: Some(false) };
    write_members(json, mined, sender, receipt, position, Some(logs));
    json.key("timestamp").number(timestamp.cast_signed());
    json.end_object();
}

/// Does the same as [`write`]; logs and bloom are null (Otterscan).
pub(crate) fn write_without_logs(
    json: &mut JsonWriter,
    mined: &Transaction,
    sender: &Address,
    receipt: &Receipt,
    position: &MinedPosition,
) {
    json.begin_object();
    write_members(json, mined, sender, receipt, position, None);
    json.end_object();
}

fn write_members(
    json: &mut JsonWriter,
    mined: &Transaction,
    sender: &Address,
    receipt: &Receipt,
    position: &MinedPosition,
    logs: Option<LogForm>,
) {
    let hash = mined.hash();
    json.key("transactionHash").hash(&hash);
    json.key("transactionIndex").quantity(position.index);
    json.key("blockHash").hash(&position.block_hash);
    json.key("blockNumber").quantity(position.block_number);
    json.key("cumulativeGasUsed").quantity(receipt.cumulative_gas);
    json.key("gasUsed").quantity(receipt.gas_used);
    // A creation that failed shows the address that it would have made.
    if mined.is_creation() {
        json.key("contractAddress").data(created_address(sender, &mined.nonce()).as_slice());
    } else {
        json.key("contractAddress").null();
    }
    match logs {
        Some(form) => write_logs(json, receipt, position, &hash, form),
        None => json.key("logs").null(),
    }
    json.key("from").data(sender.as_slice());
    transaction::write_recipient(json, mined);
    json.key("status").quantity(u64::from(receipt.success));
    match logs {
        Some(_) => json.key("logsBloom").data(receipt.bloom.as_bytes()),
        None => json.key("logsBloom").null(),
    }
    json.key("type").quantity(0);
    json.key("effectiveGasPrice").quantity_wide(&mined.gas_price());
}

fn write_logs(json: &mut JsonWriter, receipt: &Receipt, position: &MinedPosition, hash: &B256, form: LogForm) {
    json.key("logs").begin_array();
    for (log, log_index) in receipt.logs.iter().zip(form.first_index..) {
        let log_place = LogPosition {
            block_number: position.block_number,
            block_hash: position.block_hash,
            transaction_hash: *hash,
            transaction_index: position.index,
            log_index,
        };
        log::write(json, log, &log_place, form.removed);
    }
    json.end_array();
}
