//! Tries of blocks near a block whose trie is known, by the change sets between them.

use std::mem;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use rhizome_evm::Deadline;
use rhizome_primitives::B256;
use rhizome_storage::{ChangeSet, NodeVersions};
use rhizome_trie::Trie;

use crate::archive::Archive;
use crate::archive::ancestry::parent_position;
use crate::archive::record::BlockRecord;
use crate::archive::side_branch::AncestorPosition;
use crate::error::ChainError;

/// Reads of a derived trie before it is derived again. It keeps the nodes that were read, so this bounds its memory.
const MAX_READS: u32 = 64;

/// Changes that are applied at once to a trie that is derived for a request. In between its deadline counts: from a slow disk each takes
/// 0.1 ms.
const CHANGES_AT_ONCE: usize = 4096;
/// Time between two looks at the deadline while another request derives a trie.
const WAIT: Duration = Duration::from_millis(20);

/// A version of the trie for readers.
pub(crate) struct TrieSnapshot {
    record: Arc<BlockRecord>,
    /// Shares its nodes with the importer; `None` if readers load them.
    trie: Option<Trie>,
    derived: Mutex<Option<DerivedTrie>>,
}

/// The trie that was derived last. Undoing 128 blocks of 818 new keys takes 0.7 s.
struct DerivedTrie {
    root: B256,
    trie: Trie,
    reads: u32,
}

impl TrieSnapshot {
    /// Takes a snapshot of the importer's trie after a block.
    pub(crate) fn new(archive: &Archive, record: &Arc<BlockRecord>, trie: &Trie) -> Self {
        let is_shared = archive.store.node_versions() == NodeVersions::Current;
        Self { trie: is_shared.then(|| trie.reader()), ..Self::flushed(record) }
    }

    /// Returns the snapshot of a trie whose nodes are on the disk. The importer, which copies nodes that it shares when they change,
    /// shares none.
    pub(crate) fn flushed(record: &Arc<BlockRecord>) -> Self {
        Self { record: Arc::clone(record), trie: None, derived: Mutex::default() }
    }

    #[cfg(test)]
    pub(crate) fn is_shared(&self) -> bool {
        self.trie.is_some()
    }

    /// Returns the block whose trie this is.
    pub(crate) fn position(&self) -> AncestorPosition {
        self.record.position()
    }

    /// Returns the trie after another executed block.
    pub(crate) fn trie_after(&self, archive: &Archive, record: &Arc<BlockRecord>) -> Result<Trie, ChainError> {
        self.trie_by(record, archive, |trie| move_trie(archive, trie, &self.record, record))
    }

    /// Returns the trie after another executed block for a request. One is derived at a time, of a bounded number of changes, and never on
    /// the thread of an inline call.
    pub(crate) fn trie_for_request(
        &self,
        archive: &Archive,
        record: &Arc<BlockRecord>,
        deadline: &Deadline,
    ) -> Result<Trie, ChainError> {
        if let Some(trie) = self.derived(&record.state_root) {
            return Ok(trie);
        }
        let _turn = match self.record.state_root == record.state_root {
            true => None,
            false if deadline.is_inline() => return Err(ChainError::DeadlineExceeded),
            false => Some(wait_for_turn(archive, deadline)?),
        };
        self.trie_by(record, archive, |trie| {
            // Memory for one derived trie.
            *self.derived.lock() = None;
            derive(archive, trie, &self.record, record, deadline)
        })
    }

    fn trie_by(
        &self,
        record: &Arc<BlockRecord>,
        archive: &Archive,
        derive: impl FnOnce(&mut Trie) -> Result<(), ChainError>,
    ) -> Result<Trie, ChainError> {
        if let Some(trie) = self.derived(&record.state_root) {
            return Ok(trie);
        }
        let mut trie = self.trie.clone().unwrap_or_else(|| archive.trie(self.record.state_root));
        if self.record.state_root != record.state_root {
            derive(&mut trie)?;
            *self.derived.lock() = Some(DerivedTrie { root: record.state_root, trie: trie.clone(), reads: 1 });
        }
        Ok(trie)
    }

