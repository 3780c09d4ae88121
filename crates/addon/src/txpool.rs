//! `txpool_*`.

use crate::lanes::sync;
use crate::reply::Reply;
use napi::Result;
use napi_derive::napi;
use rhizome_answers::txpool;

/// `txpool_content`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn txpool_content() -> Result<Reply> {
    sync(txpool::content::answer)
}

/// `txpool_inspect`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn txpool_inspect() -> Result<Reply> {
    sync(txpool::inspect::answer)
}

/// `txpool_status`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn txpool_status() -> Result<Reply> {
    sync(txpool::status::answer)
}
