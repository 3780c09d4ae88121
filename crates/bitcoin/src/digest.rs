//! Hash functions of Bitcoin, and SHA-256 resumed from a midstate.

use ripemd::Ripemd160;
use sha2::{Digest as _, Sha256, compress256};

/// A SHA-256 digest in wire order.
pub type Digest = [u8; 32];

/// Size of a SHA-256 block, bytes.
pub const BLOCK_SIZE: usize = 64;

/// SHA-256 chaining value before the first block.
const INITIAL: [u32; 8] =
    [0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19];

/// Returns SHA-256 of SHA-256.
pub fn sha256d(data: &[u8]) -> Digest {
    Sha256::digest(Sha256::digest(data)).into()
}

/// Returns RIPEMD-160 of SHA-256: the hash in addresses.
pub fn hash160(data: &[u8]) -> [u8; 20] {
    <Ripemd160 as ripemd::Digest>::digest(Sha256::digest(data)).into()
}

/// Reverses a digest: wire order to display order and back.
pub fn display(digest: Digest) -> Digest {
    let mut reversed = digest;
    reversed.reverse();
    reversed
}

/// The state of SHA-256 between two blocks: number of bytes hashed and chaining value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Midstate {
    /// Number of bytes hashed. In a header it may be any number, not only a multiple of 64; only the padding uses it.
    pub byte_count: u64,
    /// Chaining value.
    pub state: [u32; 8],
}

impl Midstate {
    /// Size of the encoded form: the count, then the chaining value, all big-endian.
    pub const ENCODED_SIZE: usize = 40;

    /// Returns the midstate after the whole 64-byte blocks of `data`.
    pub fn of(data: &[u8]) -> Self {
        let mut state = INITIAL;
        let mut byte_count = 0;
        for block in data.as_chunks::<BLOCK_SIZE>().0 {
            compress256(&mut state, &[(*block).into()]);
            byte_count += BLOCK_SIZE as u64;
        }
        Self { byte_count, state }
    }

    /// Reads the encoded form.
    pub fn decode(encoded: &[u8; Self::ENCODED_SIZE]) -> Self {
        let (count, words) = encoded.split_at(8);
        let byte_count = count.iter().fold(0, |sum, byte| (sum << 8) | u64::from(*byte));
        let mut state = [0; 8];
        for (word, bytes) in state.iter_mut().zip(words.chunks_exact(4)) {
            *word = bytes.iter().fold(0, |sum, byte| (sum << 8) | u32::from(*byte));
        }
        Self { byte_count, state }
    }

    /// Writes the encoded form.
    pub fn encode(&self) -> [u8; Self::ENCODED_SIZE] {
        let mut encoded = [0; Self::ENCODED_SIZE];
        let (count, words) = encoded.split_at_mut(8);
        count.copy_from_slice(&self.byte_count.to_be_bytes());
        for (bytes, word) in words.chunks_exact_mut(4).zip(self.state) {
            bytes.copy_from_slice(&word.to_be_bytes());
        }
        encoded
    }

    /// Returns SHA-256 of the bytes hashed so far followed by `tail`.
    ///
    /// The block buffer counts as empty for any byte count, and the bit length in the padding wraps at 2^64: consensus
    /// requires both.
    pub fn finish(&self, tail: &[u8]) -> Digest {
        let bits = self.byte_count.wrapping_add(tail.len() as u64).wrapping_mul(8);
        let mut last = tail.to_vec();
        last.push(0x80);
        while last.len() % BLOCK_SIZE != BLOCK_SIZE - 8 {
            last.push(0);
        }
        last.extend_from_slice(&bits.to_be_bytes());
        let mut state = self.state;
        for block in last.as_chunks::<BLOCK_SIZE>().0 {
            compress256(&mut state, &[(*block).into()]);
        }
        let mut digest = [0; 32];
        for (bytes, word) in digest.chunks_exact_mut(4).zip(state) {
            bytes.copy_from_slice(&word.to_be_bytes());
        }
        digest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finishing_a_midstate_gives_the_plain_hash() {
        let data: Vec<u8> = (0..=255).collect();
        for cut in [0, 64, 128, 192, 256] {
            let expected: Digest = Sha256::digest(&data).into();
            assert_eq!(Midstate::of(&data[..cut]).finish(&data[cut..]), expected, "cut at {cut}");
        }
    }

    #[test]
    fn midstates_survive_a_round_trip() {
        let midstate = Midstate::of(&[7; 130]);
        assert_eq!(midstate.byte_count, 128);
        assert_eq!(Midstate::decode(&midstate.encode()), midstate);
    }
}
