use std::io;

use rhizome_evm::{AncestryError, ExecError};
use rhizome_primitives::{B256, DecodeError};
use rhizome_storage::StorageError;
use rhizome_trie::genesis::GenesisError;
use rhizome_trie::{StateError, TrieError};

use crate::config::StateHistory;

/// Failure of the node while it reads or writes a chain. Never a verdict about a block.
#[derive(Debug, thiserror::Error)]
pub enum ChainError {
    /// The database failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// A folder of a snapshot or of a download cannot be used.
    #[error("snapshot: {0}")]
    Snapshot(#[from] io::Error),
    /// A state is taken over by a new chain only.
    #[error("a state is taken over by a new data directory only: this one has blocks")]
    HasBlocks,
    /// A downloaded state is not whole.
    #[error("the downloaded state of block {number} is not whole: start the node again to repeat the download")]
    IncompleteState {
        /// Number of the block.
        number: u64,
    },
    /// A state trie could not be read.
    #[error(transparent)]
    Trie(#[from] TrieError),
    /// A state could not be read.
    #[error(transparent)]
    State(#[from] StateError),
    /// A block below a fork could not be read.
    #[error(transparent)]
    Ancestor(#[from] AncestryError),
    /// The genesis cannot be built from the chain specification.
    #[error(transparent)]
    Genesis(#[from] GenesisError),
    /// A stored block cannot be decoded, for example because the chain specification has changed since.
    #[error("stored block {hash} cannot be decoded: {source}")]
    StoredBlock {
        /// Hash of the block.
        hash: B256,
        /// The fault.
        source: DecodeError,
    },
    /// A referenced block is not stored.
    #[error("block {hash} is missing from the database")]
    MissingBlock {
        /// Hash of the block.
        hash: B256,
    },
    /// The best chain has no block at a height.
    #[error("the best chain has no block {number}")]
    MissingHeight {
        /// The height.
        number: u64,
    },
    /// The state of the best block is not in the database, so the chain cannot continue.
    #[error("the state of block {number} ({hash}) is missing: no node {root}")]
    MissingState {
        /// Number of the block.
        number: u64,
        /// Hash of the block.
        hash: B256,
        /// Root of its state.
        root: B256,
    },
    /// The stored changes of blocks lead to another state than the header of the last one states.
    #[error(
        "the stored changes lead to state root {root} after block {number} ({hash}), expected {expected}: verify the chain, or import it again"
    )]
    DerivedRoot {
        /// Number of the block.
        number: u64,
        /// Hash of the block.
        hash: B256,
        /// Root of its state.
        expected: B256,
        /// Root that follows from the changes.
        root: B256,
    },
    /// A block was deleted while its state was read.
    #[error("block {hash} has just been deleted")]
    DeletedBlock {
        /// Hash of the block.
        hash: B256,
    },
    /// The state after a block is not kept any more.
    #[error(
        "state of block {number} is not kept (history = {history}); the oldest kept state is that of block {oldest}"
    )]
    StateNotKept {
        /// Number of the block.
        number: u64,
        /// Number of the oldest block whose state is kept.
        oldest: u64,
        /// The setting.
        history: StateHistory,
    },
    /// A block is stored without receipts, because the state after a later one came from peers.
    #[error(
        "receipts of block {number} are not stored: the state of this node came from peers, and the first block with receipts is {first}"
    )]
    ReceiptsNotKept {
        /// Number of the block.
        number: u64,
        /// Number of the first block with receipts.
        first: u64,
    },
    /// A block of the best chain is not stored yet, because the state after a later one came from peers.
    #[error(
        "block {number} is not stored: the state of this node came from peers, and the blocks below block {first} are not downloaded yet"
    )]
    BlockNotStored {
        /// Number of the block.
        number: u64,
        /// Number of the first stored block above genesis.
        first: u64,
    },
    /// A block belongs to a branch that leaves the best chain below the oldest kept state, so it cannot be executed.
    #[error(
        "block {number} ({hash}) is on a branch that leaves the best chain after block {fork} ({fork_hash}), below the oldest kept state, that of block {oldest} (history = {history}): if the branch is right, import or synchronize the chain into a new data directory"
    )]
    BranchBelowHistory {
        /// Number of the block.
        number: u64,
        /// Hash of the block.
        hash: B256,
        /// Number of the last block that the branch shares with the best chain.
        fork: u64,
        /// Hash of that block.
        fork_hash: B256,
        /// Number of the oldest block whose state is kept.
        oldest: u64,
        /// The setting.
        history: StateHistory,
    },
    /// The trie after a block is not kept.
    #[error(
        "the state trie of block {number} is not kept (proofs = {kept}); the oldest kept one is that of block {oldest}"
    )]
    TrieNotKept {
        /// Number of the block.
        number: u64,
        /// Number of the oldest block whose trie is kept.
        oldest: u64,
        /// Number of blocks below the head whose tries are kept.
        kept: u64,
    },
    /// The trie of a block within reach differs too much from that of the head.
    #[error(
        "the state trie of block {number} differs from that of block {from} by more than {most} changes, which take the memory for caches (storage.cacheMegabytes)"
    )]
    TrieTooFar {
        /// Number of the block.
        number: u64,
        /// Number of the block whose trie is known.
        from: u64,
        /// Most changes of keys that are applied.
        most: usize,
    },
    /// The deadline of the request has passed.
    #[error("the deadline of the request has passed")]
    DeadlineExceeded,
    /// A block that was stored without execution is invalid.
    #[error("stored block {hash} is invalid: {reason}")]
    InvalidStoredBlock {
        /// Hash of the block.
        hash: B256,
        /// The rule that it breaks.
        reason: String,
    },
    /// A thread could not be started.
    #[error("a thread of the importer cannot be started: {source}")]
    Thread {
        /// Why.
        source: std::io::Error,
    },
    /// The importer has ended, or failed at this job.
    #[error("the importer has stopped")]
    ImporterStopped,
}

