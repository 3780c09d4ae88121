//! `personal_sign` with the passphrase of a stored account.

use crate::accounts::{self, message_hash, read_key};
use crate::error::Answer;
use crate::json;
use rhizome_primitives::Bytes;

/// Signature under the standard prefix with a key: r, s, v.
pub fn answer(key: &[u8], message: &Bytes) -> Answer {
    Ok(json::data(&accounts::sign(&read_key(key)?, &message_hash(message))?))
}
