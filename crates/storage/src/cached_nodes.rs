use std::sync::Arc;

use rhizome_primitives::{B256, Bytes};
use rhizome_trie::{NodeSource, SourceError, SourceNode, WantedNode};

use crate::Store;

/// Trie nodes of a store, read through its node cache; for tries that only read.
///
/// The upper part of the trie is shared by most paths and by consecutive states, so the same nodes are read often. The
/// writer keeps its own trie in memory and bypasses this cache.
pub struct CachedNodes(Arc<Store>);

impl CachedNodes {
    /// Creates a source that reads from `store`.
    pub fn new(store: &Arc<Store>) -> Self {
        Self(Arc::clone(store))
    }
}

impl NodeSource for CachedNodes {
    fn get(&self, hash: &B256) -> Result<Option<Bytes>, SourceError> {
        self.0.cached_by_hash(hash).map_err(|error| SourceError { hash: *hash, reason: Box::new(error) })
    }

    fn node(&self, wanted: &WantedNode<'_>) -> Result<Option<SourceNode>, SourceError> {
        self.0.cached_node(wanted).map_err(|error| SourceError { hash: wanted.hash, reason: Box::new(error) })
    }

    fn nodes(&self, wanted: &[WantedNode<'_>]) -> Result<Vec<Option<SourceNode>>, SourceError> {
        let Some(first) = wanted.first() else { return Ok(Vec::new()) };
        self.0.cached_nodes(wanted).map_err(|error| SourceError { hash: first.hash, reason: Box::new(error) })
    }
}
