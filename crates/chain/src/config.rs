use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use rhizome_primitives::{Address, Bytes, ChainSpec, Rule, U256};

use crate::{BlockTemplateOptions, PoolOptions};

/// Location of the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DataDir {
    /// In this folder. Created if absent.
    Path(PathBuf),
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

/// Which state roots in the format before RSKIP-107 a block is refused for. Blocks before RSKIP-126 carry them. The reference
/// compares none of them; releases of that time did from RSKIP-85 on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OldStateRoots {
    /// None: they are names that nothing is compared with.
    #[default]
    Unchecked,
    /// Those of blocks from RSKIP-85 on.
    SinceRskip85,
    /// All.
    Checked,
}

impl OldStateRoots {
    /// Whether the root of this block is an old one that is compared.
    pub(crate) fn covers(self, spec: &ChainSpec, number: u64) -> bool {
        let rules = spec.rules(number);
        let is_wanted = match self {
            Self::Unchecked => false,
            Self::SinceRskip85 => rules.is_active(Rule::Rskip85),
            Self::Checked => true,
        };
        is_wanted && !rules.is_active(Rule::Rskip126)
    }
}

/// Settings of a chain.
#[derive(Debug, Clone)]
pub struct ChainConfig {
    /// The network: genesis, upgrade heights, constants.
    pub spec: Arc<ChainSpec>,
    /// Where it is kept.
    pub data_dir: DataDir,
    /// Receiver of the fees of mined blocks.
    pub coinbase: Address,
    /// Extra data of mined blocks, at most 32 bytes.
    pub extra_data: Bytes,
    /// Minimum gas price that mined blocks move toward, in wei.
    pub minimum_gas_price: U256,
    /// Gas limit that mined blocks move toward.
    pub target_gas_limit: u64,
    /// Memory for caches, in bytes: half for the database, a quarter each for decoded blocks and receipts. The writer
    /// keeps as much again of the head's state.
    pub cache_bytes: usize,
    /// Memory for rows that are not yet in the database's files, in bytes.
    pub write_buffer_bytes: usize,
    /// Files that the database keeps open.
    pub max_open_files: i32,
    /// Wait for the disk at every block, so that a loss of power takes nothing away. Without it a loss of power may
    /// cost the last blocks (never part of one), the death of the process nothing.
    pub is_power_safe: bool,
    /// Which state roots before RSKIP-126 are compared with the state, at the cost of a walk through the whole state for
    /// each such block.
    pub old_state_roots: OldStateRoots,
    /// Settings of the transaction pool.
    pub pool: PoolOptions,
    /// Settings of the work for other miners.
    pub block_templates: BlockTemplateOptions,
    /// What time it is.
    pub clock: Clock,
    /// The time of a new block is its parent's plus the development offset, whatever the clock says: blocks that were
    /// mined so before come out the same again.
    pub has_fixed_clock: bool,
    /// The development offset stays when a block was built; otherwise it is for one block.
    pub keeps_time_offset: bool,
}

impl ChainConfig {
    /// The defaults for a network.
    pub fn new(spec: Arc<ChainSpec>, data_dir: DataDir) -> Self {
        let target_gas_limit = spec.constants.target_gas_limit;
        Self {
            spec,
            data_dir,
            coinbase: Address::ZERO,
            extra_data: Bytes::new(),
            minimum_gas_price: U256::ZERO,
            target_gas_limit,
            cache_bytes: 256 << 20,
            write_buffer_bytes: 64 << 20,
            max_open_files: 256,
            is_power_safe: false,
            old_state_roots: OldStateRoots::default(),
            pool: PoolOptions::default(),
            block_templates: BlockTemplateOptions::default(),
            clock: Clock::system(),
            has_fixed_clock: false,
            keeps_time_offset: false,
        }
    }
}
