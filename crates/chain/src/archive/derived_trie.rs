//! Tries of blocks near a block whose trie is known, by the change sets between them.

use std::sync::Arc;

use rhizome_trie::Trie;

use crate::archive::Archive;
use crate::archive::record::BlockRecord;
use crate::error::ChainError;
use crate::head::branch_change::{BranchChange, positions};

/// Moves a trie from the state after block `from` to the state after block `to`, both executed. Costs what the blocks between them
/// changed.
pub(crate) fn move_trie(
    archive: &Archive,
    trie: &mut Trie,
    from: &Arc<BlockRecord>,
    to: &Arc<BlockRecord>,
) -> Result<(), ChainError> {
    let way = BranchChange::plan(archive, from, to)?;
    let difference = archive.store.difference(&positions(&way.retracted), &positions(&way.enacted))?;
    trie.apply(&archive.store.delta_of(&difference)?)?;
    let root = trie.root_hash();
    if root == to.state_root {
        return Ok(());
    }
    Err(ChainError::DerivedRoot { number: to.number(), hash: to.hash, expected: to.state_root, root })
}
