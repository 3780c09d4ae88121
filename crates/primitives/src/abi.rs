//! ABI encoding of the arguments and results of precompiles.
//!
//! Decoding is as lenient as the reference: surplus data are ignored, and the word with the offset of a dynamic argument may
//! be truncated (missing bytes are zeros). Offsets and lengths are the low 32 bits of their word, signed.

use crate::{Bytes, I256, U256};

/// Splits call data into selector and arguments; `None` if the data are shorter than a selector.
pub fn selector(input: &[u8]) -> Option<(u32, Arguments<'_>)> {
    let (head, rest) = input.split_first_chunk::<4>()?;
    Some((u32::from_be_bytes(*head), Arguments(rest)))
}

/// Argument data of a call, without the selector.
#[derive(Clone, Copy)]
pub struct Arguments<'a>(&'a [u8]);

impl<'a> Arguments<'a> {
    /// The arguments of a call without data.
    pub fn none() -> Arguments<'a> {
        Arguments(&[])
    }

    /// Returns true if there are no argument data.
    pub fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    /// Returns the `bytes32` in head slot `slot`.
    pub fn word_at(self, slot: usize) -> Option<[u8; 32]> {
        self.word(32 * slot).map(|word| word.to_be_bytes())
    }

    /// Returns the `bytes32[]` that head slot `slot` points to.
    pub fn words(self, slot: usize) -> Option<Vec<[u8; 32]>> {
        let start = self.head_offset(slot)?;
        if self.0.is_empty() {
            return Some(Vec::new());
        }
        let count = usize::try_from(low_int(self.word(start)?)).ok()?;
        let words = self.0.get(start.checked_add(32)?..)?.as_chunks::<32>().0;
        words.get(..count).map(<[_]>::to_vec)
    }

    /// Returns the `int256` in head slot `slot`; 0 if there are no argument data.
    pub fn integer(self, slot: usize) -> Option<I256> {
        if self.0.is_empty() {
            return Some(I256::ZERO);
        }
        self.word(32 * slot).map(I256::from_raw)
    }

    /// Returns the `bytes` or `string` that head slot `slot` points to.
    pub fn bytes(self, slot: usize) -> Option<&'a [u8]> {
        self.sized(self.head_offset(slot)?)
    }

    /// Returns the `bytes[]` that head slot `slot` points to.
    pub fn list(self, slot: usize) -> Option<Vec<&'a [u8]>> {
        let start = self.head_offset(slot)?;
        if self.0.is_empty() {
            return Some(Vec::new());
        }
        let count = usize::try_from(low_int(self.word(start)?)).ok()?;
        let elements = start.checked_add(32)?;
        // Every element needs an offset word: a declared count must not reserve more memory than the data justify.
        if count > self.0.len() / 32 {
            return None;
        }
        (0..count)
            .map(|index| {
                let relative = i64::from(low_int(self.word(elements + 32 * index)?));
                let position = i64::try_from(elements).ok()?.checked_add(relative)?;
                self.sized(usize::try_from(position).ok()?)
            })
            .collect()
    }

    /// Returns the bytes after the length word at `position`.
    fn sized(self, position: usize) -> Option<&'a [u8]> {
        let length = usize::try_from(low_int(self.word(position)?)).ok()?;
        let start = position.checked_add(32)?;
        self.0.get(start..start.checked_add(length)?)
    }

    fn word(self, position: usize) -> Option<U256> {
        self.0.get(position..position.checked_add(32)?).map(U256::from_be_slice)
    }

    fn head_offset(self, slot: usize) -> Option<usize> {
        let present = self.0.get(32 * slot..)?;
        let word = {
            let mut bytes = [0; 32];
            for (target, source) in bytes.iter_mut().zip(present) {
                *target = *source;
            }
            U256::from_be_bytes(bytes)
        };
        usize::try_from(low_int(word)).ok()
    }
}

/// Returns the low 32 bits as a signed number.
fn low_int(word: U256) -> i32 {
    let [.., a, b, c, d] = word.to_be_bytes::<32>();
    i32::from_be_bytes([a, b, c, d])
}

