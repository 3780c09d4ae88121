//! The coinbase transaction in its compressed form: the SHA-256 midstate of its first part and the rest as it is.

use crate::digest::{BLOCK_SIZE, Digest, Midstate, sha256d};
use sha2::{Digest as _, Sha256};

/// Tag that precedes the hash for merged mining in a coinbase.
pub const TAG: &[u8; 9] = b"RSKBLOCK:";

/// A compressed coinbase, split into its two parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompressedCoinbase<'a> {
    /// SHA-256 state after the removed first part.
    pub midstate: Midstate,
    /// Remaining bytes of the transaction.
    pub tail: &'a [u8],
}

impl<'a> CompressedCoinbase<'a> {
    /// Splits the coinbase element of an RSK header; `None` if it is shorter than a midstate.
    pub fn split(element: &'a [u8]) -> Option<Self> {
        let (midstate, tail) = element.split_first_chunk()?;
        Some(Self { midstate: Midstate::decode(midstate), tail })
    }

    /// Returns the transaction id, wire order.
    pub fn hash(&self) -> Digest {
        Sha256::digest(self.midstate.finish(self.tail)).into()
    }
}

/// Compresses a coinbase: bytes up to the last multiple of 64 before its last tag become the midstate. Without a tag the
/// midstate covers no bytes.
pub fn compress(coinbase: &[u8]) -> Vec<u8> {
    let cut = last_position(coinbase, TAG).unwrap_or(0) / BLOCK_SIZE * BLOCK_SIZE;
    let (hashed, tail) = coinbase.split_at_checked(cut).unwrap_or((&[], coinbase));
    [Midstate::of(hashed).encode().as_slice(), tail].concat()
}

/// Returns the hash for merged mining that a coinbase commits to: the 32 bytes after the last tag. `None` if the tag is
/// absent or fewer bytes follow it.
pub fn tagged_hash(coinbase: &[u8]) -> Option<[u8; 32]> {
    let start = last_position(coinbase, TAG)? + TAG.len();
    coinbase.get(start..)?.first_chunk().copied()
}

/// Returns the id of a transaction without witness, wire order.
pub fn transaction_id(transaction: &[u8]) -> Digest {
    sha256d(transaction)
}

/// Builds a coinbase without payment that commits to `hash`, for chains without a real Bitcoin side such as regtest.
///
/// It is longer than 64 bytes, its tag starts within the first 64 and fewer than 128 bytes follow the hash.
pub fn synthetic(hash: &[u8; 32], extra_nonce: u32) -> Vec<u8> {
    let parts: [&[u8]; 12] = [
        &1_u32.to_le_bytes(),    // version
        &[1],                    // one input
        &[0; 32],                // no spent output
        &u32::MAX.to_le_bytes(), // index of a coinbase
        &[4],                    // script length
        &extra_nonce.to_le_bytes(),
        &u32::MAX.to_le_bytes(), // sequence
        &[1],                    // one output
        &0_u64.to_le_bytes(),    // value
        &[43, 0x6a, 41],         // script: OP_RETURN and a push of 41 bytes
        &[TAG.as_slice(), hash].concat(),
        &0_u32.to_le_bytes(), // lock time
    ];
    parts.concat()
}

/// Returns the offset of the last occurrence of `needle` in `haystack`.
pub fn last_position(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).rposition(|window| window == needle)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::strip_witness;

    #[test]
    fn compression_preserves_the_id() {
        let coinbase = synthetic(&[9; 32], 77);
        assert_eq!(strip_witness(&coinbase).unwrap(), coinbase, "well formed");
        let compressed = compress(&coinbase);
        let split = CompressedCoinbase::split(&compressed).unwrap();
        assert_eq!(split.midstate.byte_count, 0, "the tag starts in the first 64 bytes");
        assert_eq!(split.hash(), transaction_id(&coinbase));
        assert_eq!(tagged_hash(&coinbase), Some([9; 32]));
    }

    #[test]
    fn incomplete_commitments_are_absent() {
        assert_eq!(tagged_hash(b"no tag at all"), None);
        assert_eq!(tagged_hash(b"RSKBLOCK:short"), None);
    }

    #[test]
    fn elements_shorter_than_a_midstate_are_rejected() {
        assert_eq!(CompressedCoinbase::split(&[0; 39]), None);
        assert!(CompressedCoinbase::split(&[0; 40]).is_some());
    }
}
