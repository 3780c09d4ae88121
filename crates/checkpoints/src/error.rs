use std::io;
use std::path::Path;

use rhizome_blobs::{BlobError, KeyError};
use rhizome_chain::ChainError;
use rhizome_primitives::B256;
use rhizome_storage::{NodeVersions, StorageError};

/// Failure of a checkpoint: created, listed, verified or restored.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    /// The location failed, for example without one of its files.
    #[error(transparent)]
    Blob(#[from] BlobError),
    /// The chain failed.
    #[error(transparent)]
    Chain(#[from] ChainError),
    /// The data directory cannot be copied or restored.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// A key cannot be used.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// Bytes of the location are not what the format or a hash demands.
    #[error("{file}: damaged: {fault}")]
    Damaged {
        /// The file.
        file: String,
        /// The fault.
        fault: String,
    },
    /// The location has no checkpoint.
    #[error("{location}: has no checkpoint: the file `latest` does not exist")]
    NoCheckpoint {
        /// The location.
        location: String,
    },
    /// The text is not the name of a checkpoint.
    #[error("{name}: not the name of a checkpoint: NUMBER-HASH.checkpoint is expected")]
    Name {
        /// The text.
        name: String,
    },
    /// The checkpoint is signed by another key than the trusted one.
    #[error("{file}: signed by {publisher}, not by the trusted key")]
    Publisher {
        /// The manifest.
        file: String,
        /// Its publisher.
        publisher: String,
    },
    /// The checkpoint is one of another network.
    #[error("{file}: a checkpoint of chain {chain_id} with genesis {genesis}, not of this network")]
    Network {
        /// The manifest.
        file: String,
        /// Its chain id.
        chain_id: u8,
        /// Its genesis.
        genesis: B256,
    },
    /// Another version of the node made the checkpoint.
    #[error("{file}: has {part} {found}, this version of the node reads {expected}")]
    Version {
        /// The manifest.
        file: String,
        /// The part whose version differs: the format of the manifest, or the layout of the database.
        part: &'static str,
        /// Version of the checkpoint.
        found: u32,
        /// Version that this node reads.
        expected: u32,
    },
    /// The database of the checkpoint has other trie nodes than the settings ask for.
    #[error("{file}: keeps {found}, the settings ask for {expected} (storage.proofs)")]
    Proofs {
        /// The manifest.
        file: String,
        /// Versions of trie nodes in the checkpoint.
        found: NodeVersions,
        /// Versions that the settings ask for.
        expected: NodeVersions,
    },
    /// The restored database has another head than the manifest names.
    #[error("{file}: the restored database has another {what} than the manifest names")]
    Head {
        /// The manifest.
        file: String,
        /// The part of the head.
        what: &'static str,
    },
    /// The disk is full.
    #[error("{path}: no space left: {source}")]
    DiskFull {
        /// The file.
        path: String,
        /// Error of the operating system.
        source: io::Error,
    },
    /// A file of this machine cannot be read or written.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: String,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The running node could not copy its database.
    #[error("{dir}: the running node could not copy its database: {reason}")]
    Copy {
        /// The data directory.
        dir: String,
        /// Text of its error.
        reason: String,
    },
    /// The program that has the data directory open does not copy it.
    #[error("{dir}: the program that has it open makes no copy within {seconds} s")]
    NoAnswer {
        /// The data directory.
        dir: String,
        /// The limit.
        seconds: u64,
    },
    /// The caller stopped. Another run continues.
    #[error("stopped")]
    Stopped,
}

impl CheckpointError {
    /// Whether the data directory has a chain, which is not overwritten.
    pub fn is_existing_chain(&self) -> bool {
        matches!(self, Self::Storage(StorageError::HasChain { .. }))
    }

    pub(crate) fn damaged(file: &str, fault: impl ToString) -> Self {
        Self::Damaged { file: file.to_owned(), fault: fault.to_string() }
    }

    pub(crate) fn file(path: &Path, source: io::Error) -> Self {
        let path = path.display().to_string();
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::DiskFull { path, source },
            _ => Self::File { path, source },
        }
    }
}
