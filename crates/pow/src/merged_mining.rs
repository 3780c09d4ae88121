//! The proof of work rule: a Bitcoin header that meets the target, and a coinbase that commits to the block.

use crate::fallback::{self, FallbackError};
use crate::mining_solution::required_target;
use rhizome_bitcoin::coinbase::{TAG, last_position};
use rhizome_bitcoin::header::HEADER_SIZE;
use rhizome_bitcoin::merkle::{self, MerkleError, NODE_SIZE};
use rhizome_bitcoin::partial_tree::PartialTree;
use rhizome_bitcoin::{BitcoinHeader, CompressedCoinbase, Digest, MessageError, display};
use rhizome_primitives::{Bytes, ChainSpec, Header, HeaderError, Rule, U256};

/// Maximum number of bytes after the hash for merged mining in a coinbase.
const MAX_BYTES_AFTER_HASH: usize = 128;

/// Number of bytes of the tail in which the tag must start.
const TAG_WINDOW: usize = 64;

/// Maximum size of a proof from RSKIP-180 on: 30 nodes.
const MAX_PROOF_SIZE: usize = 960;

/// The step of the rule that a header fails.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PowError {
    /// A fallback block (before RSKIP-98) without a valid signature.
    #[error("fallback signature not accepted")]
    FallbackSignature(#[source] FallbackError),
    /// The Merkle proof is missing or has an invalid size.
    #[error("the Merkle proof has the wrong format")]
    MerkleProofFormat,
    /// The compressed coinbase is missing.
    #[error("the compressed coinbase is missing")]
    CoinbaseMissing,
    /// The Bitcoin header is missing.
    #[error("the Bitcoin header is missing")]
    BitcoinHeaderMissing,
    /// From RSKIP-98 on the Bitcoin header has exactly 80 bytes.
    #[error("the Bitcoin header has {size} bytes")]
    BitcoinHeaderSize {
        /// Size in bytes.
        size: usize,
    },
    /// The Bitcoin header does not decode.
    #[error("the Bitcoin header is malformed")]
    BitcoinHeaderMalformed(#[source] MessageError),
    /// The hash does not meet the target.
    #[error("the Bitcoin block hash {hash:#066x} is above the target {target:#066x}")]
    AboveTarget {
        /// Hash of the Bitcoin header as a number.
        hash: U256,
        /// Maximum hash.
        target: U256,
    },
    /// The compressed coinbase is shorter than a midstate.
    #[error("the compressed coinbase has only {size} bytes")]
    CoinbaseTruncated {
        /// Size in bytes.
        size: usize,
    },
    /// The header has no hash for merged mining, for example because the coinbase does not carry the fork detection
    /// data behind the first 20 bytes of it.
    #[error("the header has no hash for merged mining")]
    NoHash(#[source] HeaderError),
    /// The coinbase does not commit to this block.
    #[error("the coinbase does not contain the tag and the hash for merged mining")]
    TagNotFound,
    /// The tag starts too late in the tail.
    #[error("the tag is at offset {position} of the coinbase tail")]
    TagPosition {
        /// Offset of the tag.
        position: usize,
    },
    /// Another tag follows.
    #[error("the tag at offset {position} is not the last one")]
    TagNotLast {
        /// Offset of the tag with this block's hash.
        position: usize,
    },
    /// Too many bytes after the hash.
    #[error("{count} bytes follow the hash for merged mining")]
    TooManyBytesAfterTag {
        /// Size in bytes.
        count: usize,
    },
    /// The coinbase could be an inner node of the Merkle tree.
    #[error("the coinbase has {size} bytes, not more than 64")]
    CoinbaseTooShort {
        /// Declared size; negative if the byte count of the midstate is.
        size: i64,
    },
    /// The coinbase is not in the block of the Bitcoin header.
    #[error("the Merkle proof does not lead from the coinbase to the Bitcoin header")]
    MerkleProof(#[source] MerkleError),
}

/// Checks the proof of work of a header. Does not read other blocks.
pub fn proof_of_work(header: &Header, spec: &ChainSpec) -> Result<(), PowError> {
    if fallback::is_fallback(header, spec) {
        return fallback::check(header).map_err(PowError::FallbackSignature);
    }
    let rules = spec.rules(header.number);
    let proof = Proof::read(header, rules.is_active(Rule::Rskip92), rules.is_active(Rule::Rskip180))?;
    let coinbase = present(&header.bitcoin_coinbase).ok_or(PowError::CoinbaseMissing)?;
    let element = present(&header.bitcoin_header).ok_or(PowError::BitcoinHeaderMissing)?;
    if rules.is_active(Rule::Rskip98) && element.len() != HEADER_SIZE {
        return Err(PowError::BitcoinHeaderSize { size: element.len() });
    }
    let bitcoin = BitcoinHeader::parse(element).map_err(PowError::BitcoinHeaderMalformed)?;
    let hash = U256::from_be_bytes(display(bitcoin.hash()));
    let target = required_target(header, spec);
    if hash > target {
        return Err(PowError::AboveTarget { hash, target });
    }
    let split = CompressedCoinbase::split(coinbase);
    let coinbase = split.ok_or(PowError::CoinbaseTruncated { size: coinbase.len() })?;
    check_commitment(header, &coinbase)?;
    proof.verify(coinbase.hash(), bitcoin.merkle_root()).map_err(PowError::MerkleProof)
}

/// Steps 6 to 10: the coinbase commits to this block, at a valid position.
fn check_commitment(header: &Header, coinbase: &CompressedCoinbase<'_>) -> Result<(), PowError> {
    let hash = header.hash_for_merged_mining().map_err(PowError::NoHash)?;
    let commitment = [TAG.as_slice(), hash.as_slice()].concat();
    let tail = coinbase.tail;
    let position = last_position(tail, &commitment).ok_or(PowError::TagNotFound)?;
    if position >= TAG_WINDOW {
        return Err(PowError::TagPosition { position });
    }
    if last_position(tail, TAG) != Some(position) {
        return Err(PowError::TagNotLast { position });
    }
    let count = tail.len().saturating_sub(position + commitment.len());
    if count > MAX_BYTES_AFTER_HASH {
        return Err(PowError::TooManyBytesAfterTag { count });
    }
    // Consensus requires a signed byte count and a sum that wraps.
    let size = coinbase.midstate.byte_count.wrapping_add(tail.len() as u64).cast_signed();
    if size <= 64 { Err(PowError::CoinbaseTooShort { size }) } else { Ok(()) }
}

/// A Merkle proof with a valid format.
enum Proof<'a> {
    Siblings(&'a [u8]),
    Tree(PartialTree),
}

impl<'a> Proof<'a> {
    /// `short`: RSKIP-92 is active; `bounded`: RSKIP-180.
    fn read(header: &'a Header, short: bool, bounded: bool) -> Result<Self, PowError> {
        let element = header.merkle_proof.as_deref().ok_or(PowError::MerkleProofFormat)?;
        if !short {
            return PartialTree::parse(element).map(Self::Tree).ok_or(PowError::MerkleProofFormat);
        }
        if element.len() % NODE_SIZE != 0 || (bounded && element.len() > MAX_PROOF_SIZE) {
            return Err(PowError::MerkleProofFormat);
        }
        Ok(Self::Siblings(element))
    }

    fn verify(&self, coinbase: Digest, root: Digest) -> Result<(), MerkleError> {
        match self {
            Self::Siblings(nodes) => merkle::verify(nodes, coinbase, root),
            Self::Tree(tree) => tree.verify(coinbase, root),
        }
    }
}

/// Returns the bytes of an element; `None` if it is missing or empty.
pub(crate) fn present(element: &Option<Bytes>) -> Option<&[u8]> {
    element.as_ref().map(Bytes::as_ref).filter(|bytes| !bytes.is_empty())
}
