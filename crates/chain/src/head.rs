pub(crate) mod branch_change;
pub(crate) mod fork_choice;

use std::ops::ControlFlow;
use std::sync::Arc;

use rhizome_primitives::{B256, Bytes};
use rhizome_storage::{CachedNodes, Store};
use rhizome_trie::{StateError, StateReader, Trie};

use crate::BlockRecord;

/// The best block at one moment. Immutable: whoever holds it goes on reading the same block and state, whatever the
/// writer does.
pub struct Head {
    /// The block.
    pub record: Arc<BlockRecord>,
    /// Generation of the flat state that belongs to it.
    pub generation: u64,
    state: Arc<HeadStateReader>,
}

impl Head {
    pub(crate) fn new(record: Arc<BlockRecord>, generation: u64, store: &Arc<Store>) -> Self {
        let trie = Trie::open(record.state_root, Arc::new(CachedNodes::new(store)));
        let state = Arc::new(HeadStateReader { store: Arc::clone(store), generation, trie });
        Self { record, generation, state }
    }

    /// Number of the block.
    pub fn number(&self) -> u64 {
        self.record.number()
    }

    /// Hash of the block.
    pub fn hash(&self) -> B256 {
        self.record.hash
    }

    /// Whether nothing has begun to change the flat state or the best chain since this became the head: what was read of
    /// the best chain before this says so is that of this head.
    pub fn is_current(&self) -> bool {
        self.state.is_current()
    }

    /// The state after the block: one look-up a value while this is the head, the trie afterwards.
    pub fn state(&self) -> Arc<dyn StateReader> {
        Arc::clone(&self.state) as _
    }
}

/// Reads flat rows as long as they are those of its block. The writer raises the generation before it changes a row, so
/// a value is right when the generation has not moved after it was read; otherwise the trie is asked.
struct HeadStateReader {
    store: Arc<Store>,
    generation: u64,
    trie: Trie,
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
        StateReader::get(&self.trie, key)
    }

    fn length_and_hash(&self, key: &[u8]) -> Result<Option<(usize, B256)>, StateError> {
        if self.is_current() {
            let found = self.store.flat_length_and_hash(key).map_err(|error| StateError::Reader(Box::new(error)))?;
            if self.is_current() {
                return Ok(found);
            }
        }
        self.trie.length_and_hash(key)
    }

    fn visit_keys(&self, prefix: &[u8], visit: &mut dyn FnMut(&[u8]) -> ControlFlow<()>) -> Result<(), StateError> {
        self.trie.visit_keys(prefix, visit)
    }
}
