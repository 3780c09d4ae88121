//! Parameters as they come from the wire: text in, checked values out, the reference's words when they are refused.

use crate::error::RpcError;
use rhizome_primitives::{Address, B256, Bytes, U256, hex};
use std::borrow::Cow;

/// Longest text of a number, prefix included.
const NUMBER_TEXT_LIMIT: usize = 66;

/// An address: 40 hex digits, with or without `0x`, any case; 39 digits after `0x` are padded on the left.
pub fn address(text: &str) -> Result<Address, RpcError> {
    let wrong_length = || RpcError::invalid_params("Invalid address: null, empty or invalid hex value.");
    let digits = match text.strip_prefix("0x") {
        Some(digits) if digits.len() == 39 || digits.len() == 40 => digits,
        None if text.len() == 40 => text,
        _ => return Err(wrong_length()),
    };
    let bytes = array(digits).ok_or_else(|| RpcError::invalid_params("Invalid address format: invalid hex value."))?;
    Ok(Address::new(bytes))
}

/// A 32-byte hash; `kind` is `block hash`, `transaction hash` or `topic` and goes into the message.
pub fn hash(text: &str, kind: &str) -> Result<B256, RpcError> {
    let wrong_length = || RpcError::invalid_params(format!("Invalid {kind}: incorrect length."));
    let digits = match text.strip_prefix("0x") {
        Some(digits) if digits.len() == 63 || digits.len() == 64 => digits,
        None if text.len() == 64 => text,
        _ => return Err(wrong_length()),
    };
    let bytes =
        array(digits).ok_or_else(|| RpcError::invalid_params(format!("Invalid {kind} format: invalid hex value")))?;
    Ok(B256::new(bytes))
}

/// A block hash.
pub fn block_hash(text: &str) -> Result<B256, RpcError> {
    hash(text, "block hash")
}

/// A transaction hash.
pub fn transaction_hash(text: &str) -> Result<B256, RpcError> {
    hash(text, "transaction hash")
}

/// An index: `0x` and up to 31 bits.
pub fn index(text: &str) -> Result<usize, RpcError> {
    let out_of_range = || RpcError::invalid_params("Invalid index param: value must be a valid hex number.");
    if text.is_empty() || text == "0x" {
        return Err(out_of_range());
    }
    if text.len() > NUMBER_TEXT_LIMIT {
        return Err(RpcError::invalid_params(format!("Invalid argument: {}", shortened(text))));
    }
    let digits = text.strip_prefix("0x").filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
    let Some(digits) = digits else {
        let message = format!("Invalid argument \"{text}\": param should be a hex value string.");
        return Err(RpcError::invalid_params(message));
    };
    u32::from_str_radix(digits, 16)
        .ok()
        .filter(|value| i32::try_from(*value).is_ok())
        .and_then(|value| usize::try_from(value).ok())
        .ok_or_else(out_of_range)
}

/// A number: `0x` hex or decimal digits, at most 66 characters, not negative.
pub fn number(text: &str) -> Result<U256, RpcError> {
    if text.len() > NUMBER_TEXT_LIMIT {
        return Err(RpcError::invalid_params(format!("Invalid param: {}", shortened(text))));
    }
    let malformed =
        || RpcError::invalid_params(format!("Invalid param {text}: value must be a valid hex or string number."));
    if let Some(digits) = text.strip_prefix("0x") {
        let mut word = [b'0'; 64];
        let zeros = word.len().checked_sub(digits.len()).ok_or_else(malformed)?;
        word[zeros..].copy_from_slice(digits.as_bytes());
        let mut bytes = [0; 32];
        // A prefix that the decoder would skip leaves too few digits.
        hex::decode_to_slice(word, &mut bytes).map_err(|_fault| malformed())?;
        return Ok(U256::from_be_bytes(bytes));
    }
    if text.bytes().all(|byte| byte.is_ascii_hexdigit()) && !text.bytes().all(|byte| byte.is_ascii_digit())
        || text.is_empty()
    {
        let message = "Number values should not contain letters or hex values should start with 0x.";
        return Err(RpcError::invalid_params(message));
    }
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(malformed());
    }
    U256::from_str_radix(text, 10).map_err(|_overflow| malformed())
}

/// Several numbers.
pub fn numbers(texts: &[String]) -> Result<Vec<U256>, RpcError> {
    texts.iter().map(|text| number(text)).collect()
}

/// Bytes: hex with or without `0x`; an odd number of digits is padded on the left, nothing is empty.
pub fn bytes(text: &str) -> Result<Bytes, RpcError> {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    padded_hex(digits)
        .map(Bytes::from)
        .ok_or_else(|| RpcError::invalid_params("Invalid data format: invalid hex value."))
}

