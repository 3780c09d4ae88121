//! Functions for large bodies: see `large_body.rs`.

use crate::executors::pooled;
use crate::large_body::{BodyPart, LargeBody};
use napi::bindgen_prelude::{Buffer, External, Object, Uint8Array};
use napi::{Env, Result};
use napi_derive::napi;
use rhizome_answers::RpcError;
use rhizome_answers::body::split;

/// Opens an empty body.
#[napi(catch_unwind, ts_return_type = "object")]
pub fn open_body() -> External<LargeBody> {
    External::new(LargeBody::open())
}

/// Copies a piece to the end of a body.
#[napi(catch_unwind)]
pub fn add_to_body(#[napi(ts_arg_type = "object")] body: &External<LargeBody>, piece: Uint8Array) {
    body.add(&piece);
}

/// Joins a body and returns where its requests are, as JSON: see `answers/src/body.rs`.
#[napi(catch_unwind, ts_return_type = "Promise<string | Buffer>")]
pub fn split_body<'e>(
    env: &'e Env,
    #[napi(ts_arg_type = "object")] body: &External<LargeBody>,
    most_requests: u32,
    deadline_ms: i64,
    token: i64,
) -> Result<Object<'e>> {
    let body = (**body).clone();
    pooled(env, deadline_ms, token, move |_node, _limit| {
        let most_requests = usize::try_from(most_requests).map_err(RpcError::internal)?;
        body.join(|bytes| split(bytes, most_requests))
            .ok_or_else(|| RpcError::internal("a body is split once, and before it is closed"))
    })
}

/// Frees the memory of a body.
#[napi(catch_unwind)]
pub fn close_body(#[napi(ts_arg_type = "object")] body: &External<LargeBody>) {
    body.close();
}

/// Returns a part of a body that was split. The range, in bytes, begins and ends between characters.
#[napi(catch_unwind)]
pub fn body_text(#[napi(ts_arg_type = "object")] body: &External<LargeBody>, start: u32, end: u32) -> Result<String> {
    Ok(body.part(start, end).text()?.to_owned())
}

/// Returns a copy of a part of a body that was split, in bytes.
#[napi(catch_unwind)]
pub fn body_bytes(#[napi(ts_arg_type = "object")] body: &External<LargeBody>, start: u32, end: u32) -> Result<Buffer> {
    Ok(Buffer::from(body.part(start, end).text()?.as_bytes()))
}

/// Returns a part of a body that was split, for functions that take texts. The bytes are not copied.
#[napi(catch_unwind, ts_return_type = "object")]
pub fn body_part(
    #[napi(ts_arg_type = "object")] body: &External<LargeBody>,
    start: u32,
    end: u32,
) -> External<BodyPart> {
    External::new(body.part(start, end))
}
