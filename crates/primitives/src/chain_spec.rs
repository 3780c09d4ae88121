//! Chain specifications: identity, activation heights of upgrades and rules, constants and genesis. Built-in networks
//! and custom specifications (`--chain SPEC.json`) share one loader.

mod fields;
mod loader;

use crate::genesis::GenesisSpec;
use crate::networks::Network;
use crate::rules::{Rule, Rules};
use crate::upgrades::Upgrade;
use alloy_primitives::{Address, B256, U256};

/// Specification of a chain. Heights change only through the builder methods, which update the derived tables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainSpec {
    /// Network that provides the defaults.
    pub network: Network,
    /// Display name; that of the network unless the specification has its own.
    pub name: String,
    /// Chain id of transactions.
    pub chain_id: u8,
    /// Network id in the peer protocol.
    pub network_id: u32,
    /// Parameters of the fee distribution.
    pub remasc: RemascParams,
    /// Limits and difficulty parameters.
    pub constants: ChainConstants,
    /// Block 0.
    pub genesis: GenesisSpec,
    /// Number and hash of blocks that the chain must have (docs/spec/p2p-additions.md, C.3).
    pub checkpoints: Vec<(u64, B256)>,
    /// Sum of difficulties that the chain has at least; zero if unknown. A peer that claims less is itself behind (C.3).
    pub minimum_chain_difficulty: U256,
    /// Number and root of known states in the current format, for blocks whose headers do not have one (before RSKIP-126).
    pub state_roots: Vec<(u64, B256)>,
    /// Number of the block that a fork of another chain begins at; `None` for a chain with its own genesis. Blocks above it
    /// have the difficulty of that block, need no proof of work, and have no fork detection data.
    pub fork_block: Option<u64>,
    upgrade_heights: Vec<(Upgrade, Option<u64>)>,
    rule_heights: Vec<Option<u64>>,
    /// First block and active rules of each era, ascending, starting at 0.
    eras: Vec<(u64, Rules)>,
}

/// Parameters of REMASC.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemascParams {
    /// Number of blocks between earning fees and their payment.
    pub maturity: u64,
    /// Number of blocks over which a reward is spread.
    pub synthetic_span: u64,
    /// Divisor for the share of the labs address.
    pub labs_divisor: u64,
    /// Divisor for the penalty of punished miners.
    pub punishment_divisor: u64,
    /// Divisor for the share of miners that include siblings.
    pub publishers_divisor: u64,
    /// Divisor for the share of the federation.
    pub federation_divisor: u64,
    /// Divisor for the penalty for each block by which a sibling is included late.
    pub late_uncle_inclusion_punishment_divisor: u64,
    /// Amount of gas whose price a reward must reach to be paid.
    pub minimum_payable_gas: u64,
    /// Amount of gas whose price the reward of a federation member must reach to be paid.
    pub federator_minimum_payable_gas: u64,
    /// Address of the labs share before RSKIP-218.
    pub labs_address: Address,
    /// Address of the labs share from RSKIP-218 on.
    pub labs_address_rskip218: Address,
}

/// Limits and difficulty parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainConstants {
    /// Target block interval in seconds.
    pub duration_limit: u32,
    /// Minimum difficulty.
    pub minimum_difficulty: U256,
    /// Minimum difficulty with RSKIP-290, on the affected networks.
    pub minimum_difficulty_rskip290: Option<U256>,
    /// Divisor for the change of the difficulty from block to block.
    pub difficulty_bound_divisor: U256,
    /// Divisor with RSKIP-156.
    pub difficulty_bound_divisor_at_end: U256,
    /// Maximum difficulty at which a signature could replace the proof of work (before RSKIP-98).
    pub fallback_difficulty: U256,
    /// Maximum number of seconds that a block may be ahead of the clock; 0 disables all timestamp rules.
    pub max_seconds_in_future: u64,
    /// Maximum difference in seconds between Bitcoin and block timestamps (RSKIP-179).
    pub max_seconds_to_bitcoin: u64,
    /// Maximum difference with RSKIP-297.
    pub max_seconds_to_bitcoin_rskip297: u64,
    /// Minimum gas of the sequential sublist (RSKIP-144).
    pub min_sequential_gas_limit: u64,
    /// Minimum gas limit of a block.
    pub min_gas_limit: u64,
    /// Divisor for the change of the gas limit from block to block.
    pub gas_limit_bound_divisor: u64,
    /// Gas limit that mined blocks move towards.
    pub target_gas_limit: u64,
    /// Maximum number of bytes of extra data.
    pub maximum_extra_data_size: usize,
    /// Maximum number of uncles in a block.
    pub uncle_list_limit: usize,
    /// Maximum number of generations between a block and its uncles.
    pub uncle_generation_limit: u64,
    /// Number of sublists that may execute in parallel (RSKIP-144).
    pub parallel_sublists: usize,
    /// Number of ancestors that fork detection data is made from, and height of the first block with such data
    /// (RSKIP-110).
    pub fork_detection_blocks: u64,
}

impl ChainSpec {
    /// Returns the specification of a built-in network by name.
    pub fn by_name(name: &str) -> Result<ChainSpec, SpecError> {
        let network = Network::by_name(name).ok_or_else(|| SpecError::UnknownNetwork { name: name.into() })?;
        loader::built_in(network)
    }

