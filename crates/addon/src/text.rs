//! Texts from JavaScript. Short texts are read in one call without an allocation, large ones are buffers of bytes or parts
//! of a large body.

use crate::large_body::{BodyPart, BodyText};
use napi::bindgen_prelude::{External, FromNapiRef, FromNapiValue, Uint8Array};
use napi::{Error, Result, Status, sys};
use std::ffi::c_char;
use std::ops::Deref;
use std::str;

/// Capacity for a hash in hex and one more character.
const HASH: usize = 72;
/// Maximum size of a character in bytes.
const CHARACTER: usize = 4;

/// Text parameter, usually shorter than its capacity `ROOM`. Longer texts are allocated.
pub struct Text<const ROOM: usize = HASH>(Kept<ROOM>);

enum Kept<const ROOM: usize> {
    Short { room: [u8; ROOM], length: usize },
    Long(String),
    Shared(BodyText),
}

impl<const ROOM: usize> Deref for Text<ROOM> {
    type Target = str;

    #[expect(unsafe_code, reason = "the engine writes nothing but UTF-8")]
    fn deref(&self) -> &str {
        match &self.0 {
            // Safety: V8 writes U+FFFD for lone surrogates, and whole characters only.
            Kept::Short { room, length } => unsafe {
                str::from_utf8_unchecked(room.get(..*length).unwrap_or_default())
            },
            Kept::Long(text) => text,
            Kept::Shared(text) => text,
        }
    }
}

impl<const ROOM: usize> From<Text<ROOM>> for String {
    fn from(text: Text<ROOM>) -> Self {
        match text.0 {
            Kept::Long(text) => text,
            _ => (*text).to_owned(),
        }
    }
}

impl<const ROOM: usize> FromNapiValue for Text<ROOM> {
    #[expect(unsafe_code, reason = "the trait hands over a raw environment")]
    unsafe fn from_napi_value(env: sys::napi_env, value: sys::napi_value) -> Result<Self> {
        let mut room = [0; ROOM];
        let mut length = 0;
        let start = room.as_mut_ptr().cast::<c_char>();
        // Safety: the environment is that of the caller, and the array has `ROOM` bytes.
        let status = unsafe { sys::napi_get_value_string_utf8(env, value, start, ROOM, &mut length) };
        if Status::from(status) == Status::Ok && length + CHARACTER < ROOM {
            return Ok(Self(Kept::Short { room, length }));
        }
        // Bytes of a large request.
        if Status::from(status) == Status::StringExpected {
            // Safety: as above.
            if let Ok(part) = unsafe { External::<BodyPart>::from_napi_ref(env, value) } {
                return part.text().map(|text| Self(Kept::Shared(text)));
            }
            // Safety: as above.
            let bytes = unsafe { Uint8Array::from_napi_value(env, value) }?;
            let text = String::from_utf8(bytes.to_vec());
            return text.map(|text| Self(Kept::Long(text))).map_err(|fault| Error::from_reason(fault.to_string()));
        }
        // The text is longer, or the value is not a text: then this fails.
        // Safety: as above.
        unsafe { String::from_napi_value(env, value) }.map(|text| Self(Kept::Long(text)))
    }
}