impl ChainError {
    /// Whether a write to the disk failed. The same write may succeed later.
    pub fn is_write_fault(&self) -> bool {
        matches!(self, Self::Storage(error) if error.is_write_fault())
    }

    /// Whether the disk is full.
    pub fn is_disk_full(&self) -> bool {
        matches!(self, Self::Storage(StorageError::DiskFull { .. }))
    }
}

/// Failure that left a block neither imported nor rejected. Nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The node itself failed.
    #[error(transparent)]
    Chain(#[from] ChainError),
    /// The execution stopped without a verdict about the block.
    #[error("block {number} ({block}) could not be executed: {source}")]
    Execution {
        /// Number of the block.
        number: u64,
        /// Hash of the block.
        block: B256,
        /// The failure.
        source: ExecError,
    },
}

impl From<StorageError> for ImportError {
    fn from(error: StorageError) -> Self {
        Self::Chain(error.into())
    }
}

impl From<TrieError> for ImportError {
    fn from(error: TrieError) -> Self {
        Self::Chain(error.into())
    }
}

impl From<StateError> for ImportError {
    fn from(error: StateError) -> Self {
        Self::Chain(error.into())
    }
}

/// Fault of the encoding of a block.
#[derive(Debug, thiserror::Error)]
pub enum BlockDecodeError {
    /// The bytes do not encode a block.
    #[error(transparent)]
    Encoding(#[from] DecodeError),
    /// The header names other transactions.
    #[error("the header says transactions root {header}, the transactions have {computed}")]
    TransactionsRoot {
        /// Root in the header, in hex.
        header: String,
        /// Root of the transactions.
        computed: B256,
    },
    /// The header names other uncles.
    #[error("the header says uncles hash {header}, the uncles have {computed}")]
    UnclesHash {
        /// Hash in the header, in hex.
        header: String,
        /// Hash of the uncles.
        computed: B256,
    },
}
