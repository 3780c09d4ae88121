//! Tries of blocks near a block whose trie is known, by the change sets between them.

use std::sync::Arc;

use rhizome_storage::{ChangeSet, NodeVersions};
use rhizome_trie::Trie;

use crate::archive::Archive;
use crate::archive::record::BlockRecord;
use crate::archive::side_branch::AncestorPosition;
use crate::error::ChainError;
use crate::head::branch_change::{BranchChange, positions};

/// A version of the trie for readers.
pub(crate) struct TrieSnapshot {
    record: Arc<BlockRecord>,
    /// Shares its nodes with the importer; `None` if readers load them.
    trie: Option<Trie>,
}

impl TrieSnapshot {
    /// Takes a snapshot of the importer's trie after a block.
    pub(crate) fn new(archive: &Archive, record: &Arc<BlockRecord>, trie: &Trie) -> Self {
        let is_shared = archive.store.node_versions() == NodeVersions::Current;
        Self { record: Arc::clone(record), trie: is_shared.then(|| trie.reader()) }
    }

    /// Returns the snapshot of a trie whose nodes are on the disk. The importer, which copies nodes that it shares when they change,
    /// shares none.
    pub(crate) fn flushed(record: &Arc<BlockRecord>) -> Self {
        Self { record: Arc::clone(record), trie: None }
    }

    #[cfg(test)]
    pub(crate) fn is_shared(&self) -> bool {
        self.trie.is_some()
    }

    /// Returns the block whose trie this is.
    pub(crate) fn position(&self) -> AncestorPosition {
        AncestorPosition { number: self.record.number(), hash: self.record.hash }
    }

    /// Returns the trie after another executed block.
    pub(crate) fn trie_after(&self, archive: &Archive, record: &Arc<BlockRecord>) -> Result<Trie, ChainError> {
        let mut trie = self.trie.clone().unwrap_or_else(|| archive.trie(self.record.state_root));
        if self.record.state_root != record.state_root {
            move_trie(archive, &mut trie, &self.record, record)?;
        }
        Ok(trie)
    }
}

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
    apply_difference(trie, &difference, to)
}

/// Moves a trie to the state after block `to`, to which `difference` leads.
pub(crate) fn apply_difference(
    trie: &mut Trie,
    difference: &ChangeSet,
    to: &Arc<BlockRecord>,
) -> Result<(), ChainError> {
    difference.apply_to(trie)?;
    let root = trie.root_hash();
    if root == to.state_root {
        return Ok(());
    }
    Err(ChainError::DerivedRoot { number: to.number(), hash: to.hash, expected: to.state_root, root })
}
