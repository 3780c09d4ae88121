//! The 2048-bit log bloom of receipts and blocks (docs/spec/blocks.md, 3.2).

use std::iter;

use crate::keccak::keccak256_all;
use crate::receipt::Log;
use alloy_primitives::{B256, hex, keccak256};

/// Size of the longest packed form: 127 bit numbers. All bits take hardly more.
pub(crate) const MOST_PACKED_BYTES: usize = 254;

/// Bloom of 2048 bits in 256 bytes, big-endian: bit 0 is the lowest bit of the last byte.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Bloom([u8; 256]);

impl Bloom {
    /// The empty bloom.
    pub const ZERO: Bloom = Bloom([0; 256]);

    /// Creates a bloom with these bits.
    pub const fn new(bytes: [u8; 256]) -> Bloom {
        Bloom(bytes)
    }

    /// Copies the bloom of a header or receipt; `None` unless there are exactly 256 bytes.
    pub fn from_slice(bytes: &[u8]) -> Option<Bloom> {
        bytes.try_into().ok().map(Bloom)
    }

    /// Returns the numbers of the set bits, two bytes each, or all 256 bytes if that takes less. Most blooms have few bits.
    pub(crate) fn packed<'a>(&'a self, space: &'a mut [u8; MOST_PACKED_BYTES]) -> &'a [u8] {
        let mut length = 0;
        for (word, lowest) in self.0.rchunks_exact(8).zip((0u16..).step_by(64)) {
            let mut bits = word.iter().fold(0, |bits, byte| bits << 8 | u64::from(*byte));
            while bits != 0 {
                let bit = lowest + bits.trailing_zeros() as u16;
                let Some(place) = space.get_mut(length..length + 2) else { return &self.0 };
                place.copy_from_slice(&bit.to_be_bytes());
                length += 2;
                bits &= bits - 1;
            }
        }
        space.get(..length).unwrap_or_default()
    }

    /// Reads the result of `packed`.
    pub fn from_packed(bytes: &[u8]) -> Option<Bloom> {
        if let Some(whole) = Bloom::from_slice(bytes) {
            return Some(whole);
        }
        let (bits, rest) = bytes.as_chunks::<2>();
        let mut bloom = Bloom::ZERO;
        for bit in bits {
            let bit = u16::from_be_bytes(*bit);
            *bloom.0.get_mut(255_usize.checked_sub(usize::from(bit / 8))?)? |= 1 << (bit % 8);
        }
        rest.is_empty().then_some(bloom)
    }

    /// Computes the bloom of a receipt with these logs.
    pub fn of_logs<'a>(logs: impl IntoIterator<Item = &'a Log>) -> Bloom {
        let items: Vec<&[u8]> = logs.into_iter().flat_map(Bloom::items).collect();
        let mut bloom = Bloom::ZERO;
        for hash in keccak256_all(&items) {
            bloom.set(Bloom::bits_of_hash(&hash));
        }
        bloom
    }

    /// Returns the three bit numbers (0 to 2047) of an address or a 32-byte topic.
    pub fn bits(item: &[u8]) -> [u16; 3] {
        Bloom::bits_of_hash(&keccak256(item))
    }

    fn bits_of_hash(hash: &B256) -> [u16; 3] {
        [0, 2, 4].map(|at| (u16::from(hash[at] & 7) << 8) | u16::from(hash[at + 1]))
    }

    fn set(&mut self, bits: [u16; 3]) {
        for bit in bits {
            self.0[255 - usize::from(bit / 8)] |= 1 << (bit % 8);
        }
    }

    /// Iterates over the parts of a log in the bloom: its address and its topics, not its data.
    fn items(log: &Log) -> impl Iterator<Item = &[u8]> {
        iter::once(log.address.as_slice()).chain(log.topics.iter().map(B256::as_slice))
    }

    /// Adds all bits of another bloom.
    pub fn accrue(&mut self, other: &Bloom) {
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine |= theirs;
        }
    }

    /// Returns false if the address or topic is definitely not in the bloom.
    pub fn contains(&self, item: &[u8]) -> bool {
        self.has_bits(Bloom::bits(item))
    }

    /// Like `contains`, for bit numbers that are computed once and tested against many blooms.
    pub fn has_bits(&self, bits: [u16; 3]) -> bool {
        bits.iter().all(|&bit| {
            let byte = usize::from(bit / 8) % 256;
            self.0[255 - byte] & (1 << (bit % 8)) != 0
        })
    }

    /// Returns true if no bit is set.
    pub fn is_zero(&self) -> bool {
        *self == Bloom::ZERO
    }

    /// Returns the 256 bytes.
    pub fn as_bytes(&self) -> &[u8; 256] {
        &self.0
    }
}

impl Default for Bloom {
    fn default() -> Self {
        Bloom::ZERO
    }
}

impl std::fmt::Debug for Bloom {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Bloom({})", hex::encode(self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Address, B256, Bytes};

    #[test]
    fn contains_addresses_and_topics_but_no_data() {
        let log = Log {
            address: Address::repeat_byte(1),
            topics: vec![B256::repeat_byte(2), B256::repeat_byte(3)],
            data: Bytes::from_static(b"data"),
        };
        let bloom = Bloom::of_logs([&log]);
        assert!(bloom.contains(log.address.as_slice()) && bloom.contains(log.topics[1].as_slice()));
        assert!(!bloom.contains(b"data"));
        let mut block = Bloom::ZERO;
        block.accrue(&bloom);
        assert_eq!(block, bloom);
    }
}
