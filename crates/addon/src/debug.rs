//! `debug_*`.

use crate::lanes::sync;
use crate::reply::Reply;
use napi::Result;
use napi_derive::napi;
use rhizome_answers::selector::Selector;
use rhizome_answers::{debug, parameters};

/// `debug_getRawBlock`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn debug_get_raw_block(block: String) -> Result<Reply> {
    sync(|node| debug::get_raw_block::answer(node, &Selector::parse(&block)?))
}

/// `debug_getRawHeader`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn debug_get_raw_header(block: String) -> Result<Reply> {
    sync(|node| debug::get_raw_header::answer(node, &Selector::parse(&block)?))
}

/// `debug_getRawReceipts`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn debug_get_raw_receipts(block: String) -> Result<Reply> {
    sync(|node| debug::get_raw_receipts::answer(node, &Selector::parse(&block)?))
}

/// `debug_wireProtocolQueueSize`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn debug_wire_protocol_queue_size() -> Result<Reply> {
    sync(|_node| debug::wire_protocol_queue_size::answer())
}

/// `debug_accountTransactionQuota`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn debug_account_transaction_quota(address: String) -> Result<Reply> {
    sync(|node| debug::account_transaction_quota::answer(node, &parameters::address(&address)?))
}
