//! Request bodies that are too large to be read on a worker.

use crate::executors::pooled;
use napi::bindgen_prelude::{Object, Uint8Array};
use napi::{Env, Result};
use napi_derive::napi;
use rhizome_answers::{RpcError, body};

/// Says where the requests of a body are, as JSON: see `answers/src/body.rs`.
#[napi(catch_unwind, ts_return_type = "Promise<string | Buffer>")]
pub fn split_body(env: &Env, body: Uint8Array, most_requests: u32, deadline_ms: i64, token: i64) -> Result<Object<'_>> {
    let body = body.to_vec();
    pooled(env, deadline_ms, token, move |_node, _limit| {
        Ok(body::split(&body, usize::try_from(most_requests).map_err(RpcError::internal)?))
    })
}
