//! Typed access to the fields of a JSON object, with the path of the field in every error.

use super::SpecError;
use alloy_primitives::{Address, B256, Bytes, I256, U256, hex};
use serde_json::{Map, Value};

/// A JSON value with its path.
#[derive(Clone)]
pub(super) struct SpecField<'a> {
    pub(super) path: String,
    value: &'a Value,
}

impl<'a> SpecField<'a> {
    pub(super) fn root(value: &'a Value) -> SpecField<'a> {
        SpecField { path: String::new(), value }
    }

    fn bad(&self, expected: &'static str) -> SpecError {
        let mut got = self.value.to_string();
        if let Some((end, _)) = got.char_indices().nth(60) {
            got.truncate(end);
            got.push('…');
        }
        let path = if self.path.is_empty() { "the specification".to_owned() } else { self.path.clone() };
        SpecError::BadValue { path, expected, got }
    }

    fn child(&self, key: &str, value: &'a Value) -> SpecField<'a> {
        let path = if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) };
        SpecField { path, value }
    }

    /// Iterates over the members of an object.
    pub(super) fn members(&self) -> Result<impl Iterator<Item = (&'a str, SpecField<'a>)> + use<'a>, SpecError> {
        let map = self.object()?;
        let parent = self.clone();
        Ok(map.iter().map(move |(key, value)| (key.as_str(), parent.child(key, value))))
    }

    fn object(&self) -> Result<&'a Map<String, Value>, SpecError> {
        self.value.as_object().ok_or_else(|| self.bad("an object"))
    }

    /// Rejects members that are not listed.
    pub(super) fn allow(&self, known: &[&str]) -> Result<(), SpecError> {
        match self.members()?.find(|(key, _)| !known.contains(key)) {
            Some((_, field)) => Err(SpecError::UnknownField { path: field.path }),
            None => Ok(()),
        }
    }

    /// Returns a member; `None` if it is absent or null.
    pub(super) fn optional(&self, key: &str) -> Result<Option<SpecField<'a>>, SpecError> {
        Ok(self.object()?.get(key).filter(|value| !value.is_null()).map(|value| self.child(key, value)))
    }

    /// Returns a member; fails if it is absent or null.
    pub(super) fn required(&self, key: &str) -> Result<SpecField<'a>, SpecError> {
        self.optional(key)?.ok_or_else(|| SpecError::MissingField { path: self.child(key, self.value).path })
    }

    pub(super) fn text(&self) -> Result<&'a str, SpecError> {
        self.value.as_str().ok_or_else(|| self.bad("a text"))
    }

    /// Returns the text; `None` if the value has another type.
    pub(super) fn as_text(&self) -> Option<&'a str> {
        self.value.as_str()
    }

    /// Parses a number from 0 to `max`, a JSON number or a decimal string.
    pub(super) fn number(&self, max: u64, expected: &'static str) -> Result<u64, SpecError> {
        let number = match self.value {
            Value::String(text) => decimal(text).and_then(|amount| u64::try_from(amount).ok()),
            other => other.as_u64(),
        };
        number.filter(|&number| number <= max).ok_or_else(|| self.bad(expected))
    }

    /// Parses the name of this member as a block number.
    pub(super) fn decimal_key(&self, name: &str) -> Result<u64, SpecError> {
        let number = decimal(name).and_then(|number| u64::try_from(number).ok());
        number.ok_or_else(|| self.bad("a member named by a block number"))
    }

    /// Parses a number above 0: zero makes no sense for most constants, which are divisors or limits.
    pub(super) fn positive(&self, max: u64) -> Result<u64, SpecError> {
        match self.number(max, "a whole number above 0")? {
            0 => Err(self.bad("a whole number above 0")),
            number => Ok(number),
        }
    }

    /// Parses a height: a whole number, or -1 for never.
    pub(super) fn height(&self) -> Result<Option<u64>, SpecError> {
        const EXPECTED: &str = "a block number, or -1 for never";
        match self.value.as_i64() {
            Some(-1) => Ok(None),
            Some(height) => u64::try_from(height).map(Some).map_err(|_negative| self.bad(EXPECTED)),
            None => Err(self.bad(EXPECTED)),
        }
    }

    /// Parses an amount of up to 256 bits, a decimal string or a JSON number.
    pub(super) fn amount(&self) -> Result<U256, SpecError> {
        let amount = match self.value {
            Value::String(text) => decimal(text),
            other => other.as_u64().map(U256::from),
        };
        amount.ok_or_else(|| self.bad("an amount in decimal digits"))
    }

    /// Parses any number of bytes in hex, with or without `0x`.
    pub(super) fn bytes(&self) -> Result<Bytes, SpecError> {
        let bytes = self.value.as_str().and_then(|text| hex::decode(text).ok());
        bytes.map(Bytes::from).ok_or_else(|| self.bad("bytes in hex"))
    }

    fn fixed<const N: usize>(&self, expected: &'static str) -> Result<[u8; N], SpecError> {
        <[u8; N]>::try_from(self.bytes()?.as_ref()).map_err(|_wrong_length| self.bad(expected))
    }

    pub(super) fn address(&self) -> Result<Address, SpecError> {
        self.fixed::<20>("20 bytes in hex").map(Address::from)
    }

    pub(super) fn hash(&self) -> Result<B256, SpecError> {
        self.fixed::<32>("32 bytes in hex").map(B256::from)
    }

    /// Parses an unsigned number below 2^63 in at most 8 bytes of hex.
    pub(super) fn hex_number(&self) -> Result<u64, SpecError> {
        let bytes = self.bytes()?;
        crate::rlp::read_u64(&bytes, i64::MAX as u64, "number")
            .map_err(|_too_large| self.bad("a number below 2^63 in hex"))
    }

    /// Parses a signed number in hex; `None` if it has no bytes.
    pub(super) fn hex_signed(&self) -> Result<Option<I256>, SpecError> {
        let bytes = self.bytes()?;
        if bytes.is_empty() {
            return Ok(None);
        }
        let number = crate::rlp::read_signed(&bytes, "number");
        number.map(Some).map_err(|_too_large| self.bad("a signed number of at most 32 bytes in hex"))
    }

    /// Checks a difficulty in hex and returns its bytes unchanged.
    pub(super) fn hex_difficulty(&self) -> Result<Bytes, SpecError> {
        let bytes = self.bytes()?;
        match crate::rlp::read_difficulty(&bytes, "difficulty") {
            Ok(_) => Ok(bytes),
            Err(_) => Err(self.bad("a positive signed number in hex")),
        }
    }
}

/// Parses decimal digits only: no sign, no prefix, no separators.
fn decimal(text: &str) -> Option<U256> {
    let is_decimal = !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit());
    is_decimal.then(|| U256::from_str_radix(text, 10).ok()).flatten()
}
