//! Parsers of numbers in the bytes of an item (docs/spec/blocks.md, 1.3). `field` names the field in errors.

use super::writer::strip_zeros;
use crate::error::DecodeError;
use alloy_primitives::{I256, U256};

/// Parses an unsigned number with any count of leading zeros; no bytes are zero. Rejects values above `max`.
pub fn read_u64(bytes: &[u8], max: u64, field: &'static str) -> Result<u64, DecodeError> {
    let digits = strip_zeros(bytes);
    let mut padded = [0; 8];
    let start = padded.len().checked_sub(digits.len()).ok_or(DecodeError::TooLarge(field))?;
    padded[start..].copy_from_slice(digits);
    let value = u64::from_be_bytes(padded);
    if value > max { Err(DecodeError::TooLarge(field)) } else { Ok(value) }
}

/// Parses an unsigned number with any count of leading zeros; no bytes are zero. Rejects values from 2^256 on.
pub fn read_u256(bytes: &[u8], field: &'static str) -> Result<U256, DecodeError> {
    U256::try_from_be_slice(strip_zeros(bytes)).ok_or(DecodeError::TooLarge(field))
}

/// Parses an unsigned number; values that exceed 256 bits saturate.
pub fn saturating_u256(bytes: &[u8]) -> U256 {
    U256::try_from_be_slice(strip_zeros(bytes)).unwrap_or(U256::MAX)
}

/// Parses a two's complement number; no bytes are zero. Rejects values that need more than 256 bits.
pub fn read_signed(bytes: &[u8], field: &'static str) -> Result<I256, DecodeError> {
    let fill = if bytes.first().is_some_and(|first| first & 0x80 != 0) { 0xff } else { 0 };
    let mut padded = [fill; 32];
    let extra = bytes.len().saturating_sub(padded.len());
    let (sign, kept) = bytes.split_at(extra);
    let start = padded.len() - kept.len();
    padded[start..].copy_from_slice(kept);
    let is_sign_kept = (padded[0] ^ fill) & 0x80 == 0;
    if sign.iter().any(|&byte| byte != fill) || !is_sign_kept {
        return Err(DecodeError::TooLarge(field));
    }
    Ok(I256::from_be_bytes(padded))
}

/// Parses a difficulty: a two's complement number that must not be negative; no bytes are zero. Rejects values from
/// 2^256 on.
pub fn read_difficulty(bytes: &[u8], field: &'static str) -> Result<U256, DecodeError> {
    if bytes.first().is_some_and(|first| first & 0x80 != 0) {
        return Err(DecodeError::Negative(field));
    }
    read_u256(bytes, field)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unsigned_limits() {
        assert_eq!(read_u64(&[], 10, "n"), Ok(0));
        assert_eq!(read_u64(&[0, 0, 0, 0, 0, 0, 0, 0, 0, 5], 10, "n"), Ok(5));
        assert_eq!(read_u64(&[11], 10, "n"), Err(DecodeError::TooLarge("n")));
        assert_eq!(read_u64(&[1; 9], u64::MAX, "n"), Err(DecodeError::TooLarge("n")));
        assert_eq!(saturating_u256(&[1; 33]), U256::MAX);
        assert_eq!(read_u256(&[1; 33], "n"), Err(DecodeError::TooLarge("n")));
    }

    #[test]
    fn signed_numbers() {
        let number = |bytes: &[u8]| read_signed(bytes, "n");
        assert_eq!(number(&[]), Ok(I256::ZERO));
        assert_eq!(number(&[0xff, 0x80]), Ok(I256::try_from(-128).unwrap()));
        assert_eq!(number(&[0, 0x80]), Ok(I256::try_from(128).unwrap()));
        assert_eq!(number(&[0xff; 40]), Ok(I256::MINUS_ONE));
        let mut wide = [0; 33];
        wide[1] = 0x80;
        assert_eq!(number(&wide), Err(DecodeError::TooLarge("n")));
        assert_eq!(read_difficulty(&[0xff], "n"), Err(DecodeError::Negative("n")));
        assert_eq!(read_difficulty(&[0, 0xff], "n"), Ok(U256::from(255)));
    }
}