    /// Returns the trie that was derived last, if it has this root.
    fn derived(&self, root: &B256) -> Option<Trie> {
        let mut derived = self.derived.lock();
        let last = derived.as_mut().filter(|last| last.root == *root && last.reads < MAX_READS)?;
        last.reads += 1;
        Some(last.trie.clone())
    }
}

/// Waits until no other request derives a trie.
fn wait_for_turn<'a>(archive: &'a Archive, deadline: &Deadline) -> Result<MutexGuard<'a, ()>, ChainError> {
    loop {
        if let Some(turn) = archive.deriving.try_lock_for(WAIT) {
            return Ok(turn);
        }
        if deadline.has_passed() {
            return Err(ChainError::DeadlineExceeded);
        }
    }
}

/// Like [`move_trie`], in parts, until the deadline and up to a number of changes.
fn derive(
    archive: &Archive,
    trie: &mut Trie,
    from: &Arc<BlockRecord>,
    to: &Arc<BlockRecord>,
    deadline: &Deadline,
) -> Result<(), ChainError> {
    let mut applied = 0_usize;
    let rest = read_changes(archive, from, to, |part| {
        if deadline.has_passed() {
            return Err(ChainError::DeadlineExceeded);
        }
        if applied.saturating_add(part.len()) > archive.derived_changes {
            let (number, from, most) = (to.number(), from.number(), archive.derived_changes);
            return Err(ChainError::TrieTooFar { number, from, most });
        }
        if part.len() >= CHANGES_AT_ONCE {
            applied = applied.saturating_add(part.len());
            mem::take(part).apply_to(trie)?;
        }
        Ok(())
    })?;
    apply_difference(trie, &rest, to)
}

/// Moves a trie from the state after block `from` to the state after block `to`, both executed. Costs what the blocks between them
/// changed.
pub(crate) fn move_trie(
    archive: &Archive,
    trie: &mut Trie,
    from: &Arc<BlockRecord>,
    to: &Arc<BlockRecord>,
) -> Result<(), ChainError> {
    let difference = read_changes(archive, from, to, |_| Ok(()))?;
    apply_difference(trie, &difference, to)
}

/// Reads the changes from the state after block `from` to that after block `to`, both executed, block by block. `on_block` gets the
/// changes since it last took them out. Returns the rest. Holds no block: thousands have gigabytes.
pub(crate) fn read_changes(
    archive: &Archive,
    from: &BlockRecord,
    to: &BlockRecord,
    mut on_block: impl FnMut(&mut ChangeSet) -> Result<(), ChainError>,
) -> Result<ChangeSet, ChainError> {
    let (mut low, mut high) = (from.position(), to.position());
    let (mut part, mut enacted) = (ChangeSet::default(), Vec::new());
    while low.hash != high.hash {
        if high.number >= low.number {
            enacted.push(high);
            high = parent_position(archive, high)?;
        } else {
            part.extend(&archive.store.changes(low.number, &low.hash)?.reversed());
            on_block(&mut part)?;
            low = parent_position(archive, low)?;
        }
    }
    for AncestorPosition { number, hash } in enacted.into_iter().rev() {
        part.extend(&archive.store.changes(number, &hash)?);
        on_block(&mut part)?;
    }
    Ok(part)
}

/// Moves a trie to the state after block `to`, to which `difference` leads.
pub(crate) fn apply_difference(
    trie: &mut Trie,
    difference: &ChangeSet,
    to: &Arc<BlockRecord>,
) -> Result<(), ChainError> {
    difference.apply_to(trie)?;
    check_root(trie, to)
}

/// Compares the root of a trie that was derived for a block.
pub(crate) fn check_root(trie: &Trie, to: &BlockRecord) -> Result<(), ChainError> {
    let root = trie.root_hash();
    if root == to.state_root {
        return Ok(());
    }
    Err(ChainError::DerivedRoot { number: to.number(), hash: to.hash, expected: to.state_root, root })
}
