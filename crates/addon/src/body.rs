//! Request bodies that are too large to be read on a worker, held outside of the JavaScript heap: there, a body would be
//! copied three times in one step and cause garbage collections, which stop the worker.

use crate::executors::pooled;
use napi::bindgen_prelude::{Buffer, External, Object, Uint8Array};
use napi::{Env, Error, Result};
use napi_derive::napi;
use parking_lot::Mutex;
use rhizome_answers::{RpcError, body};
use std::sync::Arc;

/// Capacity of a block, unless a piece is larger. Clients that send single bytes cause no allocation for each of them.
const BLOCK_BYTES: usize = 64 << 10;

/// A body. Its memory is free when it is closed, whenever JavaScript collects the handle.
pub struct LargeBody(Arc<Mutex<LargeBodyState>>);

enum LargeBodyState {
    /// The blocks so far.
    Arriving(Vec<Vec<u8>>),
    /// A thread of the pool has the blocks.
    Splitting,
    /// All bytes.
    Joined(Arc<Vec<u8>>),
    Closed,
}

impl LargeBody {
    fn add(&self, piece: &[u8]) {
        let LargeBodyState::Arriving(blocks) = &mut *self.0.lock() else { return };
        let room = blocks.last().map_or(0, |last| last.capacity() - last.len());
        let (fitting, rest) = piece.split_at(room.min(piece.len()));
        if let Some(last) = blocks.last_mut() {
            last.extend_from_slice(fitting);
        }
        if !rest.is_empty() {
            let mut block = Vec::with_capacity(rest.len().max(BLOCK_BYTES));
            block.extend_from_slice(rest);
            blocks.push(block);
        }
    }

    /// Calls `read` with a range of the bytes of a body that was split.
    fn read<T>(&self, start: u32, end: u32, read: impl FnOnce(&[u8]) -> Option<T>) -> Result<T> {
        let joined = match &*self.0.lock() {
            LargeBodyState::Joined(bytes) => Some(Arc::clone(bytes)),
            _ => None,
        };
        let (start, end) = (usize::try_from(start).ok(), usize::try_from(end).ok());
        let bytes = joined.as_ref().zip(start.zip(end)).and_then(|(bytes, (start, end))| bytes.get(start..end));
        bytes.and_then(read).ok_or_else(|| Error::from_reason("no such range in a body"))
    }
}

/// Opens an empty body.
#[napi(catch_unwind, ts_return_type = "object")]
pub fn open_body() -> External<LargeBody> {
    External::new(LargeBody(Arc::new(Mutex::new(LargeBodyState::Arriving(Vec::new())))))
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
    let state = Arc::clone(&body.0);
    pooled(env, deadline_ms, token, move |_node, _limit| {
        let most_requests = usize::try_from(most_requests).map_err(RpcError::internal)?;
        let LargeBodyState::Arriving(blocks) = std::mem::replace(&mut *state.lock(), LargeBodyState::Splitting) else {
            return Err(RpcError::internal("a body is split once, and before it is closed"));
        };
        let joined = Arc::new(blocks.concat());
        drop(blocks);
        if let splitting @ LargeBodyState::Splitting = &mut *state.lock() {
            *splitting = LargeBodyState::Joined(Arc::clone(&joined));
        }
        Ok(body::split(&joined, most_requests))
    })
}

/// Frees the memory of a body.
#[napi(catch_unwind)]
pub fn close_body(#[napi(ts_arg_type = "object")] body: &External<LargeBody>) {
    *body.0.lock() = LargeBodyState::Closed;
}

/// Returns a part of a body that was split. The range, in bytes, begins and ends between characters.
#[napi(catch_unwind)]
pub fn body_text(#[napi(ts_arg_type = "object")] body: &External<LargeBody>, start: u32, end: u32) -> Result<String> {
    body.read(start, end, |bytes| std::str::from_utf8(bytes).ok().map(str::to_owned))
}

/// Returns a copy of a part of a body that was split, in bytes.
#[napi(catch_unwind)]
pub fn body_bytes(#[napi(ts_arg_type = "object")] body: &External<LargeBody>, start: u32, end: u32) -> Result<Buffer> {
    body.read(start, end, |bytes| Some(Buffer::from(bytes)))
}
