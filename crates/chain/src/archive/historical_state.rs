//! The state after any executed block: its trie in a database with all versions of nodes, otherwise the history of the best chain and the
//! changes of branch blocks.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use parking_lot::RwLock;
use rhizome_primitives::{B256, Bytes};
use rhizome_storage::{ChangeSet, StoredValue};
use rhizome_trie::{StateError, StateReader, Trie};

use crate::archive::Archive;
use crate::archive::ancestry::walk_to_main;
use crate::archive::record::BlockRecord;
use crate::archive::side_branch::AncestorPosition;
use crate::error::ChainError;

/// Pause of a reader while blocks leave the best chain.
const PAUSE: Duration = Duration::from_micros(50);

/// The state after an executed block, on the best chain or off it. Stays the same while the best chain changes.
pub(crate) struct HistoricalState {
    archive: Arc<Archive>,
    block: AncestorPosition,
    /// Trie of the state; `None` in a database with a history. Nodes that were read stay in memory for the next reads.
    trie: Option<Trie>,
    /// Way from the best chain to the block, for one branch number of the store.
    way: RwLock<Option<Arc<BranchWay>>>,
}

/// The blocks between the best chain and a block.
struct BranchWay {
    /// Branch number of the store for which this holds.
    branch: u64,
    /// Number of the last common block with the best chain.
    fork: u64,
    /// Changes from the fork block to the block. Empty on the best chain.
    changes: ChangeSet,
}

impl HistoricalState {
    pub(crate) fn new(archive: Arc<Archive>, record: &BlockRecord) -> Self {
        let block = record.position();
        Self::after(archive, block, record.state_root)
    }

    /// Opens the state after a block from its state root.
    pub(crate) fn after(archive: Arc<Archive>, block: AncestorPosition, state_root: B256) -> Self {
        let trie = (!archive.store.has_history()).then(|| archive.trie(state_root));
        Self { archive, block, trie, way: RwLock::default() }
    }

    /// Reads from the trie or from the history.
    fn read<T>(
        &self,
        by_history: impl Fn(&BranchWay) -> Result<T, ChainError>,
        by_trie: impl FnOnce(&Trie) -> Result<T, StateError>,
    ) -> Result<T, StateError> {
        if let Some(trie) = &self.trie {
            let found = by_trie(trie)?;
            self.archive.check_state(self.block.number).map_err(state_error)?;
            return Ok(found);
        }
        let error = match self.read_history(by_history) {
            Ok(found) => return Ok(found),
            Err(error) => self.archive.state_failure(self.block.number, error),
        };
        let has_block = self.archive.store.has_block(&self.block.hash).map_err(|error| state_error(error.into()))?;
        Err(state_error(if has_block { error } else { ChainError::DeletedBlock { hash: self.block.hash } }))
    }

    /// Reads while no block leaves the best chain.
    fn read_history<T>(&self, read: impl Fn(&BranchWay) -> Result<T, ChainError>) -> Result<T, ChainError> {
        let store = &self.archive.store;
        loop {
            let branch = store.branch();
            if branch % 2 == 1 {
                thread::sleep(PAUSE);
                continue;
            }
            let way = self.way(branch);
            let read = way.and_then(|way| read(&way));
            // A failure counts only if it was not caused by a change.
            if store.branch() == branch {
                return read;
            }
        }
    }

    fn way(&self, branch: u64) -> Result<Arc<BranchWay>, ChainError> {
        if let Some(way) = self.way.read().as_ref().filter(|way| way.branch == branch) {
            return Ok(Arc::clone(way));
        }
        let (side, fork) = walk_to_main(&self.archive, self.block)?;
        let enacted: Vec<_> = side.iter().rev().map(|position| (position.number, position.hash)).collect();
        let changes = self.archive.store.difference(&[], &enacted)?;
        let way = Arc::new(BranchWay { branch, fork: fork.number, changes });
        *self.way.write() = Some(Arc::clone(&way));
        Ok(way)
    }

    fn stored_value(&self, key: &[u8], way: &BranchWay) -> Result<StoredValue, ChainError> {
        match way.changes.get(key) {
            Some(change) => Ok(change.after.clone()),
            None => Ok(self.archive.store.value_after(key, way.fork)?),
        }
    }
}

fn state_error(error: ChainError) -> StateError {
    StateError::Reader(Box::new(error))
}

impl StateReader for HistoricalState {
    fn get(&self, key: &[u8]) -> Result<Option<Bytes>, StateError> {
        let by_history = |way: &BranchWay| {
            let stored = self.stored_value(key, way)?;
            self.archive.store.value_of(key, &stored, |mark| Ok(self.stored_value(mark, way)?.is_present()))
        };
        self.read(by_history, |trie| StateReader::get(trie, key))
    }

    fn length_and_hash(&self, key: &[u8]) -> Result<Option<(usize, B256)>, StateError> {
        let by_history = |way: &BranchWay| {
            let stored = self.stored_value(key, way)?;
            self.archive.store.length_and_hash_of(key, &stored, |mark| Ok(self.stored_value(mark, way)?.is_present()))
        };
        self.read(by_history, |trie| trie.length_and_hash(key))
    }

    fn visit_keys(&self, prefix: &[u8], visit: &mut dyn FnMut(&[u8]) -> ControlFlow<()>) -> Result<(), StateError> {
        let by_history = |way: &BranchWay| {
            let branch = way.changes.below(prefix);
            let branch: BTreeMap<&[u8], bool> = branch.map(|(key, change)| (key, change.after.is_present())).collect();
            let mut keys: Vec<Box<[u8]>> = Vec::new();
            self.archive.store.visit_keys_after(prefix, way.fork, |key| {
                if !branch.contains_key(key) {
                    keys.push(key.into());
                }
                ControlFlow::Continue(())
            })?;
            keys.extend(branch.iter().filter(|(_, has_value)| **has_value).map(|(key, _)| Box::from(*key)));
            Ok(keys)
        };
        let by_trie = |trie: &Trie| {
            let keys = trie.entries_under(prefix).keys().map(|key| Ok(key?.into_boxed_slice()));
            keys.collect::<Result<Vec<_>, StateError>>()
        };
        for key in self.read(by_history, by_trie)? {
            if visit(&key).is_break() {
                break;
            }
        }
        Ok(())
    }
}
