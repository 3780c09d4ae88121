use std::io;
use std::path::{Path, PathBuf};

use rhizome_primitives::B256;

/// Failure of a data directory of rskj, or of the import of its blocks.
#[derive(Debug, thiserror::Error)]
pub enum RskjError {
    /// The folder has no table of blocks.
    #[error("{}: not a data directory of rskj: it has no folder blocks with a RocksDB or LevelDB database", dir.display())]
    NotADirectory {
        /// The folder.
        dir: PathBuf,
    },
    /// A running node holds the lock.
    #[error("{}: in use by a running node: stop it first", dir.display())]
    InUse {
        /// The folder of the table.
        dir: PathBuf,
    },
    /// A file cannot be read.
    #[error("{}: cannot be read: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The failure.
        source: io::Error,
    },
    /// Bytes of a file are not what its format or its checksums demand.
    #[error("{}: damaged: {fault}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The fault.
        fault: String,
    },
    /// RocksDB refuses the table: its files are damaged, or cannot be read.
    #[error("{}: {source}", dir.display())]
    RocksDb {
        /// The folder of the table.
        dir: PathBuf,
        /// The failure, which names the file.
        source: rocksdb::Error,
    },
    /// A row of the table is not a block.
    #[error("{}: damaged: the row of block {hash} is not a block", dir.display())]
    Row {
        /// The folder of the table.
        dir: PathBuf,
        /// Key of the row, in hex.
        hash: String,
    },
    /// The table has no block, or those of another network.
    #[error("{}: of another network: it does not have the genesis block {genesis}", dir.display())]
    Network {
        /// The folder of the table.
        dir: PathBuf,
        /// The expected genesis.
        genesis: B256,
    },
    /// The ancestors of the highest blocks are not all there, as in a node that took over a snapshot.
    #[error("{}: block {number} ({hash}) does not have its parent: only whole chains can be imported", dir.display())]
    Incomplete {
        /// The folder of the table.
        dir: PathBuf,
        /// Number of the lowest block above the heaviest whole chain without a parent.
        number: u64,
        /// Its hash.
        hash: B256,
    },
}

impl RskjError {
    pub(crate) fn read(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Read { path: path.to_owned(), source }
    }

    pub(crate) fn damaged(path: &Path, fault: impl ToString) -> Self {
        Self::Damaged { path: path.to_owned(), fault: fault.to_string() }
    }
}
