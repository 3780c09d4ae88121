//! What the rules about uncles and fork detection ask of the block store.

use rhizome_primitives::{B256, Header};
use std::sync::Arc;

/// A failure of the store itself: never a verdict about a block.
pub type LookUpError = Box<dyn std::error::Error + Send + Sync>;

/// Known blocks by hash, on any branch. The genesis has number 0 and no parent that is known.
pub trait Ancestry {
    /// Header of a known block.
    fn header(&self, hash: &B256) -> Result<Option<Arc<Header>>, LookUpError>;

    /// Hashes of the uncles that a known block names.
    fn uncle_hashes(&self, hash: &B256) -> Result<Option<Vec<B256>>, LookUpError>;

    /// The block `descendant` or the ancestor of it that has this number; none when the branch is not known that far.
    /// A store with an index by height can answer faster than this walk.
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
