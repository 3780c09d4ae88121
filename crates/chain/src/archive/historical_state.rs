//! The state after any executed block, read from the history of the best chain and the changes of branch blocks.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use parking_lot::RwLock;
use rhizome_primitives::Bytes;
use rhizome_storage::{ChangeSet, StoredValue};
use rhizome_trie::{StateError, StateReader};

use crate::archive::Archive;
use crate::archive::ancestry::walk_to_main;
use crate::archive::side_branch::AncestorPosition;
use crate::error::ChainError;

/// Pause of a reader while blocks leave the best chain.
const PAUSE: Duration = Duration::from_micros(50);

/// The state after an executed block, on the best chain or off it. Stays the same while the best chain changes.
pub(crate) struct HistoricalState {
    archive: Arc<Archive>,
    block: AncestorPosition,
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
    pub(crate) fn new(archive: Arc<Archive>, block: AncestorPosition) -> Self {
        Self { archive, block, way: RwLock::default() }
    }

    /// Reads while no block leaves the best chain.
    fn read<T>(&self, read: impl Fn(&BranchWay) -> Result<T, ChainError>) -> Result<T, ChainError> {
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

    fn stored_value(&self, key: &[u8]) -> Result<StoredValue, ChainError> {
        self.read(|way| match way.changes.get(key) {
            Some(change) => Ok(change.after.clone()),
            None => Ok(self.archive.store.value_after(key, way.fork)?),
        })
    }
}

fn state_error(error: ChainError) -> StateError {
    StateError::Reader(Box::new(error))
}

impl StateReader for HistoricalState {
    fn get(&self, key: &[u8]) -> Result<Option<Bytes>, StateError> {
        let value = self.stored_value(key).map_err(state_error)?;
        self.archive.store.load(&value).map_err(|error| state_error(error.into()))
    }

    fn length_and_hash(&self, key: &[u8]) -> Result<Option<(usize, rhizome_primitives::B256)>, StateError> {
        Ok(self.stored_value(key).map_err(state_error)?.length_and_hash())
    }

    fn visit_keys(&self, prefix: &[u8], visit: &mut dyn FnMut(&[u8]) -> ControlFlow<()>) -> Result<(), StateError> {
        let keys = self.read(|way| {
            let branch = way.changes.below(prefix);
            let branch: BTreeMap<&[u8], bool> = branch.map(|(key, change)| (key, !change.after.is_absent())).collect();
            let mut keys: Vec<Box<[u8]>> = Vec::new();
            self.archive.store.visit_keys_after(prefix, way.fork, |key| {
                if !branch.contains_key(key) {
                    keys.push(key.into());
                }
                ControlFlow::Continue(())
            })?;
            keys.extend(branch.iter().filter(|(_, has_value)| **has_value).map(|(key, _)| Box::from(*key)));
            Ok(keys)
        });
        for key in keys.map_err(state_error)? {
            if visit(&key).is_break() {
                break;
            }
        }
        Ok(())
    }
}
