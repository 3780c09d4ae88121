//! Receipt objects.

use crate::json::JsonWriter;
use crate::objects::log;
use crate::objects::transaction::{self, MinedPosition};
use rhizome_chain::LogPosition;
use rhizome_primitives::transaction::created_address;
use rhizome_primitives::{Address, Receipt, Transaction};

/// Writes the receipt of a mined transaction. `first_log_index` is the number of logs of the transactions before it.
pub fn write(
    json: &mut JsonWriter,
    mined: &Transaction,
    sender: &Address,
    receipt: &Receipt,
    position: &MinedPosition,
    first_log_index: u64,
) {
    let hash = mined.hash();
    json.begin_object();
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
    json.key("logs").begin_array();
    for (log, log_index) in receipt.logs.iter().zip(first_log_index..) {
        let log_place = LogPosition {
            block_number: position.block_number,
            block_hash: position.block_hash,
            transaction_hash: hash,
            transaction_index: position.index,
            log_index,
        };
        log::write(json, log, &log_place, None);
    }
    json.end_array();
    json.key("from").data(sender.as_slice());
    transaction::write_recipient(json, mined);
    json.key("status").quantity(u64::from(receipt.success));
    json.key("logsBloom").data(receipt.bloom.as_bytes());
    json.key("type").quantity(0);
    json.key("effectiveGasPrice").quantity_wide(&mined.gas_price());
    json.end_object();
}
