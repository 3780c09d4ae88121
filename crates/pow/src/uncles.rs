//! Rules for the uncles of a block.

use crate::block_lookup::{BlockLookup, LookUpError};
use crate::fork_detection::{ForkDetectionError, check_fork_detection};
use crate::header_rules::{self, HeaderRuleError};
use crate::merged_mining::{PowError, proof_of_work};
use rhizome_primitives::{B256, Block, ChainSpec, Header};
use std::collections::HashSet;

/// Why the uncles of a block are invalid. `index` is the position in the list of uncles.
#[derive(Debug, thiserror::Error)]
pub enum UncleRuleError {
    /// The uncles hash in the header differs from the hash of the list.
    #[error("the uncles hash in the header is not that of the uncles")]
    Hash,
    /// The list exceeds the limit of the network.
    #[error("{count} uncles, at most {limit} are allowed")]
    TooMany {
        /// Number of uncles.
        count: usize,
        /// Maximum number of uncles.
        limit: usize,
    },
    /// An uncle without valid proof of work.
    #[error("uncle {index} has no valid proof of work")]
    ProofOfWork {
        /// Position of the uncle.
        index: usize,
        /// The failing step.
        source: PowError,
    },
    /// An uncle with invalid fork detection data.
    #[error("uncle {index} has wrong fork detection data")]
    ForkDetection {
        /// Position of the uncle.
        index: usize,
        /// The violation.
        source: ForkDetectionError,
    },
    /// An uncle that breaks a rule about its header or about its parent.
    #[error("uncle {index} breaks a header rule")]
    Header {
        /// Position of the uncle.
        index: usize,
        /// The rule.
        source: HeaderRuleError,
    },
    /// An uncle that used more gas than its gas limit.
    #[error("uncle {index} used {gas_used} gas, more than its limit")]
    GasUsed {
        /// Position of the uncle.
        index: usize,
        /// Gas used in the header of the uncle.
        gas_used: u64,
    },
    /// An uncle that is not older than the block, or too old.
    #[error("uncle {index} of number {number} is outside the window of block {block}")]
    Age {
        /// Position of the uncle.
        index: usize,
        /// Number of the uncle.
        number: u64,
        /// Number of the block.
        block: u64,
    },
    /// The list contains the uncle twice.
    #[error("uncle {index} is in the list twice")]
    Repeated {
        /// Position of the uncle.
        index: usize,
    },
    /// An uncle that is an ancestor of the block.
    #[error("uncle {index} is an ancestor of the block")]
    IsAncestor {
        /// Position of the uncle.
        index: usize,
    },
    /// An uncle that a recent ancestor of the block already includes.
    #[error("uncle {index} is already included in an ancestor of the block")]
    AlreadyIncluded {
        /// Position of the uncle.
        index: usize,
    },
    /// An uncle whose parent is not a recent ancestor of the block.
    #[error("the parent of uncle {index} is not a recent ancestor of the block")]
    NoCommonParent {
        /// Position of the uncle.
        index: usize,
    },
    /// The block store failed.
    #[error("look-up of an ancestor failed")]
    LookUp(#[source] LookUpError),
}

/// Rule 9: checks the uncles hash, the number of uncles, and each uncle against the clock, the window of recent ancestors and
/// its parent.
pub fn check_uncles(
    block: &Block,
    blocks: &dyn BlockLookup,
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
    let window = UncleWindow::of(&block.header, blocks, spec)?;
    let mut seen = HashSet::new();
    for (index, uncle) in block.uncles.iter().enumerate() {
        check_standalone(index, uncle, blocks, spec, now_seconds)?;
        window.check(index, uncle, &mut seen)?;
        check_against_parent(index, uncle, blocks, spec)?;
    }
    Ok(())
}

/// Checks points 3 to 6 for an uncle of a block under construction. `window` belongs to that block.
pub fn check_candidate(
    uncle: &Header,
    window: &UncleWindow,
    blocks: &dyn BlockLookup,
    spec: &ChainSpec,
    now_seconds: u64,
) -> Result<(), UncleRuleError> {
    check_standalone(0, uncle, blocks, spec, now_seconds)?;
    window.check(0, uncle, &mut HashSet::new())?;
    check_against_parent(0, uncle, blocks, spec)
}

/// Point 2: the number of uncles is within the limit of the network.
pub fn check_count(count: usize, spec: &ChainSpec) -> Result<(), UncleRuleError> {
    let limit = spec.constants.uncle_list_limit;
    if count <= limit { Ok(()) } else { Err(UncleRuleError::TooMany { count, limit }) }
}

/// Point 3: rules that do not depend on the block.
fn check_standalone(
    index: usize,
    uncle: &Header,
    blocks: &dyn BlockLookup,
    spec: &ChainSpec,
    now_seconds: u64,
) -> Result<(), UncleRuleError> {
    proof_of_work(uncle, spec).map_err(|source| UncleRuleError::ProofOfWork { index, source })?;
    check_fork_detection(uncle, spec, blocks).map_err(|error| match error {
        ForkDetectionError::LookUp(source) => UncleRuleError::LookUp(source),
        source => UncleRuleError::ForkDetection { index, source },
    })?;
    header_rules::timestamp(uncle, spec, now_seconds).map_err(|source| UncleRuleError::Header { index, source })?;
    if header_rules::gas_used_fits(&uncle.gas_limit, uncle.gas_used) {
        return Ok(());
    }
    Err(UncleRuleError::GasUsed { index, gas_used: uncle.gas_used })
}

/// Second half of point 6: rules that compare an uncle with its parent, which is a known ancestor of the block.
fn check_against_parent(
    index: usize,
    uncle: &Header,
    blocks: &dyn BlockLookup,
    spec: &ChainSpec,
) -> Result<(), UncleRuleError> {
    let hash = uncle.parent().ok_or(UncleRuleError::NoCommonParent { index })?;
    let parent = blocks.header(&hash).map_err(UncleRuleError::LookUp)?;
    let parent = parent.ok_or(UncleRuleError::NoCommonParent { index })?;
    header_rules::minimum_gas_price_range(uncle, &parent)
        .and_then(|()| header_rules::number(uncle, &parent))
        .and_then(|()| header_rules::timestamp_after_parent(uncle, &parent, spec))
        .and_then(|()| header_rules::difficulty_rule(uncle, &parent, spec))
        .and_then(|()| header_rules::gas_limit_range(uncle, &parent, spec))
        .map_err(|source| UncleRuleError::Header { index, source })
}

/// The recent ancestors of a block and their uncles.
pub struct UncleWindow {
    number: u64,
    generations: u64,
    ancestors: HashSet<B256>,
    included: HashSet<B256>,
}

impl UncleWindow {
    /// Collects the window of a block: its ancestors within the generation limit of the network, and their uncles.
    pub fn of(header: &Header, blocks: &dyn BlockLookup, spec: &ChainSpec) -> Result<Self, UncleRuleError> {
        let generations = spec.constants.uncle_generation_limit;
        let lowest = header.number.saturating_sub(generations);
        let mut window =
            Self { number: header.number, generations, ancestors: HashSet::new(), included: HashSet::new() };
        let mut next = header.parent();
        while let Some(hash) = next {
            let Some(ancestor) = blocks.header(&hash).map_err(UncleRuleError::LookUp)? else { break };
            if ancestor.number < lowest {
                break;
            }
            window.included.extend(blocks.uncle_hashes(&hash).map_err(UncleRuleError::LookUp)?.unwrap_or_default());
            window.ancestors.insert(hash);
            next = ancestor.parent();
        }
        Ok(window)
    }

    /// Checks points 4, 5 and the first half of 6. `seen` collects the hashes of the uncles of one list.
    pub fn check(&self, index: usize, uncle: &Header, seen: &mut HashSet<B256>) -> Result<(), UncleRuleError> {
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
        if self.included.contains(&hash) {
            return Err(UncleRuleError::AlreadyIncluded { index });
        }
        if uncle.parent().is_some_and(|parent| self.ancestors.contains(&parent)) {
            return Ok(());
        }
        Err(UncleRuleError::NoCommonParent { index })
    }
}
