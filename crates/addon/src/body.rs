//! Request bodies that are too large to be read on a worker, held outside of the JavaScript heap: there, a body would be
//! copied three times in one step and cause garbage collections, which stop the worker.

use crate::executors::pooled;
use napi::bindgen_prelude::{Buffer, External, Object, Uint8Array};
use napi::{Env, Error, Result};
use napi_derive::napi;
use parking_lot::Mutex;
use rhizome_answers::{RpcError, body};
use std::ops::{Deref, Range};
use std::str;
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

    fn part(&self, start: u32, end: u32) -> BodyPart {
        BodyPart { body: Arc::clone(&self.0), range: start as usize..end as usize }
    }
}

/// A range of a body that was split. It begins and ends between characters.
pub struct BodyPart {
    body: Arc<Mutex<LargeBodyState>>,
    range: Range<usize>,
}

impl BodyPart {
    /// Returns the text. It shares the memory of the body, also after the body is closed.
    pub(crate) fn text(&self) -> Result<BodyText> {
        let bytes = match &*self.body.lock() {
            LargeBodyState::Joined(bytes) => Some(Arc::clone(bytes)),
            _ => None,
        };
        let text = bytes.filter(|bytes| bytes.get(self.range.clone()).is_some_and(|part| str::from_utf8(part).is_ok()));
        let bytes = text.ok_or_else(|| Error::from_reason("no such range in a body"))?;
        Ok(BodyText { bytes, range: self.range.clone() })
    }
}

/// Text in the memory of a body.
pub(crate) struct BodyText {
    bytes: Arc<Vec<u8>>,
    /// A range of UTF-8.
    range: Range<usize>,
}

impl Deref for BodyText {
    type Target = str;

    #[expect(unsafe_code, reason = "a large text is checked once")]
    fn deref(&self) -> &str {
        // Safety: the range was checked, and the bytes do not change.
        unsafe { str::from_utf8_unchecked(self.bytes.get(self.range.clone()).unwrap_or_default()) }
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
