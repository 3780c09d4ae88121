//! What makes a chain: identity, heights of upgrades and rules, constants, genesis. Built-in networks and custom
//! specifications (`--chain SPEC.json`) come through the same loader.

mod fields;
mod loader;

use crate::genesis::GenesisSpec;
use crate::networks::Network;
use crate::rules::{Rule, Rules};
use crate::upgrades::Upgrade;
use alloy_primitives::{Address, U256};

/// A chain. Heights are changed only through the builder methods, which keep the look-up tables right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainSpec {
    /// The network whose defaults apply.
    pub network: Network,
    /// Name for people; the network's unless the specification has its own.
    pub name: String,
    /// Chain id of transactions.
    pub chain_id: u8,
    /// Network id among peers.
    pub network_id: u32,
    /// Parameters of the fee distribution.
    pub remasc: RemascParams,
    /// Limits and difficulty parameters.
    pub constants: ChainConstants,
    /// Block 0.
    pub genesis: GenesisSpec,
    upgrade_heights: Vec<(Upgrade, Option<u64>)>,
    rule_heights: Vec<Option<u64>>,
    /// First block and active rules of every era, ascending, starting at 0.
    eras: Vec<(u64, Rules)>,
}

/// Parameters of REMASC.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemascParams {
    /// Blocks between earning fees and their payment.
    pub maturity: u64,
    /// Number of blocks over which a reward is spread.
    pub synthetic_span: u64,
    /// The beneficiary gets one part in so many.
    pub labs_divisor: u64,
    /// Punished miners lose one part in so many.
    pub punishment_divisor: u64,
    /// Publishers of siblings share one part in so many.
    pub publishers_divisor: u64,
    /// The federation gets one part in so many.
    pub federation_divisor: u64,
    /// Late inclusion of a sibling costs one part in so many for each block of delay.
    pub late_uncle_inclusion_punishment_divisor: u64,
    /// Gas whose price the reward must reach to be paid out.
    pub minimum_payable_gas: u64,
    /// The same for a federation member.
    pub federator_minimum_payable_gas: u64,
    /// Beneficiary before RSKIP-218.
    pub labs_address: Address,
    /// Beneficiary from RSKIP-218 on.
    pub labs_address_rskip218: Address,
}

/// Limits and difficulty parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainConstants {
    /// Intended seconds between blocks.
    pub duration_limit: u32,
    /// Lowest difficulty.
    pub minimum_difficulty: U256,
    /// Lowest difficulty with RSKIP-290, on the networks that it concerns.
    pub minimum_difficulty_rskip290: Option<U256>,
    /// Difficulty moves by one part in so many.
    pub difficulty_bound_divisor: U256,
    /// The same with RSKIP-156.
    pub difficulty_bound_divisor_at_end: U256,
    /// Up to here a signature could stand in for the proof of work (before RSKIP-98).
    pub fallback_difficulty: U256,
    /// How far a block may be ahead of the clock; 0 switches every timestamp rule off.
    pub max_seconds_in_future: u64,
    /// Bitcoin and block timestamps must be closer than so many seconds (RSKIP-179).
    pub max_seconds_to_bitcoin: u64,
    /// The same with RSKIP-297.
    pub max_seconds_to_bitcoin_rskip297: u64,
    /// Gas that the sequential sublist is sure to have (RSKIP-144).
    pub min_sequential_gas_limit: u64,
    /// Lowest gas limit of a block.
    pub min_gas_limit: u64,
    /// The gas limit moves by one part in so many.
    pub gas_limit_bound_divisor: u64,
    /// Gas limit that miners steer towards.
    pub target_gas_limit: u64,
    /// Bytes of extra data.
    pub maximum_extra_data_size: usize,
    /// Uncles in a block.
    pub uncle_list_limit: usize,
    /// Generations between a block and its uncles.
    pub uncle_generation_limit: u64,
    /// Sublists that may run in parallel (RSKIP-144).
    pub parallel_sublists: usize,
    /// Ancestors that fork detection data is made from, and the first block that has such data (RSKIP-110).
    pub fork_detection_blocks: u64,
}

impl ChainSpec {
    /// The built-in network of that name.
    pub fn by_name(name: &str) -> Result<ChainSpec, SpecError> {
        let network = Network::by_name(name).ok_or_else(|| SpecError::UnknownNetwork { name: name.into() })?;
        loader::built_in(network)
    }

    /// Whether the network is for development: public keys hold its coins, and mining costs nothing.
    pub fn is_development(&self) -> bool {
        matches!(self.network, Network::Regtest | Network::Devnet)
    }

