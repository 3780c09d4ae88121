//! Conversion of answers and errors to values of JavaScript.

use crate::owner;
use napi::bindgen_prelude::{Array, Buffer, JsValue, ToNapiValue};
use napi::{Env, Error, Result, Status, sys};
use napi_derive::napi;
use rhizome_answers::{ErrorCode, RpcError};
use std::ptr::null_mut;

/// Longer texts become a `Buffer`.
const LONGEST_STRING: usize = 64 * 1024;
/// The same in a batch. Many batches have thousands of answers in memory: garbage collections would move the strings, and the
/// bytes of a `Buffer` are outside of the heap.
const LONGEST_STRING_OF_BATCH: usize = 8 * 1024;
/// Longer texts are not copied. A `Buffer` that takes over memory has a finalizer, which costs more than a copy up to this size, and
/// thousands of finalizers may run in one step.
const LONGEST_COPY: usize = 256 * 1024;

/// Finished JSON text. In JavaScript a string, or a `Buffer` if it is longer than [`LONGEST_STRING`], in a batch
/// [`LONGEST_STRING_OF_BATCH`].
pub struct Reply(pub(crate) Vec<u8>);

impl ToNapiValue for Reply {
    #[expect(unsafe_code, reason = "the trait hands over a raw environment")]
    unsafe fn to_napi_value(env: sys::napi_env, reply: Self) -> Result<sys::napi_value> {
        // Safety: the environment is that of the caller.
        unsafe { value_of(env, reply.0, owner::is_batch()) }
    }
}

/// Converts the text of a [`Reply`].
#[expect(unsafe_code, reason = "calls the engine")]
pub(crate) unsafe fn value_of(env: sys::napi_env, text: Vec<u8>, is_batch: bool) -> Result<sys::napi_value> {
    let is_string = text.len() <= if is_batch { LONGEST_STRING_OF_BATCH } else { LONGEST_STRING };
    if text.len() > LONGEST_COPY {
        // Safety: the environment is that of the caller.
        return unsafe { Buffer::to_napi_value(env, Buffer::from(text)) };
    }
    let mut value = null_mut();
    // Safety: the environment is that of the caller. Pointer and length belong to a vector that lives until the end of this
    // function; the engine copies.
    let status = unsafe {
        if !is_string {
            sys::napi_create_buffer_copy(env, text.len(), text.as_ptr().cast(), null_mut(), &mut value)
        } else if text.is_ascii() {
            // One byte per character on both sides: a plain copy.
            sys::napi_create_string_latin1(env, text.as_ptr().cast(), text.len() as isize, &mut value)
        } else {
            sys::napi_create_string_utf8(env, text.as_ptr().cast(), text.len() as isize, &mut value)
        }
    };
    checked(status, "the answer could not become a value").map(|()| value)
}

/// Frees the memory of buffers that a [`Reply`] became, and leaves them empty. Skips memory that other objects may use: a part of an
/// `ArrayBuffer`, or a `SharedArrayBuffer`.
///
/// The engine frees them only when it collects all objects, 4 to 8 ms in one step, which it does whenever a worker has made 64 MB of
/// them. Batches of blocks from 100 connections: a quarter of the collections.
#[napi(catch_unwind, ts_args_type = "buffers: ReadonlyArray<Buffer>")]
pub fn release_buffers(env: &Env, buffers: Array<'_>) -> Result<()> {
    (0..buffers.len()).try_for_each(|index| release(env.raw(), buffers.raw(), index))
}

#[expect(unsafe_code, reason = "napi detaches no buffer without a reference to it, which costs more")]
fn release(env: sys::napi_env, buffers: sys::napi_value, index: u32) -> Result<()> {
    let (mut buffer, mut memory, mut data) = (null_mut(), null_mut(), null_mut());
    let (mut length, mut whole) = (0, 0);
    let (kind, offset) = (null_mut(), null_mut());
    let checked = |status| checked(status, "a buffer could not be released");
    // Safety: the environment is that of the caller, and all pointers are valid during the calls, which fail for values of other kinds.
    unsafe {
        checked(sys::napi_get_element(env, buffers, index, &mut buffer))?;
        checked(sys::napi_get_typedarray_info(env, buffer, kind, &mut length, &mut data, &mut memory, offset))?;
        let is_unshared = sys::napi_get_arraybuffer_info(env, memory, &mut data, &mut whole) == sys::Status::napi_ok;
        if is_unshared && whole == length {
            checked(sys::napi_detach_arraybuffer(env, memory))?;
        }
    }
    Ok(())
}

/// Converts the status of a call of the engine. `failure` is the message of the error.
pub(crate) fn checked(status: sys::napi_status, failure: &str) -> Result<()> {
    match Status::from(status) {
        Status::Ok => Ok(()),
        status => Err(Error::new(status, failure)),
    }
}

/// Returns an error whose message is the JSON `{code, message, data?}`. Internal errors cross as plain text for the log;
/// the client gets -32603.
pub(crate) fn refusal(error: RpcError) -> Error {
    let reason = match error {
        RpcError { code: ErrorCode::Internal, cause: Some(cause), .. } => cause,
        error => String::from_utf8_lossy(&error.to_json()).into_owned(),
    };
    Error::new(Status::GenericFailure, reason)
}

/// Converts a number of bytes.
pub(crate) fn size(bytes: i64) -> std::result::Result<usize, RpcError> {
    usize::try_from(bytes).map_err(RpcError::internal)
}
