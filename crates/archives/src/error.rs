use rhizome_blobs::{BlobError, KeyError};
use rhizome_chain::{BlockFileError, ChainError, LineFault};
use rhizome_primitives::B256;

/// Failure of an archive: created, read, verified or imported.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// The location failed.
    #[error(transparent)]
    Blob(#[from] BlobError),
    /// The chain failed.
    #[error(transparent)]
    Chain(#[from] ChainError),
    /// A key cannot be used.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// Bytes of the archive are not what its format or its hashes demand.
    #[error("{file}: damaged: {fault}")]
    Damaged {
        /// The file.
        file: String,
        /// The fault.
        fault: String,
    },
    /// A block of the archive breaks a rule that follows from its bytes or from its parent.
    #[error("{file}: block {number}: {fault}")]
    Block {
        /// The file.
        file: String,
        /// Number of the block.
        number: u64,
        /// The rule.
        fault: String,
    },
    /// The location has no manifest.
    #[error("{location}: not an archive: its manifest does not exist")]
    NoManifest {
        /// The location.
        location: String,
    },
    /// The archive has blocks of another network.
    #[error("{location}: an archive of chain {chain_id} with genesis {genesis}, not of this network")]
    Network {
        /// The location.
        location: String,
        /// Its chain id.
        chain_id: u64,
        /// Its genesis.
        genesis: B256,
    },
    /// The archive is signed by another key than the trusted one.
    #[error("{location}: signed by {publisher}, not by the trusted key")]
    Publisher {
        /// The location.
        location: String,
        /// Its publisher.
        publisher: String,
    },
    /// The archive ends with a block that the chain lacks, and the chain is not heavier.
    #[error(
        "{location}: its last block {last} ({last_hash}) is not in the chain, whose block {to} ({hash}) is not heavier"
    )]
    Lighter {
        /// The location.
        location: String,
        /// Number of the last block of the archive.
        last: u64,
        /// Its hash.
        last_hash: B256,
        /// Number of the block up to which the chain would be written.
        to: u64,
        /// Its hash.
        hash: B256,
    },
    /// The parts of 256 blocks are longer than the format allows.
    #[error("blocks from {first} on are too large for an archive")]
    TooLarge {
        /// First block of the group.
        first: u64,
    },
    /// There is no archive.
    #[error("no archive was given")]
    NoArchive,
    /// The archive has no files.
    #[error("{location}: an archive without blocks")]
    NoBlocks {
        /// The location.
        location: String,
    },
    /// No location can deliver some blocks.
    #[error("blocks {first} to {last} cannot be read from any archive: {}", join(.faults))]
    Unavailable {
        /// First block.
        first: u64,
        /// Last block.
        last: u64,
        /// The failure of each location.
        faults: Vec<ArchiveError>,
    },
    /// A block could not be imported. The blocks below stay imported.
    #[error("{file}: block {number}: {}", .source.fault)]
    Import {
        /// The file.
        file: String,
        /// Number of the block.
        number: u64,
        /// The failure.
        source: BlockFileError,
    },
}

fn join(faults: &[ArchiveError]) -> String {
    faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

impl ArchiveError {
    pub(crate) fn damaged(file: &str, fault: impl ToString) -> Self {
        Self::Damaged { file: file.to_owned(), fault: fault.to_string() }
    }

    /// Whether an archive has a block that is invalid, or that does not connect. Another archive may be without this fault.
    pub(crate) fn is_refused_block(&self) -> bool {
        let Self::Import { source, .. } = self else { return false };
        matches!(
            source.fault,
            LineFault::Decode(_)
                | LineFault::Number { .. }
                | LineFault::TotalDifficulty { .. }
                | LineFault::NoParent { .. }
                | LineFault::Invalid { .. }
        )
    }

    /// Whether the failure is of one archive, so that other archives may be read instead.
    pub(crate) fn is_of_archive(&self) -> bool {
        self.is_refused_block() || matches!(self, Self::Unavailable { .. } | Self::NoBlocks { .. })
    }

    /// Whether the location serves wrong bytes: reading again is of no use.
    pub(crate) fn is_lasting(&self) -> bool {
        matches!(
            self,
            Self::Damaged { .. }
                | Self::Block { .. }
                | Self::Blob(BlobError::NoRanges { .. } | BlobError::Changed { .. } | BlobError::Length { .. })
        )
    }
}
