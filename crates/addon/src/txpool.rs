//! `txpool_*` methods.

use crate::executors::{pooled, sync};
use crate::reply::Reply;
use napi::bindgen_prelude::Object;
use napi::{Env, Result};
use napi_derive::napi;
use rhizome_answers::txpool;

/// Answers `txpool_content`.
#[napi(catch_unwind, ts_return_type = "Promise<string | Buffer>")]
pub fn txpool_content(env: &Env, deadline_ms: i64, token: i64) -> Result<Object<'_>> {
    pooled(env, deadline_ms, token, |node, _limit| txpool::content::answer(node))
}

/// Answers `txpool_inspect`.
#[napi(catch_unwind, ts_return_type = "Promise<string | Buffer>")]
pub fn txpool_inspect(env: &Env, deadline_ms: i64, token: i64) -> Result<Object<'_>> {
    pooled(env, deadline_ms, token, |node, _limit| txpool::inspect::answer(node))
}

/// Answers `txpool_status`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn txpool_status() -> Result<Reply> {
    sync(txpool::status::answer)
}