    /// Returns the specification of the built-in network with a chain id; `None` for another id.
    pub fn by_chain_id(id: u64) -> Option<ChainSpec> {
        match id {
            30 => Some(Self::mainnet()),
            31 => Some(Self::testnet()),
            32 => Some(Self::devnet()),
            33 => Some(Self::regtest()),
            _ => None,
        }
    }

    /// Returns true for development networks and forks, where keys of funded accounts are public and mining costs nothing.
    pub fn is_development(&self) -> bool {
        self.fork_block.is_some() || matches!(self.network, Network::Regtest | Network::Devnet)
    }

    /// Returns the specification of a fork of this chain that begins at block `number`.
    #[must_use]
    pub fn forked_at(mut self, number: u64) -> ChainSpec {
        self.fork_block = Some(number);
        self.constants.fork_detection_blocks = u64::MAX;
        // Known blocks and states are those of the network, of which the fork has one block.
        self.checkpoints.clear();
        self.state_roots.clear();
        self
    }

    /// Parses a specification in JSON, or an object with a member `spec` that is one. Its member `network` selects the
    /// network that provides the defaults.
    pub fn from_json(text: &str) -> Result<ChainSpec, SpecError> {
        loader::custom(text)
    }

    /// Returns the rules that are active at a block.
    pub fn rules(&self, number: u64) -> Rules {
        let later = self.eras.partition_point(|&(first, _)| first <= number);
        later.checked_sub(1).and_then(|era| self.eras.get(era)).map_or(Rules::none(), |&(_, rules)| rules)
    }

    /// Returns the first block with the rule; `None` means never.
    pub fn height(&self, rule: Rule) -> Option<u64> {
        self.rule_heights.get(rule as usize).copied().flatten()
    }

    /// Returns true if the rule is active at the block.
    pub fn is_active(&self, rule: Rule, number: u64) -> bool {
        self.height(rule).is_some_and(|height| height <= number)
    }

    /// Returns true if the block is the first with the rule.
    pub fn activates_at(&self, rule: Rule, number: u64) -> bool {
        self.height(rule) == Some(number)
    }

    /// Returns the checkpoint at a height that a block with this hash contradicts; `None` if there is none.
    pub fn contradicted_checkpoint(&self, number: u64, hash: &B256) -> Option<B256> {
        let contradicts = |(at, expected): &&(u64, B256)| *at == number && expected != hash;
        self.checkpoints.iter().find(contradicts).map(|(_, expected)| *expected)
    }

    /// Whether there is a checkpoint at or above a height.
    pub fn is_below_checkpoint(&self, number: u64) -> bool {
        self.checkpoints.iter().any(|(at, _)| *at >= number)
    }

    /// Returns the known state root after a block, in the current format.
    pub fn known_state_root(&self, number: u64) -> Option<B256> {
        self.state_roots.iter().find(|(at, _)| *at == number).map(|(_, root)| *root)
    }

    /// Returns the first block of an upgrade; `None` means never. Its rules can have different heights.
    pub fn upgrade_height(&self, upgrade: Upgrade) -> Option<u64> {
        self.upgrade_heights.iter().find(|(candidate, _)| *candidate == upgrade).and_then(|(_, height)| *height)
    }

    /// Returns the same chain with a different height for one rule.
    #[must_use]
    pub fn with_rule_height(mut self, rule: Rule, height: Option<u64>) -> ChainSpec {
        if let Some(slot) = self.rule_heights.get_mut(rule as usize) {
            *slot = height;
        }
        self.eras = eras(&self.rule_heights);
        self
    }
}

/// The built-in networks as values. Tests check their data, so loading cannot fail.
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
    /// Development network of one node.
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

/// Errors in a chain specification. `path` is the field, as in `genesis.alloc.<address>.balance`.
#[derive(Debug, thiserror::Error)]
pub enum SpecError {
    /// The text is not JSON.
    #[error("the chain specification is not JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// Unknown network name.
    #[error("unknown network {name:?}; known are mainnet, testnet, testnet2, regtest and devnet")]
    UnknownNetwork {
        /// The unknown name.
        name: String,
    },
    /// Unknown upgrade name.
    #[error("{path}: unknown upgrade {name:?}")]
    UnknownUpgrade {
        /// Field that has the name.
        path: String,
        /// The unknown name.
        name: String,
    },
    /// Unknown rule name.
    #[error("{path}: unknown consensus rule {name:?}")]
    UnknownRule {
        /// Field that has the name.
        path: String,
        /// The unknown name.
        name: String,
    },
    /// Unknown field.
    #[error("unknown field {path}")]
    UnknownField {
        /// Path of the field.
        path: String,
    },
    /// A field without a default is absent.
    #[error("{path} is missing")]
    MissingField {
        /// Path of the field.
        path: String,
    },
    /// A field has a value of the wrong type or out of range.
    #[error("{path}: expected {expected}, got {got}")]
    BadValue {
        /// Path of the field.
        path: String,
        /// Accepted values.
        expected: &'static str,
        /// The rejected value, shortened.
        got: String,
    },
}