/// Encodes one static word.
pub fn encode_word(value: U256) -> Bytes {
    Bytes::copy_from_slice(&value.to_be_bytes::<32>())
}

/// Encodes a single `string[]` or `bytes[]` result.
pub fn encode_list(values: &[Vec<u8>]) -> Bytes {
    let mut output = encode_word(U256::from(32)).to_vec();
    output.extend_from_slice(&encode_word(U256::from(values.len())));
    let mut offset = 32 * values.len();
    for value in values {
        output.extend_from_slice(&encode_word(U256::from(offset)));
        offset += encode_bytes(value).len() - 32;
    }
    for value in values {
        output.extend_from_slice(encode_bytes(value).get(32..).unwrap_or_default());
    }
    output.into()
}

/// Encodes a single `bytes` or `string` result. An empty result has a word of padding, too.
pub fn encode_bytes(value: &[u8]) -> Bytes {
    let padded_length = value.len().div_ceil(32).max(1) * 32;
    let mut output = Vec::with_capacity(64 + padded_length);
    output.extend_from_slice(&U256::from(32).to_be_bytes::<32>());
    output.extend_from_slice(&U256::from(value.len()).to_be_bytes::<32>());
    output.extend_from_slice(value);
    output.resize(64 + padded_length, 0);
    output.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(values: &[u64]) -> Vec<u8> {
        values.iter().flat_map(|value| U256::from(*value).to_be_bytes::<32>()).collect()
    }

    #[test]
    fn integers() {
        assert_eq!(Arguments(&[]).integer(0), Some(I256::ZERO));
        assert_eq!(Arguments(&[]).integer(1), Some(I256::ZERO));
        assert_eq!(Arguments(&[0xff; 32]).integer(0), Some(I256::MINUS_ONE));
        assert_eq!(Arguments(&[0xff; 31]).integer(0), None);
        assert_eq!(Arguments(&[0; 40]).integer(1), None);
    }

    #[test]
    fn bytes() {
        let mut data = words(&[32, 3]);
        data.extend([1, 2, 3]);
        assert_eq!(Arguments(&data).bytes(0), Some(&[1, 2, 3][..]));
        data.pop();
        assert_eq!(Arguments(&data).bytes(0), None);
        assert_eq!(Arguments(&[]).bytes(0), None);
        // An offset is the low 32 bits of its word, signed.
        let mut far = words(&[0, 1, 0]);
        far[20] = 1;
        far[31] = 32;
        far[64] = 7;
        assert_eq!(Arguments(&far).bytes(0), Some(&[7][..]));
        far[28] = 0x80;
        assert_eq!(Arguments(&far).bytes(0), None);
    }

    #[test]
    fn truncated_offset_words_are_padded_with_zeros() {
        // Head of the second argument has 8 of 32 bytes: offset 0, where a zero word is an empty length.
        let data = [0; 40];
        assert_eq!(Arguments(&data).bytes(1), Some(&[][..]));
        assert_eq!(Arguments(&data[..31]).bytes(1), None);
        // Here the position equals the length: an empty rest is still a zero word.
        assert_eq!(Arguments(&data[..32]).bytes(1), Some(&[][..]));
    }

    #[test]
    fn lists() {
        let data = words(&[32, 2, 64, 96, 0, 1, 0]);
        assert_eq!(Arguments(&data).list(0), Some(vec![&[][..], &[0][..]]));
        assert_eq!(Arguments(&[]).list(0), Some(vec![]));
        assert_eq!(Arguments(&[]).list(1), None);
        // Declared sizes beyond the data.
        assert_eq!(Arguments(&words(&[32, 1_000_000_000])).list(0), None);
        assert_eq!(Arguments(&words(&[32, 0xffff_ffff])).list(0), None);
    }

    #[test]
    fn results() {
        assert_eq!(encode_bytes(&[]).len(), 96);
        assert_eq!(encode_bytes(&[1; 32]).len(), 96);
        assert_eq!(encode_bytes(&[1; 33]).len(), 128);
    }
}
