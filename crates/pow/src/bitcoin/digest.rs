//! SHA-256 as Bitcoin uses it, and its continuation from a midstate.

use sha2::{Digest as _, Sha256, compress256};

/// A SHA-256 digest in wire order.
pub type Digest = [u8; 32];

/// Bytes of a block of SHA-256.
pub const BLOCK_SIZE: usize = 64;

/// Chaining value before the first block.
const INITIAL: [u32; 8] =
    [0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19];

/// SHA-256 applied twice.
pub fn sha256d(data: &[u8]) -> Digest {
    Sha256::digest(Sha256::digest(data)).into()
}

/// The other byte order: wire to display and back.
pub fn display(digest: Digest) -> Digest {
    let mut reversed = digest;
    reversed.reverse();
    reversed
}

/// The state of SHA-256 between two blocks: how many bytes went in and the chaining value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Midstate {
    /// Bytes hashed so far. Not necessarily a multiple of 64 when it comes from a header: only the padding uses it.
    pub byte_count: u64,
    /// Chaining value.
    pub state: [u32; 8],
}

impl Midstate {
    /// Bytes of the encoded form: the count, then the chaining value, all big-endian.
    pub const ENCODED_SIZE: usize = 40;

    /// The midstate after `data`, whose length is taken down to a multiple of 64.
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

    /// SHA-256 of everything hashed so far followed by `tail`.
    ///
    /// The block buffer is taken as empty whatever the byte count says, and the bit length in the padding wraps at
    /// 2^64: both are what the chain computes.
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
    fn a_midstate_continues_to_the_same_hash() {
        let data: Vec<u8> = (0..=255).collect();
        for cut in [0, 64, 128, 192, 256] {
            let expected: Digest = Sha256::digest(&data).into();
            assert_eq!(Midstate::of(&data[..cut]).finish(&data[cut..]), expected, "cut at {cut}");
        }
    }

    #[test]
    fn the_encoded_form_is_read_back() {
        let midstate = Midstate::of(&[7; 130]);
        assert_eq!(midstate.byte_count, 128);
        assert_eq!(Midstate::decode(&midstate.encode()), midstate);
    }
}
