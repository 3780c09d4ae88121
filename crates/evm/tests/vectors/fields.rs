//! Fields of golden cases. A missing field or a field of a different type fails the case.

use rhizome_primitives::{Address, B256, Bytes, U256, hex};
use serde_json::Value;

use super::Mismatch;

type Read<T> = Result<T, Mismatch>;

pub(super) fn text<'v>(value: &'v Value, name: &str) -> Read<&'v str> {
    value[name].as_str().ok_or_else(|| Mismatch::broken(name, "no text"))
}

/// Parses a hex quantity.
pub(super) fn number(text: &str) -> Read<U256> {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    U256::from_str_radix(digits, 16).map_err(|error| Mismatch::broken(text, error))
}

/// Reads the named quantity, zero if absent.
pub(super) fn number_at(value: &Value, name: &str) -> Read<U256> {
    value[name].as_str().map_or(Ok(U256::ZERO), number)
}

/// Reads the named quantity or JSON number as 64 bits, zero if absent.
pub(super) fn small_at(value: &Value, name: &str) -> Read<u64> {
    match value[name].as_u64() {
        Some(number) => Ok(number),
        None => number_at(value, name).map(|number| number.saturating_to()),
    }
}

pub(super) fn address(text: &str) -> Read<Address> {
    text.parse().map_err(|error| Mismatch::broken(text, error))
}

pub(super) fn address_at(value: &Value, name: &str) -> Read<Address> {
    text(value, name).and_then(address)
}

pub(super) fn optional_address_at(value: &Value, name: &str) -> Read<Option<Address>> {
    value[name].as_str().map(address).transpose()
}

pub(super) fn hash(text: &str) -> Read<B256> {
    text.parse().map_err(|error| Mismatch::broken(text, error))
}

pub(super) fn hash_at(value: &Value, name: &str) -> Read<B256> {
    text(value, name).and_then(hash)
}

/// Decodes hex digits, also an odd number of them.
pub(super) fn hex_bytes(text: &str) -> Read<Bytes> {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    let padded = if digits.len().is_multiple_of(2) { digits.to_owned() } else { format!("0{digits}") };
    hex::decode(padded).map(Bytes::from).map_err(|error| Mismatch::broken(text, error))
}

/// Reads bytes; null is empty, and an object `{repeat, count}` is a repeated byte.
pub(super) fn bytes_at(value: &Value, name: &str) -> Read<Bytes> {
    let value = &value[name];
    if let Some(text) = value.as_str() {
        return hex_bytes(text);
    }
    let Some(count) = value["count"].as_u64() else { return Ok(Bytes::new()) };
    let repeated = hex_bytes(text(value, "repeat")?)?;
    Ok(repeated.repeat(count as usize).into())
}
