use std::sync::Arc;

use rhizome_primitives::{B256, Bytes};
use rhizome_trie::{NodeSource, SourceError};

use crate::Store;

/// The nodes of a store for tries that only read: most ways from a root to a leaf begin alike, in this state and in the
/// next. The writer keeps its own trie in memory and reads past the cache.
pub struct CachedNodes(Arc<Store>);

impl CachedNodes {
    /// Reads from `store`, with the cache that it has.
    pub fn new(store: &Arc<Store>) -> Self {
        Self(Arc::clone(store))
    }
}

impl NodeSource for CachedNodes {
    fn get(&self, hash: &B256) -> Result<Option<Bytes>, SourceError> {
        self.0.cached_node(hash).map_err(|error| SourceError { hash: *hash, reason: Box::new(error) })
    }
}
