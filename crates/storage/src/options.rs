//! Identity of a chain and settings of a store.

use std::fmt;

use rhizome_primitives::B256;

/// Identity of the chain that a directory holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainIdentity {
    /// Chain id of the network.
    pub chain_id: u8,
    /// Hash of block 0.
    pub genesis: B256,
}

impl fmt::Display for ChainIdentity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "chain id {} with genesis {}", self.chain_id, self.genesis)
    }
}

/// Point at which a block write counts as done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// Once the operating system has the batch: survives a crash of the process. A power failure can remove the most
    /// recent blocks, never part of a block.
    #[default]
    Process,
    /// Once the disk has the batch: survives a power failure too, at the cost of one disk flush for each block.
    Power,
}

/// Versions of trie nodes that a directory holds. Fixed when it is created.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum NodeVersions {
    /// All versions, by hash, in node files: every state has a trie, and proofs cost the same at any block.
    #[default]
    All,
    /// The current version of each node, by position: the least disk, and a cost that hardly grows with the state. Tries of
    /// recent blocks are derived from the head's by undoing changes.
    Current,
}

impl NodeVersions {
    pub(crate) fn row(self) -> &'static [u8] {
        match self {
            Self::All => b"all",
            Self::Current => b"current",
        }
    }

    /// Returns the value of storage.proofs for such a directory.
    pub(crate) fn setting(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Current => "a number, such as 128",
        }
    }
}

impl fmt::Display for NodeVersions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::All => "all versions of trie nodes",
            Self::Current => "the current trie nodes only",
        })
    }
}

/// Settings of a store.
#[derive(Debug, Clone)]
pub struct StoreOptions {
    /// Size of the cache of uncompressed table blocks, indexes and filters, in bytes, shared by all columns.
    pub cache_bytes: usize,
    /// Size of all memtables together, in bytes. A larger value makes long imports faster.
    pub write_buffer_bytes: usize,
    /// Maximum number of open files.
    pub max_open_files: i32,
    /// Durability of block writes.
    pub durability: Durability,
    /// Versions of trie nodes.
    pub node_versions: NodeVersions,
    /// Changes of the state by the last blocks that are kept in memory, for the history, before their rows are written together.
    pub history_tail: usize,
    /// Keeps the address index.
    pub has_address_index: bool,
    /// Keeps the index of inner calls, for the address index.
    pub has_call_index: bool,
    /// Notes each new block until it is in the block log of a fleet.
    pub notes_blocks: bool,
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self {
            cache_bytes: 32 << 20,
            write_buffer_bytes: 64 << 20,
            max_open_files: 1024,
            durability: Durability::default(),
            node_versions: NodeVersions::default(),
            // About 8 MB.
            history_tail: 32_768,
            has_address_index: false,
            has_call_index: false,
            notes_blocks: false,
        }
    }
}
