//! Request bodies that are too large to be read on a worker, held outside of the JavaScript heap: there, a body would be
//! copied three times in one step and cause garbage collections, which stop the worker.

use napi::{Error, Result};
use parking_lot::Mutex;
use std::ops::{Deref, Range};
use std::sync::Arc;

/// Capacity of a block, unless a piece is larger. Clients that send single bytes cause no allocation for each of them.
const BLOCK_BYTES: usize = 64 << 10;

/// A body. Its memory is free when it is closed, whenever JavaScript collects the handle.
#[derive(Clone)]
pub struct LargeBody(Arc<Mutex<LargeBodyState>>);

enum LargeBodyState {
    /// The blocks so far.
    Arriving(Vec<Vec<u8>>),
    /// A thread of the pool has the blocks.
    Splitting,
    /// All bytes, if they are text.
    Joined(Arc<String>),
    Closed,
}

impl LargeBody {
    /// Opens an empty body.
    pub(crate) fn open() -> Self {
        Self(Arc::new(Mutex::new(LargeBodyState::Arriving(Vec::new()))))
    }

    /// Copies a piece to the end.
    pub(crate) fn add(&self, piece: &[u8]) {
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

    /// Joins the pieces and returns the result of `read`. A body that is not UTF-8 has no parts. `None` if the body was joined or
    /// closed before.
    pub(crate) fn join<T>(&self, read: impl FnOnce(&[u8]) -> T) -> Option<T> {
        let LargeBodyState::Arriving(blocks) = std::mem::replace(&mut *self.0.lock(), LargeBodyState::Splitting) else {
            return None;
        };
        let joined = blocks.concat();
        drop(blocks);
        let result = read(&joined);
        let text = String::from_utf8(joined).ok();
        if let splitting @ LargeBodyState::Splitting = &mut *self.0.lock() {
            *splitting = text.map_or(LargeBodyState::Closed, |text| LargeBodyState::Joined(Arc::new(text)));
        }
        Some(result)
    }

    /// Frees the memory.
    pub(crate) fn close(&self) {
        *self.0.lock() = LargeBodyState::Closed;
    }

    /// Returns a range, in bytes.
    pub(crate) fn part(&self, start: u32, end: u32) -> BodyPart {
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
        let text = match &*self.body.lock() {
            LargeBodyState::Joined(text) => Some(Arc::clone(text)),
            _ => None,
        };
        let text = text.filter(|text| text.get(self.range.clone()).is_some());
        let text = text.ok_or_else(|| Error::from_reason("no such range in a body"))?;
        Ok(BodyText { text, range: self.range.clone() })
    }
}

/// Text in the memory of a body.
pub(crate) struct BodyText {
    text: Arc<String>,
    range: Range<usize>,
}

impl Deref for BodyText {
    type Target = str;

    fn deref(&self) -> &str {
        self.text.get(self.range.clone()).unwrap_or_default()
    }
}
