use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};

use rhizome_primitives::{B256, hex};
use rhizome_trie::{StateError, TrieError};

use crate::options::{ChainIdentity, NodeVersions};

/// Failures between the node and its data directory.
#[derive(Debug, thiserror::Error)]
pub enum StorageError {
    /// The directory cannot be created, read or written.
    #[error("data directory {} cannot be used: {source}", dir.display())]
    NotWritable {
        /// The data directory.
        dir: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// Another process (or another store of this process) holds the directory.
    #[error("data directory {} is in use by another process", dir.display())]
    Locked {
        /// The data directory.
        dir: PathBuf,
    },
    /// The directory has a chain already.
    #[error("data directory {} has a chain already: it is not overwritten", dir.display())]
    HasChain {
        /// The data directory.
        dir: PathBuf,
    },
    /// The files of a restore have not all arrived, and the directory has no other chain.
    #[error("data directory {} has an unfinished restore: continue it with --restore, or delete its folder `restore`", dir.display())]
    UnfinishedRestore {
        /// The data directory.
        dir: PathBuf,
    },
    /// The head is being moved to a long branch.
    #[error("data directory {} cannot be copied while the head moves to a long branch", dir.display())]
    MovingHead {
        /// The data directory.
        dir: PathBuf,
    },
    /// The directory has no chain.
    #[error("{}: there is no chain", dir.display())]
    NoChain {
        /// The data directory.
        dir: PathBuf,
    },
    /// The directory belongs to another chain.
    #[error("data directory {} belongs to another chain: it holds {found}, expected {expected}", dir.display())]
    WrongChain {
        /// The data directory.
        dir: PathBuf,
        /// Identity of the configured chain.
        expected: ChainIdentity,
        /// Identity found in the directory.
        found: ChainIdentity,
    },
    /// The directory was written by a version of the node with a different layout.
    #[error("data directory {} has layout {found}, this node reads layout {expected}: `rhizome migrate --from {}` reads the blocks of layout 3 into a new one (--data-dir); export those of other layouts with the version that wrote it", dir.display(), dir.display())]
    WrongLayout {
        /// The data directory.
        dir: PathBuf,
        /// Layout that this version reads.
        expected: u32,
        /// Layout found in the directory.
        found: u32,
    },
    /// The directory holds other versions of trie nodes than the settings ask for.
    #[error("data directory {} keeps {found}, the settings ask for {expected} (storage.proofs): `rhizome migrate --from {}` reads its blocks into a new one (--data-dir); to use it as it is, set storage.proofs to {}", dir.display(), dir.display(), found.setting())]
    WrongNodeVersions {
        /// The data directory.
        dir: PathBuf,
        /// Versions that the settings ask for.
        expected: NodeVersions,
        /// Versions in the directory.
        found: NodeVersions,
    },
    /// The state after a block is not kept any more.
    #[error("the state of block {number} is not kept: the oldest kept state is that of block {oldest}")]
    StateNotKept {
        /// Number of the block.
        number: u64,
        /// Number of the oldest block whose state is kept.
        oldest: u64,
    },
    /// The disk is full.
    #[error("no space left for data directory {}: {source}", dir.display())]
    DiskFull {
        /// The data directory.
        dir: PathBuf,
        /// Error of the engine or of the operating system.
        source: Box<dyn Error + Send + Sync>,
    },
    /// The disk rejects writes although it is not full. Part of the failed batch may have been written; reopening the
    /// database shows which state it has.
    #[error("data directory {} cannot be written: {source}", dir.display())]
    WriteFailed {
        /// The data directory.
        dir: PathBuf,
        /// Error of the engine or of the operating system.
        source: Box<dyn Error + Send + Sync>,
    },
    /// Files of the database are damaged.
    #[error("data directory {} is damaged: {source}", dir.display())]
    Damaged {
        /// The data directory.
        dir: PathBuf,
        /// Error of the engine or of the operating system.
        source: Box<dyn Error + Send + Sync>,
    },
    /// A row does not have the format that this node writes.
    #[error("row {key} of column {column} is damaged: {what}")]
    Row {
        /// Column of the row.
        column: &'static str,
        /// Key of the row, in hex.
        key: String,
        /// Kind of damage.
        what: &'static str,
    },
    /// A row that another row refers to is missing.
    #[error("column {column} has no row {hash}, which another row refers to")]
    Missing {
        /// Column of the missing row.
        column: &'static str,
        /// Key of the missing row.
        hash: B256,
    },
    /// The trie nodes of a block cannot be made again from its changes.
    #[error("cannot make the trie nodes of block {number} ({hash}) again: {source}")]
    JournalNodes {
        /// Number of the block.
        number: u64,
        /// Hash of the block.
        hash: B256,
        /// Failure.
        source: TrieError,
    },
    /// The state that a fork begins with could not be read.
    #[error(transparent)]
    Base(Box<StateError>),
    /// A background thread could not be started.
    #[error("cannot start a thread that writes nodes: {source}")]
    Thread {
        /// Error of the operating system.
        source: io::Error,
    },
    /// Any other error of the engine.
    #[error("storage engine failed to {operation}: {source}")]
    Engine {
        /// Operation that failed.
        operation: &'static str,
        /// Error of the engine.
        source: rocksdb::Error,
    },
}

impl From<StorageError> for StateError {
    fn from(error: StorageError) -> Self {
        Self::Reader(Box::new(error))
    }
}

impl StorageError {
    /// Returns true if the disk refuses writes; the same write may succeed later.
    pub fn is_write_fault(&self) -> bool {
        matches!(self, Self::DiskFull { .. } | Self::WriteFailed { .. } | Self::NotWritable { .. })
    }

    /// Classifies an I/O error of a file in the data directory.
    pub(crate) fn from_file_error(dir: &Path, error: io::Error) -> Self {
        let dir = dir.to_path_buf();
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::DiskFull { dir, source: error.into() },
            io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof | io::ErrorKind::NotFound => {
                Self::Damaged { dir, source: error.into() }
            }
            _ => Self::NotWritable { dir, source: error },
        }
    }

    /// Returns the error for a row that is damaged.
    pub(crate) fn damaged_row(column: &'static str, key: &[u8], what: &'static str) -> Self {
        Self::Row { column, key: hex::encode(key), what }
    }
}