/// As many bytes as the digits say.
fn array<const BYTES: usize>(digits: &str) -> Option<[u8; BYTES]> {
    let mut bytes = [0; BYTES];
    hex::decode_to_slice(&*padded(digits)?, &mut bytes).ok()?;
    Some(bytes)
}

fn padded_hex(digits: &str) -> Option<Vec<u8>> {
    hex::decode(&*padded(digits)?).ok()
}

/// An even number of digits.
fn padded(digits: &str) -> Option<Cow<'_, str>> {
    let padded = if digits.len().is_multiple_of(2) { digits.into() } else { Cow::from(format!("0{digits}")) };
    // The decoder would skip a prefix.
    (!padded.starts_with("0x")).then_some(padded)
}

fn shortened(text: &str) -> String {
    let cut: String = text.chars().take(NUMBER_TEXT_LIMIT).collect();
    cut + "..."
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message<T: std::fmt::Debug>(result: Result<T, RpcError>) -> String {
        result.unwrap_err().message
    }

    #[test]
    fn addresses() {
        let padded = address("0xd2a3d9f938e13cd947ec05abc7fe734df8dd826").unwrap();
        assert_eq!(padded.as_slice()[0], 0x0d);
        assert!(address("CD2A3D9F938E13CD947EC05ABC7FE734DF8DD826").is_ok());
        for bad in ["", "0x12", "0xcd2a3d9f938e13cd947ec05abc7fe734df8dd82600"] {
            assert_eq!(message(address(bad)), "Invalid address: null, empty or invalid hex value.");
        }
        for digits in
            ["zz2a3d9f938e13cd947ec05abc7fe734df8dd826", "x2a3d9f938e13cd947ec05abc7fe734df8dd826", &"é".repeat(20)]
        {
            let message = message(address(&format!("0x{digits}")));
            assert_eq!(message, "Invalid address format: invalid hex value.");
        }
        let twice = "0x0x2a3d9f938e13cd947ec05abc7fe734df8dd826";
        assert_eq!(message(address(twice)), "Invalid address format: invalid hex value.");
    }

    #[test]
    fn hashes_name_their_kind() {
        assert_eq!(message(block_hash("0x12")), "Invalid block hash: incorrect length.");
        assert_eq!(message(hash("zz", "topic")), "Invalid topic: incorrect length.");
        let not_hex = "z".repeat(64);
        assert_eq!(message(transaction_hash(&not_hex)), "Invalid transaction hash format: invalid hex value");
        assert!(block_hash(&format!("0x{}", "a".repeat(63))).is_ok());
    }

    #[test]
    fn indexes() {
        assert_eq!(index("0x0a").unwrap(), 10);
        assert_eq!(index("0x7fffffff").unwrap(), 0x7fff_ffff);
        assert_eq!(message(index("5")), "Invalid argument \"5\": param should be a hex value string.");
        for bad in ["", "0x", "0x80000000"] {
            assert_eq!(message(index(bad)), "Invalid index param: value must be a valid hex number.");
        }
    }

    #[test]
    fn numbers() {
        assert_eq!(number("0x").unwrap(), U256::ZERO);
        assert_eq!(number("0x0010").unwrap(), U256::from(16));
        assert_eq!(number("21000").unwrap(), U256::from(21000));
        assert_eq!(number(&format!("0x{}", "f".repeat(64))).unwrap(), U256::MAX);
        assert_eq!(number("0xAbC").unwrap(), U256::from(0xabc));
        for bad in ["0x1g", "0x0x1", "0xé", &format!("0x0x{}", "1".repeat(62))] {
            let expected = format!("Invalid param {bad}: value must be a valid hex or string number.");
            assert_eq!(message(number(bad)), expected);
        }
        assert_eq!(message(number("zz")), "Invalid param zz: value must be a valid hex or string number.");
        assert_eq!(message(number("1.5")), "Invalid param 1.5: value must be a valid hex or string number.");
        assert_eq!(message(number("-1")), "Invalid param -1: value must be a valid hex or string number.");
        for bad in ["", "abc"] {
            let expected = "Number values should not contain letters or hex values should start with 0x.";
            assert_eq!(message(number(bad)), expected);
        }
        let long = format!("0x{}", "f".repeat(66));
        assert_eq!(message(number(&long)), format!("Invalid param: {}...", &long[..66]));
    }

    #[test]
    fn byte_strings() {
        assert_eq!(bytes("").unwrap().len(), 0);
        assert_eq!(bytes("0x1").unwrap().as_ref(), &[1]);
        assert_eq!(bytes("abcd").unwrap().as_ref(), &[0xab, 0xcd]);
        for bad in ["0x0x12", "0x0x1", "x12", "0xx12", "0x1g", "0xg", "0xé"] {
            assert_eq!(message(bytes(bad)), "Invalid data format: invalid hex value.");
        }
        assert_eq!(message(bytes("zz")), "Invalid data format: invalid hex value.");
    }
}
