//! Import of the best chain of another database.

use std::ops::ControlFlow;

use rhizome_primitives::B256;
use rhizome_storage::{DirectoryBlocks, StorageError};

use crate::archive::Archive;
use crate::error::ChainError;
use crate::import::block_file::{BlockFileError, ImportedLine};
use crate::import::importer::Importer;
use crate::import::numbered_block::{self, NumberedBlock};

/// A chain of blocks from the genesis, in another database.
pub trait BlockSource {
    /// Failure of the database.
    type Error;

    /// Returns the number of the last block.
    fn last(&self) -> u64;

    /// Returns the hash of a block, or `None` above the last one.
    fn hash(&self, number: u64) -> Result<Option<B256>, Self::Error>;

    /// Returns a block up to the last one.
    fn block(&self, number: u64) -> Result<NumberedBlock, Self::Error>;
}

/// Failure of the import from a source. The blocks before stay imported.
#[derive(Debug, thiserror::Error)]
pub enum SourceImportError<E> {
    /// The chain failed.
    #[error(transparent)]
    Chain(ChainError),
    /// The source failed.
    #[error(transparent)]
    Source(E),
    /// A block could not be imported.
    #[error("block {number}: {}", .source.fault)]
    Block {
        /// Number of the block.
        number: u64,
        /// The failure.
        source: BlockFileError,
    },
}

/// Imports the blocks above the last common block of the chain and a source. `on_block` gets each result and may end the import.
/// Returns the number of blocks that are on disk. After a stop or a kill another import continues.
pub(crate) fn import<S: BlockSource>(
    importer: &Importer,
    source: &S,
    on_block: impl FnMut(&ImportedLine) -> ControlFlow<()>,
) -> Result<u64, SourceImportError<S::Error>> {
    let first = first_missing(&importer.steps.archive, source)?;
    let mut fault = None;
    let blocks = (first..=source.last()).map_while(|number| match source.block(number) {
        Ok(block) => Some(block),
        Err(error) => {
            fault = Some(error);
            None
        }
    });
    let blocks = numbered_block::import(importer, blocks, on_block).map_err(|source| {
        let number = first.saturating_add(source.line).saturating_sub(1);
        SourceImportError::Block { number, source }
    })?;
    fault.map_or(Ok(blocks), |fault| Err(SourceImportError::Source(fault)))
}

/// Returns the number above the highest block that is on both chains.
fn first_missing<S: BlockSource>(archive: &Archive, source: &S) -> Result<u64, SourceImportError<S::Error>> {
    let chain_error = |error: StorageError| SourceImportError::Chain(error.into());
    let highest = archive.store.highest_number().map_err(chain_error)?.unwrap_or_default();
    let mut number = highest.min(source.last());
    while number > 0 {
        let hash = archive.store.main_hash(number).map_err(chain_error)?;
        if hash.is_some() && hash == source.hash(number).map_err(SourceImportError::Source)? {
            break;
        }
        number -= 1;
    }
    Ok(number + 1)
}

impl BlockSource for DirectoryBlocks {
    type Error = StorageError;

    fn last(&self) -> u64 {
        DirectoryBlocks::last(self)
    }

    fn hash(&self, number: u64) -> Result<Option<B256>, StorageError> {
        self.main_hash(number)
    }

    fn block(&self, number: u64) -> Result<NumberedBlock, StorageError> {
        let block = self.main_block(number)?;
        Ok(NumberedBlock { number, total_difficulty: block.total_difficulty, raw: block.raw.to_vec() })
    }
}
