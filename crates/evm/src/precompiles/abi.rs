//! The argument and result encoding of the native contracts.
//!
//! Decoding is as lenient as the reference: surplus data is ignored and the word that holds the offset of a dynamic
//! argument may be cut short (the missing bytes are zeros). Offsets and lengths are the low 32 bits of their word, signed.

use rhizome_primitives::{Bytes, I256, U256};

/// Selector and argument data of a call; none when the data is shorter than a selector.
pub(super) fn selector(input: &[u8]) -> Option<(u32, Arguments<'_>)> {
    let (head, rest) = input.split_first_chunk::<4>()?;
    Some((u32::from_be_bytes(*head), Arguments(rest)))
}

/// Argument data of a call, without the selector.
#[derive(Clone, Copy)]
pub(super) struct Arguments<'a>(&'a [u8]);

impl<'a> Arguments<'a> {
    /// Of a call without data.
    pub(super) fn none() -> Arguments<'a> {
        Arguments(&[])
    }

    pub(super) fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    /// True if the data hold so many whole words.
    pub(super) fn has_slots(self, count: usize) -> bool {
        self.0.len() >= 32 * count
    }

    /// The `bytes32` in head slot `slot`.
    pub(super) fn word_at(self, slot: usize) -> Option<[u8; 32]> {
        self.word(32 * slot).map(|word| word.to_be_bytes())
    }

    /// The `bytes32[]` that head slot `slot` points to.
    pub(super) fn words(self, slot: usize) -> Option<Vec<[u8; 32]>> {
        let start = self.head_offset(slot)?;
        if self.0.is_empty() {
            return Some(Vec::new());
        }
        let count = usize::try_from(low_int(self.word(start)?)).ok()?;
        let words = self.0.get(start.checked_add(32)?..)?.as_chunks::<32>().0;
        words.get(..count).map(<[_]>::to_vec)
    }

    /// The `int256` in head slot `slot`. Without any argument data it is 0.
    pub(super) fn integer(self, slot: usize) -> Option<I256> {
        if self.0.is_empty() {
            return Some(I256::ZERO);
        }
        self.word(32 * slot).map(I256::from_raw)
    }

    /// The `bytes` or `string` that head slot `slot` points to.
    pub(super) fn bytes(self, slot: usize) -> Option<&'a [u8]> {
        self.sized(self.head_offset(slot)?)
    }

    /// The `bytes[]` that head slot `slot` points to.
    pub(super) fn list(self, slot: usize) -> Option<Vec<&'a [u8]>> {
        let start = self.head_offset(slot)?;
        if self.0.is_empty() {
            return Some(Vec::new());
        }
        let count = usize::try_from(low_int(self.word(start)?)).ok()?;
        let elements = start.checked_add(32)?;
        // Every element needs an offset word: an alleged count cannot make us reserve more than the data holds.
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

    /// A length word at `position` and that many bytes after it.
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
        let word = U256::from_be_bytes(super::padding::padded::<32>(present, 0));
        usize::try_from(low_int(word)).ok()
    }
}

/// The low 32 bits as a signed number.
fn low_int(word: U256) -> i32 {
    let [.., a, b, c, d] = word.to_be_bytes::<32>();
    i32::from_be_bytes([a, b, c, d])
}

/// One static word.
pub(super) fn encode_word(value: U256) -> Bytes {
    Bytes::copy_from_slice(&value.to_be_bytes::<32>())
}

/// A single `string[]` or `bytes[]` result.
pub(super) fn encode_list(values: &[Vec<u8>]) -> Bytes {
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

/// A single `bytes` or `string` result. An empty one gets a word of padding all the same.
pub(super) fn encode_bytes(value: &[u8]) -> Bytes {
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
        // Only the low 32 bits of an offset count, and as a signed number.
        let mut far = words(&[0, 1, 0]);
        far[20] = 1;
        far[31] = 32;
        far[64] = 7;
        assert_eq!(Arguments(&far).bytes(0), Some(&[7][..]));
        far[28] = 0x80;
        assert_eq!(Arguments(&far).bytes(0), None);
    }

    #[test]
    fn cut_offset_word_reads_zeros() {
        // Head of the second argument has 8 of 32 bytes: offset 0, where a zero word says "empty".
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
        // Alleged sizes beyond the data.
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
