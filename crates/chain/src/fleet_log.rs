//! Blocks of this chain for the block log of a fleet, and the place up to which this node has read the log.

use std::sync::Arc;

use rhizome_primitives::{B256, Bytes, U256};
use rhizome_storage::{BlockLogRows, LogPlace, Store};

use crate::error::ChainError;

/// A stored block for the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedBlock {
    /// Its number.
    pub number: u64,
    /// Its hash.
    pub hash: B256,
    /// Its encoding.
    pub raw: Bytes,
    /// Difficulty of the chain up to it, uncles included.
    pub total_difficulty: U256,
}

/// Blocks that are not in the log yet, if `ChainConfig::notes_blocks` is set, and the place in the log. May be used beside the
/// importer.
pub struct FleetLog(Arc<Store>);

impl FleetLog {
    pub(crate) fn new(store: &Arc<Store>) -> Self {
        Self(Arc::clone(store))
    }

    fn rows(&self) -> BlockLogRows<'_> {
        BlockLogRows::new(&self.0)
    }

    /// Whether blocks may have been stored since the last read. Reads memory only.
    pub fn has_unread(&self) -> bool {
        self.rows().has_unread()
    }

    /// Returns number and hash of stored blocks that are not published, lowest first, at most `most`.
    pub fn unpublished(&self, most: usize) -> Result<Vec<(u64, B256)>, ChainError> {
        Ok(self.rows().unpublished(most)?)
    }

    /// Lets [`FleetLog::unpublished`] return the blocks from a height on again that are still not published.
    pub fn read_again(&self, number: u64) {
        self.rows().read_again(number);
    }

    /// Returns a block; `None` if it was deleted meanwhile.
    pub fn block(&self, number: u64, hash: &B256) -> Result<Option<LoggedBlock>, ChainError> {
        let block = self.rows().block(hash)?;
        Ok(block.map(|(raw, total_difficulty)| LoggedBlock { number, hash: *hash, raw, total_difficulty }))
    }

    /// Whether a block is stored, on the best chain or beside it.
    pub fn has_block(&self, hash: &B256) -> Result<bool, ChainError> {
        Ok(self.rows().has_block(hash)?)
    }

    /// Remembers that blocks are in the log.
    pub fn mark_published(&self, blocks: &[(u64, B256)]) -> Result<(), ChainError> {
        Ok(self.rows().remove(blocks)?)
    }

    /// Lets all stored blocks from a height on be published, and sets the place.
    pub fn publish_from(&self, number: u64, place: LogPlace) -> Result<(), ChainError> {
        Ok(self.rows().note_from(number, place)?)
    }

    /// Returns the place on the disk; `None` before the first log.
    pub fn place(&self) -> Result<Option<LogPlace>, ChainError> {
        Ok(self.rows().place()?)
    }

    /// Sets the place up to which all blocks are handled. It is written with the next block.
    pub fn set_place(&self, place: LogPlace) {
        self.rows().set_place(place);
    }

    /// Writes the place now if no block has done so.
    pub fn write_place(&self) -> Result<(), ChainError> {
        Ok(self.rows().write_place()?)
    }
}