    /// A chain from a JSON text: a specification, or an object whose member `spec` is one. `network` names the network
    /// whose values apply where the specification says nothing.
    pub fn from_json(text: &str) -> Result<ChainSpec, SpecError> {
        loader::custom(text)
    }

    /// The rules that are active at a block.
    pub fn rules(&self, number: u64) -> Rules {
        let later = self.eras.partition_point(|&(first, _)| first <= number);
        later.checked_sub(1).and_then(|era| self.eras.get(era)).map_or(Rules::none(), |&(_, rules)| rules)
    }

    /// The first block with the rule; `None` means never.
    pub fn height(&self, rule: Rule) -> Option<u64> {
        self.rule_heights.get(rule as usize).copied().flatten()
    }

    /// True when the rule is active at the block.
    pub fn is_active(&self, rule: Rule, number: u64) -> bool {
        self.height(rule).is_some_and(|height| height <= number)
    }

    /// True when the block is the first with the rule.
    pub fn activates_at(&self, rule: Rule, number: u64) -> bool {
        self.height(rule) == Some(number)
    }

    /// The first block of an upgrade; `None` means never. Its rules may have heights of their own.
    pub fn upgrade_height(&self, upgrade: Upgrade) -> Option<u64> {
        self.upgrade_heights.iter().find(|(candidate, _)| *candidate == upgrade).and_then(|(_, height)| *height)
    }

    /// The same chain with another height for one rule.
    #[must_use]
    pub fn with_rule_height(mut self, rule: Rule, height: Option<u64>) -> ChainSpec {
        if let Some(slot) = self.rule_heights.get_mut(rule as usize) {
            *slot = height;
        }
        self.eras = eras(&self.rule_heights);
        self
    }
}

/// The built-in networks as values. Their data is checked by the tests, so loading them cannot fail.
macro_rules! built_in {
    ($($(#[$doc:meta])* $name:ident => $network:expr;)*) => {
        impl ChainSpec {
            $($(#[$doc])* pub fn $name() -> ChainSpec {
                match loader::built_in($network) {
                    Ok(spec) => spec,
                    Err(error) => unreachable!("built-in network: {error}"),
                }
            })*
        }
    };
}

built_in! {
    /// The network with real money.
    mainnet => Network::Mainnet;
    /// The public test network.
    testnet => Network::Testnet;
    /// The second public test network.
    testnet2 => Network::Testnet2;
    /// One-node development network.
    regtest => Network::Regtest;
    /// Development network of several nodes.
    devnet => Network::Devnet;
}

fn eras(rule_heights: &[Option<u64>]) -> Vec<(u64, Rules)> {
    let mut starts: Vec<u64> = rule_heights.iter().copied().flatten().chain([0]).collect();
    starts.sort_unstable();
    starts.dedup();
    let rules_at = |number: u64| {
        Rule::ALL
            .iter()
            .zip(rule_heights)
            .filter(|(_, height)| height.is_some_and(|height| height <= number))
            .map(|(&rule, _)| rule)
            .collect()
    };
    starts.into_iter().map(|start| (start, rules_at(start))).collect()
}

/// What is wrong with a chain specification. `path` is the field, as in `genesis.alloc.<address>.balance`.
#[derive(Debug, thiserror::Error)]
pub enum SpecError {
    /// The text is not JSON.
    #[error("the chain specification is not JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// There is no such network.
    #[error("unknown network {name:?}; known are mainnet, testnet, testnet2, regtest and devnet")]
    UnknownNetwork {
        /// The name that was given.
        name: String,
    },
    /// There is no such upgrade.
    #[error("{path}: unknown upgrade {name:?}")]
    UnknownUpgrade {
        /// Where it was named.
        path: String,
        /// The name that was given.
        name: String,
    },
    /// There is no such rule.
    #[error("{path}: unknown consensus rule {name:?}")]
    UnknownRule {
        /// Where it was named.
        path: String,
        /// The name that was given.
        name: String,
    },
    /// There is no such field.
    #[error("unknown field {path}")]
    UnknownField {
        /// The field.
        path: String,
    },
    /// A field that has no default is not there.
    #[error("{path} is missing")]
    MissingField {
        /// The field.
        path: String,
    },
    /// A field has a value of the wrong kind or out of range.
    #[error("{path}: expected {expected}, got {got}")]
    BadValue {
        /// The field.
        path: String,
        /// What would be accepted.
        expected: &'static str,
        /// What was there, shortened.
        got: String,
    },
}
