use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use rhizome_primitives::{Address, Bytes, ChainSpec, Rule, U256};
use rhizome_storage::NodeVersions;

use crate::fork::Fork;
use crate::mining::block_template_options::BlockTemplateOptions;
use crate::txpool::options::PoolOptions;

/// Location of the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DataDir {
    /// In this folder. Created if absent.
    Path(PathBuf),
    /// In this folder of an earlier run, for reading only: no block can be added, and other readers can have it open at the same time. A
    /// change that a kill has interrupted is completed first, which takes the right to write.
    ReadOnly(PathBuf),
    /// In a temporary folder, removed when the chain is closed.
    Temporary,
}

/// Source of the time, in seconds since 1970. Part of the configuration: tests and nodes with a fixed clock set it.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> u64 + Send + Sync>);

impl Clock {
    /// Creates a clock from a function.
    pub fn new(now: impl Fn() -> u64 + Send + Sync + 'static) -> Self {
        Self(Arc::new(now))
    }

    /// Returns the clock of the machine.
    pub fn system() -> Self {
        Self::new(|| SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()))
    }

    /// Returns the seconds since 1970.
    pub fn now(&self) -> u64 {
        (self.0)()
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Clock")
    }
}

/// State roots in the format before RSKIP-107 that are compared with the state. Blocks before RSKIP-126 carry them. The reference
/// does not compare them; releases of that time did from RSKIP-85 on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OldStateRoots {
    /// No root is compared.
    #[default]
    Unchecked,
    /// The roots of blocks from RSKIP-85 on.
    SinceRskip85,
    /// All roots.
    Checked,
}

impl OldStateRoots {
    /// Whether the root of a block with this number is in the old format and compared.
    pub(crate) fn covers(self, spec: &ChainSpec, number: u64) -> bool {
        let rules = spec.rules(number);
        let is_compared = match self {
            Self::Unchecked => false,
            Self::SinceRskip85 => rules.is_active(Rule::Rskip85),
            Self::Checked => true,
        };
        is_compared && !rules.is_active(Rule::Rskip126)
    }

    /// Returns the first block whose state root is compared.
    pub fn compared_from(self, spec: &ChainSpec) -> u64 {
        let first = |rule| spec.height(rule).unwrap_or(u64::MAX);
        match self {
            Self::Unchecked => first(Rule::Rskip85).max(first(Rule::Rskip126)),
            Self::SinceRskip85 => first(Rule::Rskip85),
            Self::Checked => 0,
        }
    }
}

/// Blocks whose state has a trie: for proofs and simulations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ProvenBlocks {
    /// All blocks. The directory holds all versions of trie nodes.
    #[default]
    All,
    /// This number of blocks below the head. The directory holds the current trie nodes only.
    Last(u64),
}

impl ProvenBlocks {
    /// Returns the versions of trie nodes that the directory holds.
    pub fn node_versions(self) -> NodeVersions {
        match self {
            Self::All => NodeVersions::All,
            Self::Last(_) => NodeVersions::Current,
        }
    }
}

/// States of earlier blocks that are kept. Blocks, receipts and logs are always kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StateHistory {
    /// All states.
    #[default]
    Archive,
    /// The states of the last 10,000 blocks.
    Full,
    /// The states of the last 1,000 blocks.
    Minimal,
    /// The states of this number of blocks below the head.
    Last(u64),
}

impl StateHistory {
    /// Returns the number of blocks below the head whose states are kept; `None`: all.
    pub fn kept_blocks(self) -> Option<u64> {
        match self {
            Self::Archive => None,
            Self::Full => Some(10_000),
            Self::Minimal => Some(1_000),
            Self::Last(blocks) => Some(blocks.max(1)),
        }
    }
}

impl fmt::Display for StateHistory {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Archive => formatter.write_str("archive"),
            Self::Full => formatter.write_str("full"),
            Self::Minimal => formatter.write_str("minimal"),
            Self::Last(blocks) => write!(formatter, "{blocks}"),
        }
    }
}

