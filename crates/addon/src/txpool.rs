//! `txpool_*` methods.

use crate::executors::{pooled, sync};
use crate::reply::{Reply, size};
use napi::bindgen_prelude::Object;
use napi::{Env, Result};
use napi_derive::napi;
use rhizome_answers::{parameters, txpool};

/// Answers `txpool_content` with at most `max_bytes`.
#[napi(catch_unwind, ts_return_type = "Promise<string | Buffer>")]
pub fn txpool_content(env: &Env, max_bytes: i64, deadline_ms: i64, token: i64) -> Result<Object<'_>> {
    pooled(env, deadline_ms, token, move |node, _limit| txpool::content::answer(node, size(max_bytes)?))
}

/// Answers `txpool_contentFrom` with at most `max_bytes`.
#[napi(catch_unwind, ts_return_type = "Promise<string | Buffer>")]
pub fn txpool_content_from(
    env: &Env,
    address: String,
    max_bytes: i64,
    deadline_ms: i64,
    token: i64,
) -> Result<Object<'_>> {
    pooled(env, deadline_ms, token, move |node, _limit| {
        txpool::content_from::answer(node, &parameters::address(&address)?, size(max_bytes)?)
    })
}

/// Answers `txpool_inspect` with at most `max_bytes`.
#[napi(catch_unwind, ts_return_type = "Promise<string | Buffer>")]
pub fn txpool_inspect(env: &Env, max_bytes: i64, deadline_ms: i64, token: i64) -> Result<Object<'_>> {
    pooled(env, deadline_ms, token, move |node, _limit| txpool::inspect::answer(node, size(max_bytes)?))
}

/// Answers `txpool_status`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn txpool_status() -> Result<Reply> {
    sync(txpool::status::answer)
}
