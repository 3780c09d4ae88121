//! Settings that `openNode` takes.

use crate::forking::ForkConfig;
use crate::node_role::NodeRole;
use rhizome_answers::accounts::{self, Accounts};
use rhizome_answers::key_store::KeyStore;
use rhizome_answers::options::{
    AnswerOptions, BridgeStateForm, CallOnHalt, EstimateBound, EstimateOnFailure, EstimateSearch, LatestBlock,
    Listening, LogLimits, MiningMode, PendingOnPartial, ProofFormat, ShownRemasc, SignatureForm, TagDepths,
    TraceLimits, TraceShape, TransactionForm,
};
use rhizome_answers::{ForkedChain, RpcError};
use rhizome_chain::{ChainConfig, DataDir, OldStateRoots, ProvenBlocks, SnapshotHeights, StateHistory};
use rhizome_primitives::{Address, B256, Bytes, ChainSpec, U256, address};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Balance of the development accounts in a fork, as in the genesis of regtest: 10^12 RBTC in wei.
const DEVELOPMENT_BALANCE: u128 = 1_000_000_000_000 * 1_000_000_000_000_000_000;

/// Argument of `openNode`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NodeConfig {
    network: String,
    chain_file: Option<PathBuf>,
    chain_id: Option<u8>,
    development: Option<DevelopmentAccounts>,
    /// `None` without a fleet.
    fleet_role: Option<NodeRole>,
    /// Whether the tag `latest` is the block that all ready nodes of the fleet have.
    has_agreed_latest: bool,
    /// Present in a fork.
    fork: Option<ForkConfig>,
    /// Folder of the cached results of remote nodes; `None`: no cache on the disk.
    fork_cache_dir: Option<PathBuf>,
    data_dir: Option<PathBuf>,
    mining: Mining,
    has_wallet: bool,
    coinbase: Option<String>,
    extra_data: Option<String>,
    minimum_gas_price_wei: u64,
    has_fixed_clock: bool,
    has_rate_limiter: Option<bool>,
    key_store_dir: Option<PathBuf>,
    begins_with_block: bool,
    remasc: Remasc,
    zero_signature_if_remasc: bool,
    cache_bytes: usize,
    trie_bytes: usize,
    write_buffer_bytes: usize,
    is_power_safe: bool,
    /// Blocks below the head whose states have a trie; `None`: all blocks.
    proven_blocks: Option<u64>,
    history: History,
    prunes_states: bool,
    /// Opens the data directory for reading.
    is_read_only: bool,
    has_snapshots: bool,
    has_address_index: bool,
    has_call_index: bool,
    flushed_keys: usize,
    grouped_blocks: usize,
    is_trie_in_memory: bool,
    old_state_roots: OldRoots,
    /// Blocks that the chain must have besides those of the network.
    checkpoints: Vec<(u64, String)>,
    works: Works,
    call_gas_cap: u64,
    estimate_gas_cap: u64,
    estimate: Estimate,
    proof_format: Proofs,
    log_blocks: u64,
    log_count: usize,
    trace_bytes: usize,
    trace_count: usize,
    /// Depths of `safe` and `finalized`; `None`: the tags are refused.
    tag_depths: Option<Depths>,
    choices: Choices,
    pool_threads: Option<usize>,
    pool_queue: Option<usize>,
    client_version: Option<String>,
}

/// Blocks below the head.
#[derive(Debug, Clone, Copy, Deserialize)]
struct Depths {
    safe: u64,
    finalized: u64,
}

/// Accounts that replace those of the development genesis. Not `Debug`: keys are never printed.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct DevelopmentAccounts {
    /// Private keys as hex, in the order of `eth_accounts`.
    keys: Vec<String>,
    /// Balance of each account in the genesis block in wei, decimal.
    balance_wei: String,
}

impl DevelopmentAccounts {
    fn keys(&self) -> Result<Vec<B256>, RpcError> {
        // The cause must not repeat a key.
        let read = |key: &String| key.parse().map_err(|_key| RpcError::internal("openNode: not a private key"));
        self.keys.iter().map(read).collect()
    }

    fn fund(&self, spec: &mut ChainSpec) -> Result<(), RpcError> {
        let balance = self.balance_wei.parse::<U256>().map_err(RpcError::internal)?;
        for address in self.keys()?.iter().filter_map(accounts::address_of) {
            spec.genesis.fund(address, balance);
        }
        Ok(())
    }
}