/// Heights of the blocks whose states become snapshots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SnapshotHeights {
    /// Distance of two heights.
    pub interval: u64,
    /// The lowest height.
    pub first: u64,
}

impl Default for SnapshotHeights {
    /// The heights that peers ask for: multiples of 5,000 minus 3,840.
    fn default() -> Self {
        Self { interval: 5_000, first: 1_160 }
    }
}

impl SnapshotHeights {
    /// Returns the heights up to that of the head, highest first, and genesis before the lowest one.
    pub(crate) fn latest(self, head: u64) -> impl Iterator<Item = u64> {
        let steps = head.checked_sub(self.first).map(|above| above / self.interval.max(1));
        let heights = steps.into_iter().flat_map(move |last| {
            (0..=last).rev().map(move |step| self.first.saturating_add(step.saturating_mul(self.interval)))
        });
        heights.chain([0])
    }
}

/// Settings of a chain.
#[derive(Debug, Clone)]
pub struct ChainConfig {
    /// The network: genesis, upgrade heights, constants.
    pub spec: Arc<ChainSpec>,
    /// Location of the database.
    pub data_dir: DataDir,
    /// The other chain that this one is a fork of; `None` for a chain with its own genesis. A fork is always in a temporary folder,
    /// with tries of all blocks.
    pub fork: Option<Fork>,
    /// Receiver of the fees of mined blocks.
    pub coinbase: Address,
    /// Extra data of mined blocks, at most 32 bytes.
    pub extra_data: Bytes,
    /// Minimum gas price that mined blocks move toward, in wei.
    pub minimum_gas_price: U256,
    /// Gas limit that mined blocks move toward.
    pub target_gas_limit: u64,
    /// Memory for caches, in bytes: half for the database, a quarter each for decoded blocks and receipts.
    pub cache_bytes: usize,
    /// Memory for nodes of the head's trie, in bytes.
    pub trie_bytes: usize,
    /// Memory for rows that are not in the database's files yet, in bytes.
    pub write_buffer_bytes: usize,
    /// Maximum number of open database files.
    pub max_open_files: i32,
    /// Waits for the disk at every block, so that no block is lost with the power. Otherwise a loss of power may cost the last
    /// blocks, each as a whole. The end of the process never costs a block.
    pub is_power_safe: bool,
    /// Blocks whose state has a trie. Fixed when the database is created.
    pub proven_blocks: ProvenBlocks,
    /// States of earlier blocks that are kept, at least those of proven blocks.
    pub history: StateHistory,
    /// Gives up older states in the background, makes the snapshots, and removes those of earlier settings.
    pub prunes_states: bool,
    /// Heights of the blocks whose states are kept for peers, the last two; `None`: none.
    pub snapshots: Option<SnapshotHeights>,
    /// Changed keys after which the current trie nodes are flushed, earlier if they would take most of the memory for nodes: up to
    /// eight times as many rows. More keys make a flush, and the next start after a crash, take longer; fewer keys write the nodes
    /// near the root more often.
    pub flushed_keys: usize,
    /// Blocks that wait behind a block that is imported in a group, at least. Of the blocks of a group only the last one's state root
    /// is compared, unless it differs.
    pub grouped_from: usize,
    /// Keeps an index of transactions by address. Blocks that were stored without it are added in the background.
    pub has_address_index: bool,
    /// Adds the transactions to the address index that meet an address in inner calls only. Blocks that were stored without them are
    /// executed again in the background, if the states before them are kept.
    pub has_call_index: bool,
    /// Keeps all nodes of the head's trie in memory, and not only as many as `trie_bytes` allows.
    pub is_trie_in_memory: bool,
    /// State roots before RSKIP-126 that are compared with the state. Each such block costs a walk through the whole state.
    pub old_state_roots: OldStateRoots,
    /// Settings of the transaction pool.
    pub pool: PoolOptions,
    /// Settings of block templates for other miners.
    pub block_templates: BlockTemplateOptions,
    /// Source of the time.
    pub clock: Clock,
    /// The time of a new block is its parent's plus the development offset, independent of the clock: mining the same blocks
    /// again gives the same hashes.
    pub has_fixed_clock: bool,
    /// The development offset stays after a block was built. Otherwise it applies to one block.
    pub keeps_time_offset: bool,
    /// Notes each stored block until it is in the block log of a fleet.
    pub notes_blocks: bool,
}

