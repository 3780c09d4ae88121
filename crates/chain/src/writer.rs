//! The state of the head, as the writer keeps it from block to block: its trie, and the values that were read lately.

use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use quick_cache::Weighter;
use quick_cache::sync::Cache;
use rhizome_primitives::{B256, Bytes};
use rhizome_storage::Store;
use rhizome_trie::{NodeSource, SourceError, StateDelta, StateError, StateReader, Trie};

use crate::head::Head;

/// What a loaded node takes, roughly, in bytes.
const NODE_BYTES: usize = 256;
/// Nodes that a changed key leaves in memory, roughly: its own, and at times one where a path was split.
const NODES_A_KEY: usize = 2;
/// Levels that stay loaded when the trie is trimmed: up to 2^16 nodes.
const TRIM_LEVELS: usize = 16;
/// Values of the state that stay in memory, as a share of what nodes may take.
const VALUES_SHARE: usize = 4;
/// What a value takes besides its bytes, roughly: its key and its places in the cache.
const VALUE_BYTES: usize = 160;

/// What only the writer touches.
pub(crate) struct Writer {
    trie: Trie,
    source: Arc<CountingSource>,
    /// Keys changed since the trie was trimmed.
    changed_keys: usize,
    /// Loaded nodes at which it is trimmed.
    budget: usize,
    values: Arc<Values>,
}

/// Values of the head's state by their keys; None for a key without one.
type Values = Cache<Vec<u8>, Option<Bytes>, ValueWeight>;

#[derive(Clone)]
struct ValueWeight;

impl Weighter<Vec<u8>, Option<Bytes>> for ValueWeight {
    fn weight(&self, _key: &Vec<u8>, value: &Option<Bytes>) -> u64 {
        (VALUE_BYTES + value.as_ref().map_or(0, |value| value.len())) as u64
    }
}

impl Writer {
    /// On the state with this root. Nodes stay in memory up to about `memory_bytes`.
    pub(crate) fn open(root: B256, store: &Arc<Store>, memory_bytes: usize) -> Self {
        let source = Arc::new(CountingSource { store: Arc::clone(store), loads: AtomicUsize::new(0) });
        let trie = Trie::open(root, Arc::clone(&source) as _);
        let value_bytes = memory_bytes / VALUES_SHARE;
        let values = Cache::with_weighter(value_bytes / VALUE_BYTES, value_bytes as u64, ValueWeight);
        Self { trie, source, changed_keys: 0, budget: memory_bytes / NODE_BYTES, values: Arc::new(values) }
    }

    /// The state of the head.
    pub(crate) fn trie(&self) -> &Trie {
        &self.trie
    }

    /// The state of the head for the writer's own reads. Must not be used any more once the head has changed.
    pub(crate) fn state_of(&self, head: &Head) -> Arc<dyn StateReader> {
        Arc::new(WriterState { values: Arc::clone(&self.values), state: head.state() })
    }

    /// Gives the state of the head away to be changed: what nobody else holds is changed in place. If nothing becomes of
    /// the change, its nodes are loaded again.
    pub(crate) fn take_trie(&mut self) -> Trie {
        let unchanged = self.trie_at(self.trie.root_hash());
        mem::replace(&mut self.trie, unchanged)
    }

    /// Another state, which may become that of the head.
    pub(crate) fn trie_at(&self, root: B256) -> Trie {
        Trie::open(root, Arc::clone(&self.source) as _)
    }

    /// Goes on to the state of another head, whose nodes are on disk. Forgets nodes when there are too many.
    /// `flat` is the difference between both.
    pub(crate) fn advance(&mut self, trie: Trie, flat: &StateDelta) {
        self.trie = trie;
        self.changed_keys = self.changed_keys.saturating_add(flat.writes.len());
        if !flat.wiped.is_empty() {
            self.values.clear();
        }
        for (key, value) in &flat.writes {
            self.values.insert(key.clone(), value.clone().filter(|value| !value.is_empty()));
        }
        let loads = self.source.loads.load(Ordering::Relaxed);
        if loads.saturating_add(self.changed_keys.saturating_mul(NODES_A_KEY)) > self.budget {
            self.trim();
        }
    }

    /// Forgets all nodes but those near the root.
    pub(crate) fn trim(&mut self) {
        self.trie = self.trie.trimmed(TRIM_LEVELS);
        self.source.loads.store(0, Ordering::Relaxed);
        self.changed_keys = 0;
    }
}

/// The state of the head with the writer's memory in front: it alone reads before it writes, so nobody can put an old
/// value back.
struct WriterState {
    values: Arc<Values>,
    state: Arc<dyn StateReader>,
}

impl StateReader for WriterState {
    fn get(&self, key: &[u8]) -> Result<Option<Bytes>, StateError> {
        if let Some(value) = self.values.get(key) {
            return Ok(value);
        }
        let value = self.state.get(key)?;
        self.values.insert(key.to_vec(), value.clone());
        Ok(value)
    }

    fn length_and_hash(&self, key: &[u8]) -> Result<Option<(usize, B256)>, StateError> {
        self.state.length_and_hash(key)
    }
}

/// The database, counting what is loaded from it.
struct CountingSource {
    store: Arc<Store>,
    loads: AtomicUsize,
}

impl NodeSource for CountingSource {
    fn get(&self, hash: &B256) -> Result<Option<Bytes>, SourceError> {
        self.loads.fetch_add(1, Ordering::Relaxed);
        NodeSource::get(&*self.store, hash)
    }
}
