use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};

use rhizome_primitives::B256;

use crate::open::ChainIdentity;

/// Everything that can go wrong between the node and its data directory.
#[derive(Debug, thiserror::Error)]
pub enum StorageError {
    /// The directory cannot be created, read or written.
    #[error("data directory {} cannot be used: {source}", dir.display())]
    NotWritable {
        /// The data directory.
        dir: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// Another process (or another store of this process) holds the directory.
    #[error("data directory {} is in use by another process", dir.display())]
    Locked {
        /// The data directory.
        dir: PathBuf,
    },
    /// The directory belongs to another chain.
    #[error("data directory {} belongs to another chain: it holds {found}, expected {expected}", dir.display())]
    WrongChain {
        /// The data directory.
        dir: PathBuf,
        /// The chain that was asked for.
        expected: ChainIdentity,
        /// The chain that the directory holds.
        found: ChainIdentity,
    },
    /// The directory was written by a version of the node with another layout.
    #[error("data directory {} has layout {found}, this node reads layout {expected}: export its blocks with the version that wrote it, and import them into a new one", dir.display())]
    WrongLayout {
        /// The data directory.
        dir: PathBuf,
        /// The layout of this version.
        expected: u32,
        /// The layout found.
        found: u32,
    },
    /// No room left.
    #[error("no space left for data directory {}: {source}", dir.display())]
    DiskFull {
        /// The data directory.
        dir: PathBuf,
        /// What the engine or the operating system said.
        source: Box<dyn Error + Send + Sync>,
    },
    /// The disk refuses to be written, for another reason than want of room. Whether anything of the batch was written shows
    /// when the database is opened again.
    #[error("data directory {} cannot be written: {source}", dir.display())]
    WriteFailed {
        /// The data directory.
        dir: PathBuf,
        /// What the engine or the operating system said.
        source: Box<dyn Error + Send + Sync>,
    },
    /// There are damaged files.
    #[error("data directory {} is damaged: {source}", dir.display())]
    Damaged {
        /// The data directory.
        dir: PathBuf,
        /// What the engine or the operating system said.
        source: Box<dyn Error + Send + Sync>,
    },
    /// A row was read that no version of this node writes.
    #[error("row {key} of column {column} is damaged: {what}")]
    Row {
        /// Column of the row.
        column: &'static str,
        /// Key of the row, in hex.
        key: String,
        /// What is wrong with it.
        what: &'static str,
    },
    /// A row that another row refers to is missing.
    #[error("column {column} has no row {hash}, which another row refers to")]
    Missing {
        /// Column in which the row should be.
        column: &'static str,
        /// Its key.
        hash: B256,
    },
    /// No thread could be started.
    #[error("no thread for writing nodes: {source}")]
    Thread {
        /// What the operating system said.
        source: io::Error,
    },
    /// Any other failure of the engine.
    #[error("storage engine failed to {operation}: {source}")]
    Engine {
        /// What was being done.
        operation: &'static str,
        /// What the engine said.
        source: rocksdb::Error,
    },
}

impl StorageError {
    /// Whether the disk refuses to be written: the same may succeed later.
    pub fn is_write_fault(&self) -> bool {
        matches!(self, Self::DiskFull { .. } | Self::WriteFailed { .. } | Self::NotWritable { .. })
    }

    /// The typed form of what happened to a file of the data directory.
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
}
