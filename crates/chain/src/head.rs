pub(crate) mod branch_change;
pub(crate) mod fork_choice;
pub(crate) mod publisher;

use std::ops::ControlFlow;
use std::sync::Arc;

use rhizome_primitives::{B256, Bytes};
use rhizome_storage::Store;
use rhizome_trie::{StateError, StateReader};

use crate::archive::Archive;
use crate::archive::derived_trie::TrieSnapshot;
use crate::archive::historical_state::HistoricalState;
use crate::archive::record::BlockRecord;

/// The best block at one moment. Immutable: it always shows the same block and state, also after the importer has moved on.
pub struct Head {
    /// The block.
    pub record: Arc<BlockRecord>,
    /// Generation of the flat state that belongs to it.
    pub generation: u64,
    state: Arc<HeadStateReader>,
    snapshot: Arc<TrieSnapshot>,
}

impl Head {
    /// `snapshot`: the trie after the block or after one shortly before it.
    pub(crate) fn new(
        record: Arc<BlockRecord>,
        generation: u64,
        archive: &Arc<Archive>,
        snapshot: Arc<TrieSnapshot>,
    ) -> Self {
        let later = HistoricalState::new(Arc::clone(archive), &record);
        let state = Arc::new(HeadStateReader { store: Arc::clone(&archive.store), generation, later });
        Self { record, generation, state, snapshot }
    }

    /// Returns the trie from which those of this block and of other recent ones are derived.
    pub(crate) fn snapshot(&self) -> &TrieSnapshot {
        &self.snapshot
    }

    /// Returns the number of the block.
    pub fn number(&self) -> u64 {
        self.record.number()
    }

    /// Returns the hash of the block.
    pub fn hash(&self) -> B256 {
        self.record.hash
    }

    /// Whether no change of the flat state or of the best chain has begun since this became the head. Data of the best chain that
    /// was read before this returns true belongs to this head.
    pub fn is_current(&self) -> bool {
        self.state.is_current()
    }

    /// Returns the state after the block: one look-up per value while this is the head, history afterwards.
    pub fn state(&self) -> Arc<dyn StateReader> {
        Arc::clone(&self.state) as _
    }
}

/// Reads flat rows while they belong to its block. The importer raises the generation before it changes a row, so a value is right
/// if the generation is the same after the read. Otherwise the history is read.
struct HeadStateReader {
    store: Arc<Store>,
    generation: u64,
    later: HistoricalState,
}

impl HeadStateReader {
    fn is_current(&self) -> bool {
        self.store.generation() == self.generation
    }
}

impl StateReader for HeadStateReader {
    fn get(&self, key: &[u8]) -> Result<Option<Bytes>, StateError> {
        if self.is_current() {
            let value = self.store.flat_get(key).map_err(|error| StateError::Reader(Box::new(error)))?;
            if self.is_current() {
                return Ok(value);
            }
        }
        self.later.get(key)
    }

    fn length_and_hash(&self, key: &[u8]) -> Result<Option<(usize, B256)>, StateError> {
        if self.is_current() {
            let found = self.store.flat_length_and_hash(key).map_err(|error| StateError::Reader(Box::new(error)))?;
            if self.is_current() {
                return Ok(found);
            }
        }
        self.later.length_and_hash(key)
    }

    fn visit_keys(&self, prefix: &[u8], visit: &mut dyn FnMut(&[u8]) -> ControlFlow<()>) -> Result<(), StateError> {
        self.later.visit_keys(prefix, visit)
    }
}
