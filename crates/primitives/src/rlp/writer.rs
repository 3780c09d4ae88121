//! Scalar writers (docs/spec/blocks.md, 1.1). They encode zero and absence differently, which changes hashes:
//!
//! | writer | absent | zero |
//! | --- | --- | --- |
//! | `put_u64`, `put_value` | - | `80` |
//! | `put_difficulty`, `put_minimum_gas_price`, `put_price` | `80` | `00` |

use alloy_primitives::{Address, I256, U256};

/// Writes a byte string; a single byte below `80`, including `00`, is its own encoding.
pub fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    match bytes {
        [single] if *single < 0x80 => out.push(*single),
        _ => {
            put_header(out, 0x80, bytes.len());
            out.extend_from_slice(bytes);
        }
    }
}

/// Writes a number of up to 64 bits minimally; zero is `80` (writer INT).
pub fn put_u64(out: &mut Vec<u8>, value: u64) {
    put_bytes(out, strip_zeros(&value.to_be_bytes()));
}

/// Writes an amount minimally; zero is `80` (writers INT and VALUE).
pub fn put_value(out: &mut Vec<u8>, value: &U256) {
    put_bytes(out, strip_zeros(&value.to_be_bytes::<32>()));
}

/// Writes a big-endian number of any length minimally; zero is `80`.
pub fn put_unsigned(out: &mut Vec<u8>, big_endian: &[u8]) {
    put_bytes(out, strip_zeros(big_endian));
}

/// Writes the gas price of a transaction, a big-endian number of any length: absent is `80`, zero is `00`.
pub fn put_price(out: &mut Vec<u8>, big_endian: Option<&[u8]>) {
    match big_endian.map(strip_zeros) {
        None => out.push(0x80),
        Some([]) => out.push(0),
        Some(digits) => put_bytes(out, digits),
    }
}

/// Writes a difficulty in signed form (with a leading zero byte if the top bit is set): absent is `80`, zero is `00`.
pub fn put_difficulty(out: &mut Vec<u8>, difficulty: Option<&U256>) {
    match difficulty {
        None => out.push(0x80),
        Some(value) => put_bytes(out, &signed_bytes(value, false)),
    }
}

/// Writes the minimum gas price of a header in signed form, which can be negative: absent is `80`, zero is `00`.
pub fn put_minimum_gas_price(out: &mut Vec<u8>, price: Option<&I256>) {
    match price {
        None => out.push(0x80),
        Some(value) => put_bytes(out, minimal_signed(&value.to_be_bytes::<32>())),
    }
}

/// Writes an address; the null address is `80`.
pub fn put_address(out: &mut Vec<u8>, address: Option<&Address>) {
    put_bytes(out, address.map(|address| address.as_slice()).unwrap_or_default());
}

/// Writes a byte as a number: zero is `80`, up to `7f` as is, `81xx` above.
pub fn put_byte(out: &mut Vec<u8>, byte: u8) {
    put_u64(out, u64::from(byte));
}

/// Writes sublist edges: one string of little-endian 16-bit numbers, `80` if there are none.
pub fn put_edges(out: &mut Vec<u8>, edges: &[i16]) {
    let bytes: Vec<u8> = edges.iter().flat_map(|edge| edge.to_le_bytes()).collect();
    put_bytes(out, &bytes);
}

/// Writes the header of a list whose encoded elements take `length` bytes.
pub fn put_list_header(out: &mut Vec<u8>, length: usize) {
    put_header(out, 0xc0, length);
}

/// Returns the size of a string with its header.
pub fn bytes_length(bytes: &[u8]) -> usize {
    match bytes {
        [single] if *single < 0x80 => 1,
        _ => with_header(bytes.len()),
    }
}

/// Returns the size of a number of up to 64 bits.
pub fn u64_length(value: u64) -> usize {
    bytes_length(strip_zeros(&value.to_be_bytes()))
}

/// Returns the size of a list, or of a string of several bytes, with its header. `length`: without.
pub fn with_header(length: usize) -> usize {
    let digits = if length < 56 { 0 } else { strip_zeros(&length.to_be_bytes()).len() };
    1 + digits + length
}

