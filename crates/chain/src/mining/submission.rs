//! Outcome of a mining solution that a miner submits.

use rhizome_pow::{MiningSolutionError, PowError};
use rhizome_primitives::{B256, hex};

use crate::error::ImportError;
use crate::import::outcome::ImportOutcome;

/// A solution that became a block.
#[derive(Debug)]
pub struct SubmittedBlock {
    /// Outcome of the import.
    pub outcome: ImportOutcome,
    /// Its hash.
    pub hash: B256,
    /// Its number.
    pub number: u64,
}

/// Rejection of a solution, in the words of the reference: mining pools match on them.
#[derive(Debug, thiserror::Error)]
pub enum SubmissionError {
    /// The last submission was too recent.
    #[error("Cannot publish block, block submission rate limit exceeded")]
    TooSoon,
    /// The template is not among the last ones.
    #[error("Cannot publish block, could not find hash {hash} in the cache")]
    UnknownTemplate {
        /// The hash that the coinbase commits to.
        hash: B256,
    },
    /// The Bitcoin header is above the target, or the proof does not lead to it.
    #[error(
        "Invalid block supplied by miner: {} {} at height {number}",
        hex::encode(hash),
        hex::encode(hash_for_merged_mining)
    )]
    ProofOfWork {
        /// Hash that the block would have.
        hash: B256,
        /// Its hash for merged mining.
        hash_for_merged_mining: B256,
        /// Its number.
        number: u64,
        /// The failing step.
        source: Box<PowError>,
    },
    /// The coinbase has no commitment.
    #[error(transparent)]
    Solution(#[from] MiningSolutionError),
    /// The block could not be imported.
    #[error(transparent)]
    Import(#[from] ImportError),
}