/// Memory of a loaded trie node, estimated, in bytes.
pub(crate) const NODE_BYTES: usize = 192;
/// Memory of a change that is undone, estimated, in bytes: in maps, in the trie, in rows and in a batch; and in the next batch.
const UNDONE_CHANGE_BYTES: usize = 3072;
/// Nodes in memory for each changed key that is not flushed, at least. The changed nodes are a fraction of them.
const NODES_PER_CHANGED_KEY: usize = 32;
/// Changed keys at which a group of blocks ends: with little memory, and with enough.
const LEAST_GROUP_KEYS: usize = 1_024;
const MOST_GROUP_KEYS: usize = 131_072;

impl ChainConfig {
    /// Returns the number of blocks below the head whose states are kept with a history; `None`: all.
    pub(crate) fn kept_states(&self, history: StateHistory) -> Option<u64> {
        let kept = history.kept_blocks()?;
        Some(match self.proven_blocks {
            ProvenBlocks::All => kept,
            ProvenBlocks::Last(proven) => kept.max(proven),
        })
    }

    /// Returns the number of nodes of the head's trie that are kept in memory.
    pub(crate) fn loaded_nodes(&self) -> usize {
        if self.is_trie_in_memory { usize::MAX } else { self.trie_bytes / NODE_BYTES }
    }

    /// Returns the number of changes that are undone in one batch. The next start may read the last batch from the log, with less memory.
    pub(crate) fn changes_per_batch(&self) -> usize {
        (self.cache_bytes / UNDONE_CHANGE_BYTES).max(1)
    }

    /// Returns the number of changed keys after which the trie is flushed.
    pub(crate) fn flush_interval(&self) -> usize {
        self.flushed_keys.min(self.loaded_nodes() / NODES_PER_CHANGED_KEY)
    }

    /// Returns the number of changed keys at which a group of blocks ends, which bounds its memory. By default some more than those of a
    /// flush: a full group is flushed, and readers share no nodes with the importer.
    pub(crate) fn group_keys(&self) -> usize {
        (self.loaded_nodes() / NODES_PER_CHANGED_KEY / 4 * 5).clamp(LEAST_GROUP_KEYS, MOST_GROUP_KEYS)
    }

    /// Returns the defaults for a network.
    pub fn new(spec: Arc<ChainSpec>, data_dir: DataDir) -> Self {
        let target_gas_limit = spec.constants.target_gas_limit;
        Self {
            spec,
            data_dir,
            fork: None,
            coinbase: Address::ZERO,
            extra_data: Bytes::new(),
            minimum_gas_price: U256::ZERO,
            target_gas_limit,
            cache_bytes: 256 << 20,
            trie_bytes: 256 << 20,
            write_buffer_bytes: 64 << 20,
            max_open_files: 1024,
            is_power_safe: false,
            proven_blocks: ProvenBlocks::default(),
            history: StateHistory::default(),
            prunes_states: true,
            snapshots: None,
            flushed_keys: 32_768,
            grouped_from: 64,
            has_address_index: false,
            has_call_index: false,
            is_trie_in_memory: false,
            old_state_roots: OldStateRoots::default(),
            pool: PoolOptions::default(),
            block_templates: BlockTemplateOptions::default(),
            clock: Clock::system(),
            has_fixed_clock: false,
            keeps_time_offset: false,
            notes_blocks: false,
        }
    }
}