/// Writes a list of the elements that `write` appends, without memory for them alone if they take less than 56 bytes.
pub fn put_list(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    put_list_header(out, 0);
    write(out);
    match u8::try_from(out.len() - start - 1) {
        Ok(short) if short < 56 => out[start] = 0xc0 + short,
        _ => {
            let elements = out.split_off(start + 1);
            out.truncate(start);
            put_list_header(out, elements.len());
            out.extend_from_slice(&elements);
        }
    }
}

/// Returns the list of these concatenated, encoded elements.
pub fn list(elements: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(elements.len() + 5);
    put_list_header(&mut out, elements.len());
    out.extend_from_slice(elements);
    out
}

/// Removes the leading zero bytes of a big-endian number; zero becomes empty.
pub fn strip_zeros(big_endian: &[u8]) -> &[u8] {
    let zeros = big_endian.iter().take_while(|&&byte| byte == 0).count();
    &big_endian[zeros..]
}

/// Returns the shortest big-endian two's complement of a number, the bytes of Java's `BigInteger`; zero is a single zero byte.
pub fn signed_bytes(value: &U256, is_negative: bool) -> Vec<u8> {
    let mut bytes = [if is_negative { 0xff } else { 0 }; 33];
    bytes[1..].copy_from_slice(&value.to_be_bytes::<32>());
    minimal_signed(&bytes).to_vec()
}

/// Removes redundant leading bytes of a two's complement number; zero is a single zero byte.
fn minimal_signed(mut big_endian: &[u8]) -> &[u8] {
    while let [first, second, ..] = big_endian
        && ((*first == 0 && *second < 0x80) || (*first == 0xff && *second >= 0x80))
    {
        big_endian = &big_endian[1..];
    }
    big_endian
}

fn put_header(out: &mut Vec<u8>, offset: u8, length: usize) {
    match u8::try_from(length) {
        Ok(short) if short < 56 => out.push(offset + short),
        _ => {
            let bytes = length.to_be_bytes();
            let digits = strip_zeros(&bytes);
            // A `usize` length has at most eight digits.
            out.push(offset + 55 + digits.len() as u8);
            out.extend_from_slice(digits);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
        let mut out = Vec::new();
        write(&mut out);
        out
    }

    #[test]
    fn zero_depends_on_the_writer() {
        assert_eq!(written(|out| put_u64(out, 0)), [0x80]);
        assert_eq!(written(|out| put_value(out, &U256::ZERO)), [0x80]);
        assert_eq!(written(|out| put_price(out, Some(&[0, 0]))), [0]);
        assert_eq!(written(|out| put_price(out, None)), [0x80]);
        assert_eq!(written(|out| put_difficulty(out, Some(&U256::ZERO))), [0]);
        assert_eq!(written(|out| put_minimum_gas_price(out, Some(&I256::ZERO))), [0]);
        assert_eq!(written(|out| put_bytes(out, &[0])), [0]);
        assert_eq!(written(|out| put_byte(out, 0)), [0x80]);
    }

    #[test]
    fn signed_forms_are_minimal() {
        assert_eq!(written(|out| put_difficulty(out, Some(&U256::from(128)))), [0x82, 0, 0x80]);
        assert_eq!(written(|out| put_difficulty(out, Some(&U256::MAX))).len(), 34);
        assert_eq!(written(|out| put_minimum_gas_price(out, Some(&I256::MINUS_ONE))), [0x81, 0xff]);
        assert_eq!(written(|out| put_minimum_gas_price(out, Some(&I256::MIN))).len(), 33);
    }

    #[test]
    fn encodes_signed_numbers() {
        let positive = |value: u64| signed_bytes(&U256::from(value), false);
        assert_eq!(positive(0), [0]);
        assert_eq!(positive(0x7f), [0x7f]);
        assert_eq!(positive(0x80), [0, 0x80]);
        assert_eq!(positive(0x1234), [0x12, 0x34]);
        assert_eq!(signed_bytes(&U256::MAX, false).len(), 33);
        assert_eq!(signed_bytes(&U256::MAX, true), [0xff]);
        assert_eq!(signed_bytes(&I256::try_from(-129).unwrap().into_raw(), true), [0xff, 0x7f]);
    }

    #[test]
    fn long_lengths() {
        assert_eq!(list(&[1; 55])[..1], [0xf7]);
        assert_eq!(list(&[1; 56])[..2], [0xf8, 56]);
        assert_eq!(written(|out| put_bytes(out, &[0; 65536]))[..4], [0xba, 1, 0, 0]);
    }
}