/// Mode of block production.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(tag = "mode", rename_all = "lowercase")]
enum Mining {
    Auto,
    Interval { milliseconds: u64 },
    Off,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Estimate {
    Reference,
    Tight,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Proofs {
    Rhizome,
    Rskj,
}

/// Form of the REMASC transaction in responses.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Remasc {
    Listed,
    Unlisted,
    Hidden,
}

/// States of earlier blocks that are kept.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(untagged)]
enum History {
    Named(NamedHistory),
    /// Number of blocks below the head.
    Last(u64),
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum NamedHistory {
    Archive,
    Full,
    Minimal,
}

impl From<History> for StateHistory {
    fn from(history: History) -> Self {
        match history {
            History::Named(NamedHistory::Archive) => Self::Archive,
            History::Named(NamedHistory::Full) => Self::Full,
            History::Named(NamedHistory::Minimal) => Self::Minimal,
            History::Last(blocks) => Self::Last(blocks),
        }
    }
}

/// Settings of `mnr_getWork`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Works {
    follow_pool: Option<bool>,
    refresh_seconds: u64,
    submission_interval_seconds: u64,
    notified_fees_wei: u64,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum OldRoots {
    Unchecked,
    Rskip85,
    Checked,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Choices {
    failed_estimate: FailedEstimate,
    estimate_cap: EstimateCap,
    pending_selector: PendingSelector,
    halted_call: HaltedCall,
    bridge_state: BridgeState,
    signature_words: SignatureWords,
    listening: ListeningClaim,
    traces: Traces,
    time_offset: TimeOffset,
    state_override: StateOverride,
    waiting: WaitingChoice,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "camelCase")]
enum FailedEstimate {
    Estimate,
    CodeError,
    Error,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum EstimateCap {
    Block,
    Pool,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum PendingSelector {
    Refuse,
    Serve,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum HaltedCall {
    Error,
    Empty,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum BridgeState {
    Stored,
    Decodable,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum SignatureWords {
    Padded,
    Stripped,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ListeningClaim {
    Actual,
    Always,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Traces {
    Standard,
    Reference,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum StateOverride {
    Serve,
    Refuse,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum WaitingChoice {
    Explained,
    Reference,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum TimeOffset {
    Lasting,
    Block,
}

/// Memory for nodes from which time counts more than memory.
const SPARE_TRIE_BYTES: usize = 1 << 30;

impl NodeConfig {
    /// Parses the JSON text.
    pub(crate) fn parse(json: &str) -> Result<Self, RpcError> {
        serde_json::from_str(json).map_err(|error| RpcError::internal(format!("openNode: {error}")))
    }

    /// The fork of the settings; `None` without one.
    pub(crate) fn fork(&self) -> Option<&ForkConfig> {
        self.fork.as_ref()
    }

    /// The folder of the cached results of remote nodes; `None`: no cache on the disk.
    pub(crate) fn fork_cache_dir(&self) -> Option<&Path> {
        self.fork_cache_dir.as_deref()
    }

    /// Returns the balances in wei that the development accounts have in a fork.
    pub(crate) fn funded_accounts(&self) -> Result<BTreeMap<Address, U256>, RpcError> {
        let (keys, balance) = match &self.development {
            Some(accounts) => (accounts.keys()?, accounts.balance_wei.parse().map_err(RpcError::internal)?),
            None => (accounts::development_keys().collect(), U256::from(DEVELOPMENT_BALANCE)),
        };
        let addresses = keys.iter().filter(|_| self.has_wallet).filter_map(accounts::address_of);
        Ok(addresses.map(|address| (address, balance)).collect())
    }

    /// Returns the settings of the chain, in a fork with the chain that it continues.
    pub(crate) fn chain(&self, fork: Option<&ForkedChain>) -> Result<ChainConfig, RpcError> {
        let mut spec = match fork {
            Some(fork) => fork.spec(),
            None => self.spec()?,
        };
        for (number, hash) in &self.checkpoints {
            let hash: B256 = hash.parse().map_err(|error| RpcError::internal(format!("openNode: {hash}: {error}")))?;
            spec.checkpoints.push((*number, hash));
        }
        let spec = Arc::new(spec);
        let is_development = spec.is_development();
        let data_dir = match fork {
            Some(_) => DataDir::Temporary,
            None if self.is_read_only => self.data_dir.clone().map_or(DataDir::Temporary, DataDir::ReadOnly),
            None => self.data_dir.clone().map_or(DataDir::Temporary, DataDir::Path),
        };
        let mut chain = ChainConfig::new(spec, data_dir);
        chain.fork = fork.map(ForkedChain::origin);
        self.size_caches(&mut chain);
        chain.is_power_safe = self.is_power_safe;
        chain.proven_blocks = self.proven_blocks.map_or(ProvenBlocks::All, ProvenBlocks::Last);
        chain.history = self.history.into();
        chain.prunes_states = self.prunes_states;
        chain.snapshots = self.has_snapshots.then(SnapshotHeights::default);
        chain.has_address_index = self.has_address_index;
        chain.has_call_index = self.has_call_index;
        chain.flushed_keys = self.flushed_keys;
        chain.grouped_from = self.grouped_blocks;
        chain.is_trie_in_memory = self.is_trie_in_memory;
        chain.old_state_roots = match self.old_state_roots {
            OldRoots::Unchecked => OldStateRoots::Unchecked,
            OldRoots::Rskip85 => OldStateRoots::SinceRskip85,
            OldRoots::Checked => OldStateRoots::Checked,
        };
        chain.notes_blocks = matches!(self.fleet_role, Some(NodeRole::Importer));
        chain.keeps_time_offset = matches!(self.choices.time_offset, TimeOffset::Lasting);
        chain.pool.fits_next_block = matches!(self.choices.waiting, WaitingChoice::Explained);
        if is_development {
            // No limits: a development network has a single user.
            chain.pool.has_rate_limiter = false;
            // Transactions are mined without the usual wait of a minute.
            chain.block_templates.follows_pool = true;
            if self.has_wallet {
                // The last development account.
                chain.coinbase = address!("ec4ddeb4380ad69b3e509baad9f158cdf4e4681d");
            }
        }
        if let Some(coinbase) = &self.coinbase {
            chain.coinbase = coinbase.parse::<Address>().map_err(RpcError::internal)?;
        }
        if let Some(extra_data) = &self.extra_data {
            chain.extra_data = extra_data.parse::<Bytes>().map_err(RpcError::internal)?;
        }
        chain.minimum_gas_price = U256::from(self.minimum_gas_price_wei);
        chain.has_fixed_clock = self.has_fixed_clock;
        chain.pool.has_rate_limiter = self.has_rate_limiter.unwrap_or(chain.pool.has_rate_limiter);
        chain.block_templates.follows_pool = self.works.follow_pool.unwrap_or(chain.block_templates.follows_pool);
        chain.block_templates.refresh_seconds = self.works.refresh_seconds;
        chain.block_templates.submission_interval = self.works.submission_interval_seconds;
        chain.block_templates.notified_fees = U256::from(self.works.notified_fees_wei);
        Ok(chain)
    }

    /// Returns true if the nodes of the head's trie may take [`SPARE_TRIE_BYTES`].
    pub(crate) fn has_spare_memory(&self) -> bool {
        self.is_trie_in_memory || self.trie_bytes >= SPARE_TRIE_BYTES
    }

    /// Sets the memory of a chain.
    pub(crate) fn size_caches(&self, chain: &mut ChainConfig) {
        chain.cache_bytes = self.cache_bytes;
        chain.trie_bytes = self.trie_bytes;
        chain.write_buffer_bytes = self.write_buffer_bytes;
    }

    fn spec(&self) -> Result<ChainSpec, RpcError> {
        match self.custom_spec()? {
            Some(spec) => Ok(spec),
            None => self.network_spec(&self.network),
        }
    }

    /// Returns the specification of the chain file; `None` without one.
    pub(crate) fn custom_spec(&self) -> Result<Option<ChainSpec>, RpcError> {
        let Some(file) = &self.chain_file else { return Ok(None) };
        let named = |error: &dyn std::fmt::Display| RpcError::internal(format!("{}: {error}", file.display()));
        let text = std::fs::read_to_string(file).map_err(|error| named(&error))?;
        ChainSpec::from_json(&text).map(Some).map_err(|error| named(&error))
    }

    /// Returns the specification of a network, with the accounts of the settings on a development network.
    pub(crate) fn network_spec(&self, network: &str) -> Result<ChainSpec, RpcError> {
        let mut spec = ChainSpec::by_name(network).map_err(RpcError::internal)?;
        if spec.is_development() {
            spec.chain_id = self.chain_id.unwrap_or(spec.chain_id);
            self.development.iter().try_for_each(|accounts| accounts.fund(&mut spec))?;
        }
        Ok(spec)
    }

    /// Returns the accounts. Keys of the development genesis are public, so only development networks hold them.
    pub(crate) fn accounts(&self, is_development: bool) -> Result<Accounts, RpcError> {
        if !self.has_wallet {
            return Ok(Accounts::none());
        }
        let store = self.key_store_dir.as_deref().map(KeyStore::open).transpose()?;
        let keys = match &self.development {
            _ if !is_development => Vec::new(),
            Some(accounts) => accounts.keys()?,
            None => accounts::development_keys().collect(),
        };
        Ok(Accounts::with_store(keys, store.unwrap_or_default()))
    }

    /// Returns the settings of the answers.
    pub(crate) fn answers(&self, is_development: bool) -> AnswerOptions {
        let document = AnswerOptions::document();
        let version = document.client_version;
        let platform = format!("{}-{}", std::env::consts::OS, std::env::consts::ARCH);
        AnswerOptions {
            client_version: self.client_version.clone().unwrap_or_else(|| format!("{version}/{platform}/rust")),
            mining: match self.mining {
                Mining::Auto => MiningMode::Auto,
                Mining::Interval { milliseconds } => MiningMode::Interval { milliseconds },
                Mining::Off => MiningMode::Off,
            },
            begins_with_block: self.begins_with_block,
            has_wallet: self.has_wallet,
            explains_waiting: matches!(self.choices.waiting, WaitingChoice::Explained),
            call_gas_cap: self.call_gas_cap,
            estimate_bound: match self.choices.estimate_cap {
                EstimateCap::Block => EstimateBound::PendingBlock,
                EstimateCap::Pool => EstimateBound::Fixed(self.estimate_gas_cap),
            },
            estimate_search: match self.estimate {
                Estimate::Reference => EstimateSearch::Single,
                Estimate::Tight => EstimateSearch::Tight,
            },
            estimate_on_failure: match self.choices.failed_estimate {
                FailedEstimate::Estimate => EstimateOnFailure::Estimate,
                FailedEstimate::CodeError => EstimateOnFailure::CodeError,
                FailedEstimate::Error => EstimateOnFailure::Error,
            },
            call_on_halt: match self.choices.halted_call {
                HaltedCall::Error => CallOnHalt::Error,
                HaltedCall::Empty => CallOnHalt::Empty,
            },
            bridge_state: match self.choices.bridge_state {
                BridgeState::Stored => BridgeStateForm::Stored,
                BridgeState::Decodable => BridgeStateForm::Decodable,
            },
            transaction_form: TransactionForm {
                signature: match self.choices.signature_words {
                    SignatureWords::Padded => SignatureForm::Word,
                    SignatureWords::Stripped => SignatureForm::Quantity,
                },
                remasc: match self.remasc {
                    Remasc::Listed => ShownRemasc::Listed,
                    Remasc::Unlisted => ShownRemasc::Unlisted,
                    Remasc::Hidden => ShownRemasc::Hidden,
                },
                has_zero_signature: self.zero_signature_if_remasc,
            },
            has_overrides: matches!(self.choices.state_override, StateOverride::Serve),
            pending_on_partial: match self.choices.pending_selector {
                PendingSelector::Refuse => PendingOnPartial::Refused,
                PendingSelector::Serve => PendingOnPartial::Served,
            },
            tag_depths: self.tag_depths.map(|Depths { safe, finalized }| TagDepths { safe, finalized }),
            listening: match self.choices.listening {
                ListeningClaim::Actual => Listening::Actual,
                ListeningClaim::Always => Listening::Always,
            },
            log_limits: LogLimits { blocks: self.log_blocks, logs: self.log_count },
            proof_format: match self.proof_format {
                Proofs::Rhizome => ProofFormat::Rhizome,
                Proofs::Rskj => ProofFormat::Rskj,
            },
            trace_shape: match self.choices.traces {
                Traces::Standard => TraceShape::Standard,
                Traces::Reference => TraceShape::Reference,
            },
            trace_limits: TraceLimits { bytes: self.trace_bytes, count: self.trace_count },
            fleet_role: self.fleet_role.map(Into::into),
            latest: if self.has_agreed_latest { LatestBlock::Agreed } else { LatestBlock::Own },
            default_gas_price: is_development.then_some(U256::ZERO),
            replay_bytes: self.cache_bytes / 8,
            ..document
        }
    }

    /// Returns the number of threads of the pool and the capacity of its queue.
    pub(crate) fn pool(&self) -> (usize, usize) {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        (self.pool_threads.unwrap_or(cores).max(1), self.pool_queue.unwrap_or(1024))
    }
}
