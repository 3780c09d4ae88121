//! A run of headers, each the parent of the next, with the rules that need no other header.

use std::hash::{BuildHasher, RandomState};

use rayon::prelude::*;
use rhizome_pow::{HeaderRuleError, PowError, check_header, proof_of_work};
use rhizome_primitives::{B256, ChainSpec, Header};

/// Number of headers below a checkpoint of which the proof of work of one is checked (docs/spec/p2p-additions.md, C.3).
const CHECKED_BELOW_CHECKPOINT: u64 = 64;

/// The rule that a header breaks.
#[derive(Debug, thiserror::Error)]
pub enum HeaderFault {
    /// A header is not the child of the one before.
    #[error("header {number} is not a child of the header before")]
    Link {
        /// Its number.
        number: u64,
    },
    /// A rule about the header and its parent.
    #[error("header {number}: {rule}")]
    Rule {
        /// Its number.
        number: u64,
        /// The rule.
        rule: HeaderRuleError,
    },
    /// No valid proof of work.
    #[error("header {number}: {reason}")]
    ProofOfWork {
        /// Its number.
        number: u64,
        /// The fault.
        reason: PowError,
    },
    /// The block of the header was found invalid.
    #[error("block {number} is known to be invalid: {reason}")]
    KnownInvalid {
        /// Its number.
        number: u64,
        /// The rule that it breaks.
        reason: String,
    },
    /// The network has another block at this height.
    #[error("header {number} is {found}, the checkpoint is {expected}")]
    Checkpoint {
        /// Its number.
        number: u64,
        /// Hash of the checkpoint.
        expected: B256,
        /// Hash of the header.
        found: B256,
    },
}

impl HeaderFault {
    /// Whether the header is later than the clock allows. The clock of this node may be wrong.
    pub fn is_in_the_future(&self) -> bool {
        matches!(self, HeaderFault::Rule { rule: HeaderRuleError::InTheFuture { .. }, .. })
    }
}

/// Headers with proof of work, ascending, each the parent of the next.
#[derive(Debug)]
pub struct HeaderRun {
    pub(super) headers: Vec<(Header, B256)>,
}

impl HeaderRun {
    /// Checks headers in ascending order, on all cores: links, rules and proofs of work. Below a checkpoint the proof of one
    /// header in 64 is checked: the importer checks that of every block. `now` is in seconds.
    pub fn verify(headers: Vec<Header>, spec: &ChainSpec, now: u64) -> Result<HeaderRun, HeaderFault> {
        let with_hash = |header: Header| {
            let hash = header.hash();
            (header, hash)
        };
        let headers: Vec<(Header, B256)> = headers.into_iter().map(with_hash).collect();
        for pair in headers.windows(2) {
            if let [(parent, hash), (child, _)] = pair {
                let number = child.number;
                if child.parent() != Some(*hash) {
                    return Err(HeaderFault::Link { number });
                }
                check_header(child, parent, spec, now).map_err(|rule| HeaderFault::Rule { number, rule })?;
            }
        }
        let random = RandomState::new();
        let is_checked = |number: u64, hash: &B256| {
            !spec.is_below_checkpoint(number) || random.hash_one(hash).is_multiple_of(CHECKED_BELOW_CHECKPOINT)
        };
        headers.par_iter().with_min_len(16).try_for_each(|(header, hash)| {
            let number = header.number;
            if !is_checked(number, hash) {
                return Ok(());
            }
            proof_of_work(header, spec).map_err(|reason| HeaderFault::ProofOfWork { number, reason })
        })?;
        Ok(HeaderRun { headers })
    }

    /// Removes the first headers, which are known already.
    #[must_use]
    pub fn skip(mut self, count: usize) -> HeaderRun {
        self.headers.drain(..count.min(self.headers.len()));
        self
    }

    /// Returns the number of headers.
    pub fn len(&self) -> usize {
        self.headers.len()
    }

    /// Whether there are no headers.
    pub fn is_empty(&self) -> bool {
        self.headers.is_empty()
    }

    /// Returns number and hash of the headers.
    pub fn positions(&self) -> impl Iterator<Item = (u64, B256)> + '_ {
        self.headers.iter().map(|(header, hash)| (header.number, *hash))
    }
}
