use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rhizome_primitives::{B256, Bytes, keccak256, keccak256_all};
use rhizome_trie::{NodePosition, NodeSource, SourceError};

use crate::Store;
use crate::columns::TRIE;

/// The current trie nodes of a store, by position. A node that was replaced by a later flush is missing: its trie has to be derived
/// again from that of the head.
pub struct CurrentNodes {
    store: Arc<Store>,
    loads: AtomicUsize,
}

impl CurrentNodes {
    /// Creates a source that reads from `store`.
    pub fn new(store: &Arc<Store>) -> Self {
        Self { store: Arc::clone(store), loads: AtomicUsize::new(0) }
    }

    /// Returns the number of loaded nodes since the last reset.
    pub fn loads(&self) -> &AtomicUsize {
        &self.loads
    }
}

impl NodeSource for CurrentNodes {
    fn get(&self, hash: &B256) -> Result<Option<Bytes>, SourceError> {
        self.store.cached_node(hash).map_err(|error| SourceError { hash: *hash, reason: Box::new(error) })
    }

    fn node(&self, position: NodePosition<'_>, hash: &B256) -> Result<Option<Bytes>, SourceError> {
        self.loads.fetch_add(1, Ordering::Relaxed);
        let read = |row: Option<&[u8]>| row.filter(|row| keccak256(row) == *hash).map(Bytes::copy_from_slice);
        let found = self.store.database.with_row(TRIE, &position.row_key(), read);
        found.map_err(|error| SourceError { hash: *hash, reason: Box::new(error) })
    }

    fn nodes(&self, wanted: &[(NodePosition<'_>, B256)]) -> Result<Vec<Option<Bytes>>, SourceError> {
        let Some((_, first)) = wanted.first() else { return Ok(Vec::new()) };
        self.loads.fetch_add(wanted.len(), Ordering::Relaxed);
        let keys: Vec<_> = wanted.iter().map(|(position, _)| position.row_key()).collect();
        let rows = self.store.database.rows(TRIE, &keys);
        let rows = rows.map_err(|error| SourceError { hash: *first, reason: Box::new(error) })?;
        let messages: Vec<Bytes> = rows.into_iter().map(Option::unwrap_or_default).collect();
        let hashes = keccak256_all(&messages);
        let checked = wanted.iter().zip(hashes).zip(messages);
        Ok(checked.map(|(((_, hash), found), message)| (found == *hash).then_some(message)).collect())
    }
}
