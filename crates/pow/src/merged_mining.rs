//! The proof of work rule: a Bitcoin header that meets the target and a coinbase that commits to the block.

use crate::fallback::{self, FallbackError};
use crate::work::target;
use rhizome_bitcoin::coinbase::{TAG, last_position};
use rhizome_bitcoin::merkle::{self, MerkleError, NODE_SIZE};
use rhizome_bitcoin::partial_tree::PartialTree;
use rhizome_bitcoin::{BitcoinHeader, CompressedCoinbase, Digest, MessageError, display};
use rhizome_primitives::{Bytes, ChainSpec, Header, HeaderError, Rule, U256};

/// Bytes that may follow the hash for merged mining in a coinbase.
const MAX_BYTES_AFTER_HASH: usize = 128;

/// The tag must start within this many bytes of the tail.
const TAG_WINDOW: usize = 64;

/// Bytes of the longest proof from RSKIP-180 on: 30 nodes.
const MAX_PROOF_SIZE: usize = 960;

/// Bytes of a Bitcoin header.
const BITCOIN_HEADER_SIZE: usize = 80;

/// The step of the rule at which a header fails.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PowError {
    /// A block that is judged by signature (before RSKIP-98) is not signed by the right key.
    #[error("fallback signature not accepted")]
    FallbackSignature(#[source] FallbackError),
    /// The Merkle proof is missing or has an impossible size.
    #[error("the Merkle proof has the wrong format")]
    MerkleProofFormat,
    /// There is no compressed coinbase.
    #[error("the compressed coinbase is missing")]
    CoinbaseMissing,
    /// There is no Bitcoin header.
    #[error("the Bitcoin header is missing")]
    BitcoinHeaderMissing,
    /// From RSKIP-98 on the Bitcoin header has exactly 80 bytes.
    #[error("the Bitcoin header has {size} bytes")]
    BitcoinHeaderSize {
        /// Bytes found.
        size: usize,
    },
    /// The Bitcoin header cannot be read.
    #[error("the Bitcoin header is malformed")]
    BitcoinHeaderMalformed(#[source] MessageError),
    /// Too little work.
    #[error("the Bitcoin block hash {hash:#066x} is above the target {target:#066x}")]
    AboveTarget {
        /// Hash of the Bitcoin header as a number.
        hash: U256,
        /// What it may be at most.
        target: U256,
    },
    /// The compressed coinbase is shorter than a midstate.
    #[error("the compressed coinbase has only {size} bytes")]
    CoinbaseTruncated {
        /// Bytes found.
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
    /// Too many bytes behind the hash.
    #[error("{count} bytes follow the hash for merged mining")]
    TooManyBytesAfterTag {
        /// Bytes found.
        count: usize,
    },
    /// A coinbase that could be an inner node of the Merkle tree.
    #[error("the coinbase has {size} bytes, not more than 64")]
    CoinbaseTooShort {
        /// Its claimed size; negative when the byte count of the midstate is.
        size: i64,
    },
    /// The coinbase is not in the block of the Bitcoin header.
    #[error("the Merkle proof does not lead from the coinbase to the Bitcoin header")]
    MerkleProof(#[source] MerkleError),
}

/// The proof of work of a header, without looking at any other block.
pub fn proof_of_work(header: &Header, spec: &ChainSpec) -> Result<(), PowError> {
    if fallback::is_fallback(header, spec) {
        return fallback::check(header).map_err(PowError::FallbackSignature);
    }
    let rules = spec.rules(header.number);
    let proof = Proof::read(header, rules.is_active(Rule::Rskip92), rules.is_active(Rule::Rskip180))?;
    let coinbase = present(&header.bitcoin_coinbase).ok_or(PowError::CoinbaseMissing)?;
    let element = present(&header.bitcoin_header).ok_or(PowError::BitcoinHeaderMissing)?;
    if rules.is_active(Rule::Rskip98) && element.len() != BITCOIN_HEADER_SIZE {
        return Err(PowError::BitcoinHeaderSize { size: element.len() });
    }
    let bitcoin = BitcoinHeader::parse(element).map_err(PowError::BitcoinHeaderMalformed)?;
    let hash = U256::from_be_bytes(display(bitcoin.hash()));
    let target = target(header.difficulty_value());
    if hash > target {
        return Err(PowError::AboveTarget { hash, target });
    }
    let split = CompressedCoinbase::split(coinbase);
    let coinbase = split.ok_or(PowError::CoinbaseTruncated { size: coinbase.len() })?;
    check_commitment(header, &coinbase)?;
    proof.verify(coinbase.hash(), bitcoin.merkle_root()).map_err(PowError::MerkleProof)
}

/// Steps 6 to 10: the coinbase commits to this block, at the right place.
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
    // The byte count is a signed number and the sum wraps.
    let size = coinbase.midstate.byte_count.wrapping_add(tail.len() as u64).cast_signed();
    if size <= 64 { Err(PowError::CoinbaseTooShort { size }) } else { Ok(()) }
}

/// The Merkle proof element, checked for its format.
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

/// An empty element counts as missing.
pub(crate) fn present(element: &Option<Bytes>) -> Option<&[u8]> {
    element.as_ref().map(Bytes::as_ref).filter(|bytes| !bytes.is_empty())
}
