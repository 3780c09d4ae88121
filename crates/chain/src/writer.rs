//! The state trie of the head, as the writer keeps it from block to block.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rhizome_primitives::{B256, Bytes};
use rhizome_storage::Store;
use rhizome_trie::{NodeSource, SourceError, Trie};

/// What a loaded node takes, roughly, in bytes.
const NODE_BYTES: usize = 256;
/// Nodes that a changed key leaves in memory, roughly: its own, and at times one where a path was split.
const NODES_A_KEY: usize = 2;
/// Levels that stay loaded when the trie is trimmed: up to 2^16 nodes.
const TRIM_LEVELS: usize = 16;

/// What only the writer touches.
pub(crate) struct Writer {
    trie: Trie,
    source: Arc<CountingSource>,
    /// Keys changed since the trie was trimmed.
    changed_keys: usize,
    /// Loaded nodes at which it is trimmed.
    budget: usize,
}

impl Writer {
    /// On the state with this root. Nodes stay in memory up to about `memory_bytes`.
    pub(crate) fn open(root: B256, store: &Arc<Store>, memory_bytes: usize) -> Self {
        let source = Arc::new(CountingSource { store: Arc::clone(store), loads: AtomicUsize::new(0) });
        let trie = Trie::open(root, Arc::clone(&source) as _);
        Self { trie, source, changed_keys: 0, budget: memory_bytes / NODE_BYTES }
    }

    /// The state of the head.
    pub(crate) fn trie(&self) -> &Trie {
        &self.trie
    }

    /// Another state, which may become that of the head.
    pub(crate) fn trie_at(&self, root: B256) -> Trie {
        Trie::open(root, Arc::clone(&self.source) as _)
    }

    /// Goes on to the state of another head, whose nodes are on disk. Forgets nodes when there are too many.
    pub(crate) fn advance(&mut self, trie: Trie, changed_keys: usize) {
        self.trie = trie;
        self.changed_keys = self.changed_keys.saturating_add(changed_keys);
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
