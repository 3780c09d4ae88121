//! Look-ups of known blocks for the rules about uncles and fork detection.

use rhizome_primitives::{B256, Header};
use std::sync::Arc;

/// A failure of the block store. Not a verdict about a block.
pub type LookUpError = Box<dyn std::error::Error + Send + Sync>;

/// Known blocks by hash, on any branch. The genesis block has number 0, and its parent is unknown.
pub trait BlockLookup {
    /// Returns the header of a block; `None` if the block is unknown.
    fn header(&self, hash: &B256) -> Result<Option<Arc<Header>>, LookUpError>;

    /// Returns the hashes of the uncles of a block; `None` if the block is unknown.
    fn uncle_hashes(&self, hash: &B256) -> Result<Option<Vec<B256>>, LookUpError>;

    /// Returns the header with this number among `descendant` and its ancestors; `None` if a block on the way is unknown.
    /// Stores with an index by height should replace this walk.
    fn ancestor(&self, descendant: &B256, number: u64) -> Result<Option<Arc<Header>>, LookUpError> {
        let mut hash = *descendant;
        loop {
            let Some(header) = self.header(&hash)? else { return Ok(None) };
            if header.number <= number {
                return Ok((header.number == number).then_some(header));
            }
            let Some(parent) = header.parent() else { return Ok(None) };
            hash = parent;
        }
    }
}
