//! Rules about the uncles that a block names.

use crate::ancestry::{Ancestry, LookUpError};
use crate::fork_detection::{ForkDetectionError, check_fork_detection};
use crate::header_rules::{self, HeaderRuleError};
use crate::merged_mining::{PowError, proof_of_work};
use rhizome_primitives::{B256, Block, ChainSpec, Header};
use std::collections::HashSet;

/// Why the uncles of a block make it invalid. `index` is the position in its list.
#[derive(Debug, thiserror::Error)]
pub enum UncleRuleError {
    /// The header names another list of uncles.
    #[error("the uncles hash in the header is not that of the uncles")]
    Hash,
    /// More uncles than a block may have.
    #[error("{count} uncles, at most {limit} are allowed")]
    TooMany {
        /// Uncles found.
        count: usize,
        /// Uncles allowed.
        limit: usize,
    },
    /// An uncle without valid proof of work.
    #[error("uncle {index} has no valid proof of work")]
    ProofOfWork {
        /// Which uncle.
        index: usize,
        /// The failing step.
        source: PowError,
    },
    /// An uncle with wrong fork detection data.
    #[error("uncle {index} has wrong fork detection data")]
    ForkDetection {
        /// Which uncle.
        index: usize,
        /// What is wrong.
        source: ForkDetectionError,
    },
    /// An uncle that breaks a rule about its header or about its parent.
    #[error("uncle {index} breaks a header rule")]
    Header {
        /// Which uncle.
        index: usize,
        /// The rule.
        source: HeaderRuleError,
    },
    /// An uncle that used more gas than its limit.
    #[error("uncle {index} used {gas_used} gas, more than its limit")]
    GasUsed {
        /// Which uncle.
        index: usize,
        /// Gas used in its header.
        gas_used: u64,
    },
    /// An uncle that is not older than the block, or too old for it.
    #[error("uncle {index} of number {number} is outside the window of block {block}")]
    Age {
        /// Which uncle.
        index: usize,
        /// Its number.
        number: u64,
        /// Number of the block that names it.
        block: u64,
    },
    /// The same uncle twice.
    #[error("uncle {index} stands in the list twice")]
    Repeated {
        /// Which uncle.
        index: usize,
    },
    /// An uncle that is an ancestor of the block.
    #[error("uncle {index} is an ancestor of the block")]
    IsAncestor {
        /// Which uncle.
        index: usize,
    },
    /// An uncle that an ancestor has already named.
    #[error("uncle {index} was named before")]
    AlreadyNamed {
        /// Which uncle.
        index: usize,
    },
    /// An uncle whose parent is not among the last ancestors of the block.
    #[error("the parent of uncle {index} is not a recent ancestor of the block")]
    NoCommonParent {
        /// Which uncle.
        index: usize,
    },
    /// The store failed.
    #[error("look-up of an ancestor failed")]
    LookUp(#[source] LookUpError),
}

/// Rule 9: uncles hash, number of uncles, and each uncle against the clock, the window of ancestors and its parent.
pub fn check_uncles(
    block: &Block,
    ancestry: &dyn Ancestry,
    spec: &ChainSpec,
    now_seconds: u64,
) -> Result<(), UncleRuleError> {
    if block.header.uncles_hash.as_ref() != rhizome_primitives::uncles_hash(&block.uncles).as_slice() {
        return Err(UncleRuleError::Hash);
    }
    if block.uncles.is_empty() {
        return Ok(());
    }
    check_count(block.uncles.len(), spec)?;
    let family = Family::of(&block.header, ancestry, spec)?;
    let mut seen = HashSet::new();
    for (index, uncle) in block.uncles.iter().enumerate() {
        check_alone(index, uncle, ancestry, spec, now_seconds)?;
        family.check_place(index, uncle, &mut seen)?;
        check_against_parent(index, uncle, ancestry, spec)?;
    }
    Ok(())
}

/// Points 3 to 6 for an uncle that a block under construction may name; `family` is that of the block.
pub fn check_candidate(
    uncle: &Header,
    family: &Family,
    ancestry: &dyn Ancestry,
    spec: &ChainSpec,
    now_seconds: u64,
) -> Result<(), UncleRuleError> {
    check_alone(0, uncle, ancestry, spec, now_seconds)?;
    family.check_place(0, uncle, &mut HashSet::new())?;
    check_against_parent(0, uncle, ancestry, spec)
}

/// Point 2: at most as many uncles as the network allows.
pub fn check_count(count: usize, spec: &ChainSpec) -> Result<(), UncleRuleError> {
    let limit = spec.constants.uncle_list_limit;
    if count <= limit { Ok(()) } else { Err(UncleRuleError::TooMany { count, limit }) }
}

/// Point 3: what an uncle must satisfy for itself.
fn check_alone(
    index: usize,
    uncle: &Header,
    ancestry: &dyn Ancestry,
    spec: &ChainSpec,
    now_seconds: u64,
) -> Result<(), UncleRuleError> {
    proof_of_work(uncle, spec).map_err(|source| UncleRuleError::ProofOfWork { index, source })?;
    check_fork_detection(uncle, spec, ancestry).map_err(|error| match error {
        ForkDetectionError::LookUp(source) => UncleRuleError::LookUp(source),
        source => UncleRuleError::ForkDetection { index, source },
    })?;
    header_rules::timestamp(uncle, spec, now_seconds).map_err(|source| UncleRuleError::Header { index, source })?;
    if header_rules::gas_used_fits(&uncle.gas_limit, uncle.gas_used) {
        return Ok(());
    }
    Err(UncleRuleError::GasUsed { index, gas_used: uncle.gas_used })
}

/// Second half of point 6: an uncle against its parent, which the caller has found to be an ancestor of the block.
fn check_against_parent(
    index: usize,
    uncle: &Header,
    ancestry: &dyn Ancestry,
    spec: &ChainSpec,
) -> Result<(), UncleRuleError> {
    let hash = uncle.parent().ok_or(UncleRuleError::NoCommonParent { index })?;
    let parent = ancestry.header(&hash).map_err(UncleRuleError::LookUp)?;
    let parent = parent.ok_or(UncleRuleError::NoCommonParent { index })?;
    header_rules::minimum_gas_price_range(uncle, &parent)
        .and_then(|()| header_rules::number(uncle, &parent))
        .and_then(|()| header_rules::timestamp_after_parent(uncle, &parent, spec))
        .and_then(|()| header_rules::difficulty_rule(uncle, &parent, spec))
        .and_then(|()| header_rules::gas_limit_range(uncle, &parent, spec))
        .map_err(|source| UncleRuleError::Header { index, source })
}

/// The last ancestors of a block and the uncles that they name.
pub struct Family {
    number: u64,
    generations: u64,
    ancestors: HashSet<B256>,
    named: HashSet<B256>,
}

impl Family {
    /// Collects the window of a block under test or under construction: ancestors up to seven numbers below its own.
    pub fn of(header: &Header, ancestry: &dyn Ancestry, spec: &ChainSpec) -> Result<Self, UncleRuleError> {
        let generations = spec.constants.uncle_generation_limit;
        let lowest = header.number.saturating_sub(generations);
        let mut family = Self { number: header.number, generations, ancestors: HashSet::new(), named: HashSet::new() };
        let mut next = header.parent();
        while let Some(hash) = next {
            let Some(ancestor) = ancestry.header(&hash).map_err(UncleRuleError::LookUp)? else { break };
            if ancestor.number < lowest {
                break;
            }
            family.named.extend(ancestry.uncle_hashes(&hash).map_err(UncleRuleError::LookUp)?.unwrap_or_default());
            family.ancestors.insert(hash);
            next = ancestor.parent();
        }
        Ok(family)
    }

    /// Points 4, 5 and the first half of 6; `seen` collects the uncles of one list.
    pub fn check_place(&self, index: usize, uncle: &Header, seen: &mut HashSet<B256>) -> Result<(), UncleRuleError> {
        let age = UncleRuleError::Age { index, number: uncle.number, block: self.number };
        // uncle.number - 1 >= number - generations, without going below zero.
        if uncle.number >= self.number || uncle.number.saturating_add(self.generations) < self.number.saturating_add(1)
        {
            return Err(age);
        }
        let hash = uncle.hash();
        if !seen.insert(hash) {
            return Err(UncleRuleError::Repeated { index });
        }
        if self.ancestors.contains(&hash) {
            return Err(UncleRuleError::IsAncestor { index });
        }
        if self.named.contains(&hash) {
            return Err(UncleRuleError::AlreadyNamed { index });
        }
        if uncle.parent().is_some_and(|parent| self.ancestors.contains(&parent)) {
            return Ok(());
        }
        Err(UncleRuleError::NoCommonParent { index })
    }
}
