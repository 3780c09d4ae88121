//! The coinbase transaction in its compressed form: the SHA-256 midstate of its first part and the rest as it is.

use super::digest::{BLOCK_SIZE, Digest, Midstate, sha256d};
use sha2::{Digest as _, Sha256};

/// What a miner writes into the coinbase in front of the hash for merged mining.
pub const TAG: &[u8; 9] = b"RSKBLOCK:";

/// A compressed coinbase, split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompressedCoinbase<'a> {
    /// State after the first part.
    pub midstate: Midstate,
    /// The rest of the transaction.
    pub tail: &'a [u8],
}

impl<'a> CompressedCoinbase<'a> {
    /// Splits the element of an RSK header; none when it is shorter than a midstate.
    pub fn split(element: &'a [u8]) -> Option<Self> {
        let (midstate, tail) = element.split_first_chunk()?;
        Some(Self { midstate: Midstate::decode(midstate), tail })
    }

    /// Id of the transaction, wire order.
    pub fn hash(&self) -> Digest {
        Sha256::digest(self.midstate.finish(self.tail)).into()
    }
}

/// Compresses a coinbase: cut at the last multiple of 64 bytes before its last tag. Without a tag nothing is cut off.
pub fn compress(coinbase: &[u8]) -> Vec<u8> {
    let cut = last_position(coinbase, TAG).unwrap_or(0) / BLOCK_SIZE * BLOCK_SIZE;
    let (hashed, tail) = coinbase.split_at_checked(cut).unwrap_or((&[], coinbase));
    [Midstate::of(hashed).encode().as_slice(), tail].concat()
}

/// The 32 bytes behind the last tag: the hash for merged mining that a coinbase commits to.
pub fn tagged_hash(coinbase: &[u8]) -> Option<[u8; 32]> {
    let start = last_position(coinbase, TAG)? + TAG.len();
    coinbase.get(start..)?.first_chunk().copied()
}

/// Id of a whole transaction without witness, wire order.
pub fn transaction_id(transaction: &[u8]) -> Digest {
    sha256d(transaction)
}

/// A coinbase that commits to `hash` and pays nobody: for chains whose Bitcoin side is made up, such as regtest.
/// It is longer than 64 bytes, its tag starts within the first 64 and fewer than 128 bytes follow the hash.
pub fn synthetic(hash: &[u8; 32], extra_nonce: u32) -> Vec<u8> {
    let parts: [&[u8]; 12] = [
        &1_u32.to_le_bytes(),    // version
        &[1],                    // one input
        &[0; 32],                // that spends nothing
        &u32::MAX.to_le_bytes(), // index of a coinbase
        &[4],                    // its script
        &extra_nonce.to_le_bytes(),
        &u32::MAX.to_le_bytes(), // sequence
        &[1],                    // one output
        &0_u64.to_le_bytes(),    // of no value
        &[43, 0x6a, 41],         // script: OP_RETURN and a push of 41 bytes
        &[TAG.as_slice(), hash].concat(),
        &0_u32.to_le_bytes(), // lock time
    ];
    parts.concat()
}

/// Where `needle` occurs last in `haystack`.
pub(crate) fn last_position(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).rposition(|window| window == needle)
}

#[cfg(test)]
mod tests {
    use super::super::message::strip_witness;
    use super::*;

    #[test]
    fn a_compressed_coinbase_keeps_its_id() {
        let coinbase = synthetic(&[9; 32], 77);
        assert_eq!(strip_witness(&coinbase).unwrap(), coinbase, "well formed");
        let compressed = compress(&coinbase);
        let split = CompressedCoinbase::split(&compressed).unwrap();
        assert_eq!(split.midstate.byte_count, 0, "the tag starts in the first 64 bytes");
        assert_eq!(split.hash(), transaction_id(&coinbase));
        assert_eq!(tagged_hash(&coinbase), Some([9; 32]));
    }

    #[test]
    fn a_coinbase_without_a_whole_hash_commits_to_nothing() {
        assert_eq!(tagged_hash(b"no tag at all"), None);
        assert_eq!(tagged_hash(b"RSKBLOCK:short"), None);
    }

    #[test]
    fn fewer_than_forty_bytes_are_no_compressed_coinbase() {
        assert_eq!(CompressedCoinbase::split(&[0; 39]), None);
        assert!(CompressedCoinbase::split(&[0; 40]).is_some());
    }
}
