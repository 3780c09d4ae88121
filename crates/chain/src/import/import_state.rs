//! The state of the head, as the writer keeps it from block to block: its trie, and the values that were read lately.

use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use quick_cache::Weighter;
use quick_cache::sync::Cache;
use rhizome_primitives::{B256, Bytes, keccak256};
use rhizome_storage::Store;
use rhizome_trie::{NodeSource, SourceError, StateDelta, StateError, StateReader, Trie};

/// What a loaded node takes, roughly, in bytes.
const NODE_BYTES: usize = 256;
/// Levels that stay loaded when the trie is trimmed: up to 2^16 nodes.
const TRIM_LEVELS: usize = 16;
/// Values of the state that stay in memory, as a share of what nodes may take.
const VALUES_SHARE: usize = 4;
/// What a value takes besides its bytes, roughly: its key and its places in the cache.
const VALUE_BYTES: usize = 160;

/// What only the writer touches.
pub(crate) struct ImportState {
    trie: Trie,
    source: Arc<CountingSource>,
    /// Loaded nodes at which it is trimmed.
    budget: usize,
    values: Arc<Values>,
}

/// What is known of the keys of the state.
type Values = Cache<Vec<u8>, CachedValue, CachedValueWeight>;

#[derive(Clone)]
enum CachedValue {
    /// None for a key without one.
    Value(Option<Bytes>),
    /// Of code, which is asked for at each call, while its bytes are kept elsewhere.
    LengthAndHash(usize, B256),
}

#[derive(Clone)]
struct CachedValueWeight;

impl Weighter<Vec<u8>, CachedValue> for CachedValueWeight {
    fn weight(&self, _key: &Vec<u8>, known: &CachedValue) -> u64 {
        let bytes = match known {
            CachedValue::Value(Some(value)) => value.len(),
            CachedValue::Value(None) | CachedValue::LengthAndHash(..) => 0,
        };
        (VALUE_BYTES + bytes) as u64
    }
}

impl Drop for ImportState {
    /// On another thread: there may be a million nodes and values.
    fn drop(&mut self) {
        self.take_trie().drop_in_background();
        let values = mem::replace(&mut self.values, Arc::new(empty_cache(0)));
        rayon::spawn(move || drop(values));
    }
}

fn empty_cache(bytes: usize) -> Values {
    Cache::with_weighter(bytes / VALUE_BYTES, bytes as u64, CachedValueWeight)
}

impl ImportState {
    /// On the state with this root. Nodes stay in memory up to about `memory_bytes`.
    pub(crate) fn open(root: B256, store: &Arc<Store>, memory_bytes: usize) -> Self {
        let source = Arc::new(CountingSource { store: Arc::clone(store), loads: AtomicUsize::new(0) });
        let trie = Trie::open(root, Arc::clone(&source) as _);
        let values = Arc::new(empty_cache(memory_bytes / VALUES_SHARE));
        Self { trie, source, budget: memory_bytes / NODE_BYTES, values }
    }

    /// The state of the head.
    pub(crate) fn trie(&self) -> &Trie {
        &self.trie
    }

    /// The state after the last block for the writer's own reads, until the next change. `behind` is what the head on disk
    /// still lacks of it, oldest first; it deletes no account.
    pub(crate) fn state(&self, behind: impl IntoIterator<Item = Arc<StateDelta>>) -> Arc<dyn StateReader> {
        let (values, store) = (Arc::clone(&self.values), Arc::clone(&self.source.store));
        Arc::new(ImportStateReader { values, behind: behind.into_iter().collect(), store })
    }

    /// Gives the state of the head away to be changed: what nobody else holds is changed in place. If nothing becomes of
    /// the change, its nodes are loaded again.
    pub(crate) fn take_trie(&mut self) -> Trie {
        let unchanged = self.trie_at(self.trie.root_hash());
        mem::replace(&mut self.trie, unchanged)
    }

    /// Takes back the trie that was given away, after as many blocks as the values have gone on.
    pub(crate) fn put_trie(&mut self, trie: Trie) {
        self.trie = trie;
    }

    /// Another state, which may become that of the head.
    pub(crate) fn trie_at(&self, root: B256) -> Trie {
        Trie::open(root, Arc::clone(&self.source) as _)
    }

    /// Goes on to the state after another block. `flat` is the difference between both.
    pub(crate) fn advance(&mut self, trie: Trie, flat: &StateDelta) {
        self.trie = trie;
        self.advance_values(flat);
    }

    /// Goes on to the state after another block, whose trie is not made yet.
    pub(crate) fn advance_values(&mut self, flat: &StateDelta) {
        if !flat.wiped.is_empty() {
            self.values.clear();
        }
        for (key, value) in &flat.writes {
            self.values.insert(key.clone(), CachedValue::Value(written(value)));
        }
    }

    /// Goes back to the state with this root, which is that of the head, after a block could not be written.
    pub(crate) fn reopen(&mut self, root: B256) {
        self.trie = self.trie_at(root);
        self.values.clear();
    }

    /// Whether so many nodes are in memory that the trie should be trimmed, which has made `made` of them.
    pub(crate) fn is_full(&self, made: usize) -> bool {
        self.source.loads.load(Ordering::Relaxed).saturating_add(made) > self.budget
    }

    /// Forgets all nodes but those near the root. All must be on disk.
    pub(crate) fn trim(&mut self) {
        self.trie = self.trie.trimmed(TRIM_LEVELS);
        self.source.loads.store(0, Ordering::Relaxed);
    }
}

/// A key without a value and one with an empty value are the same.
fn written(value: &Option<Bytes>) -> Option<Bytes> {
    value.clone().filter(|value| !value.is_empty())
}

/// What the writer keeps in memory, in front of the rows of the head on disk, which nobody changes but itself.
struct ImportStateReader {
    values: Arc<Values>,
    behind: Vec<Arc<StateDelta>>,
    store: Arc<Store>,
}

impl ImportStateReader {
    /// A value that the head on disk lacks.
    fn behind(&self, key: &[u8]) -> Option<Option<Bytes>> {
        self.behind.iter().rev().find_map(|delta| delta.writes.get(key)).map(written)
    }
}

impl StateReader for ImportStateReader {
    fn get(&self, key: &[u8]) -> Result<Option<Bytes>, StateError> {
        let known = self.values.get(key);
        if let Some(CachedValue::Value(value)) = known {
            return Ok(value);
        }
        let value = match self.behind(key) {
            Some(value) => value,
            None => self.store.flat_get(key).map_err(|error| StateError::Reader(Box::new(error)))?,
        };
        if known.is_none() {
            self.values.insert(key.to_vec(), CachedValue::Value(value.clone()));
        }
        Ok(value)
    }

    fn length_and_hash(&self, key: &[u8]) -> Result<Option<(usize, B256)>, StateError> {
        let value = match self.values.get(key) {
            Some(CachedValue::LengthAndHash(length, hash)) => return Ok(Some((length, hash))),
            Some(CachedValue::Value(value)) => Some(value),
            None => self.behind(key),
        };
        let found = match value {
            Some(value) => value.map(|value| (value.len(), keccak256(&value))),
            None => self.store.flat_length_and_hash(key).map_err(|error| StateError::Reader(Box::new(error)))?,
        };
        let known = found.map_or(CachedValue::Value(None), |(length, hash)| CachedValue::LengthAndHash(length, hash));
        self.values.insert(key.to_vec(), known);
        Ok(found)
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
