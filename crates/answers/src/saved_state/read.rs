//! Reads a state.

use super::{MAX_BYTES, SavedStateError};
use flate2::read::GzDecoder;
use rhizome_primitives::{Address, Bytes, I256, U256, hex};
use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::io::Read;

/// First bytes of a gzip file.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// An account to be written.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SavedAccount {
    pub(super) address: Address,
    pub(super) nonce: u64,
    /// In wei.
    pub(super) balance: I256,
    pub(super) code: Bytes,
    pub(super) storage: BTreeMap<U256, U256>,
}

/// Returns the accounts of a state, which is a JSON text or that text compressed by gzip.
pub(super) fn accounts(bytes: &[u8]) -> Result<Vec<SavedAccount>, SavedStateError> {
    match bytes.starts_with(&GZIP) {
        true => parse(&decompressed(bytes)?),
        false if bytes.len() > MAX_BYTES => Err(SavedStateError::TooLong),
        false => parse(bytes),
    }
}

fn decompressed(bytes: &[u8]) -> Result<Vec<u8>, SavedStateError> {
    let mut text = Vec::new();
    // One byte more shows that a text is too long.
    let most = MAX_BYTES as u64 + 1;
    GzDecoder::new(bytes).take(most).read_to_end(&mut text).map_err(SavedStateError::Compression)?;
    if text.len() > MAX_BYTES { Err(SavedStateError::TooLong) } else { Ok(text) }
}

fn parse(text: &[u8]) -> Result<Vec<SavedAccount>, SavedStateError> {
    let StateObject { accounts } = serde_json::from_slice(text).map_err(SavedStateError::Format)?;
    let read = |(Hex(address), object): (Hex<20>, AccountObject)| {
        let address = Address::new(address);
        let balance = I256::try_from(object.balance.0).map_err(|_sign| SavedStateError::Balance(address))?;
        let storage = object.storage.into_iter().map(|(Word(slot), Word(word))| (slot, word)).collect();
        Ok(SavedAccount { address, nonce: object.nonce.0, balance, code: object.code.0, storage })
    };
    accounts.into_iter().map(read).collect()
}

#[derive(Deserialize)]
struct StateObject {
    accounts: BTreeMap<Hex<20>, AccountObject>,
}

#[derive(Deserialize)]
struct AccountObject {
    nonce: Nonce,
    balance: Word,
    code: HexBytes,
    storage: BTreeMap<Word, Word>,
}

/// Bytes of a fixed number, 0x and hex digits.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Hex<const BYTES: usize>([u8; BYTES]);

/// Bytes, 0x and hex digits.
struct HexBytes(Bytes);

/// A number of at most 256 bits: 0x and hex digits, decimal digits, or a JSON number.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Word(U256);

/// A [`Word`] of at most 64 bits.
struct Nonce(u64);

impl<'de, const BYTES: usize> Deserialize<'de> for Hex<BYTES> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = deserializer.deserialize_str(TextVisitor)?;
        let mut bytes = [0; BYTES];
        match text.strip_prefix("0x").map(|digits| hex::decode_to_slice(digits, &mut bytes)) {
            Some(Ok(())) => Ok(Self(bytes)),
            _ => Err(D::Error::custom(format_args!("expected 0x and {} hex digits", 2 * BYTES))),
        }
    }
}

impl<'de> Deserialize<'de> for HexBytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = deserializer.deserialize_str(TextVisitor)?;
        match text.strip_prefix("0x").map(hex::decode) {
            Some(Ok(bytes)) => Ok(Self(bytes.into())),
            _ => Err(D::Error::custom("expected bytes, 0x and an even number of hex digits")),
        }
    }
}

impl<'de> Deserialize<'de> for Word {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(WordVisitor).map(Self)
    }
}

impl<'de> Deserialize<'de> for Nonce {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let nonce = deserializer.deserialize_any(WordVisitor)?;
        u64::try_from(nonce).map(Self).map_err(|_bits| D::Error::custom("a nonce has at most 64 bits"))
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Cow<'de, str>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("text of 0x and hex digits")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(text))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(text.to_owned()))
    }
}

struct WordVisitor;

impl Visitor<'_> for WordVisitor {
    type Value = U256;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a number of at most 256 bits, 0x and hex digits, or decimal")
    }

    fn visit_u64<E>(self, number: u64) -> Result<U256, E> {
        Ok(U256::from(number))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<U256, E> {
        let (digits, radix) = text.strip_prefix("0x").map_or((text, 10), |digits| (digits, 16));
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        match is_number.then(|| U256::from_str_radix(digits, radix)) {
            Some(Ok(number)) => Ok(number),
            _ => Err(E::invalid_value(Unexpected::Other("another text"), &self)),
        }
    }
}
