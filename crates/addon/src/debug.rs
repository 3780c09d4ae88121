//! `debug_*`.

use crate::lanes::sync;
use crate::reply::Reply;
use napi::Result;
use napi_derive::napi;
use rhizome_answers::debug;
use rhizome_answers::selector::Selector;

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
