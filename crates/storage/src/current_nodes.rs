use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

use rhizome_primitives::{B256, Bytes, keccak256_all, keccak256_uncached};
use rhizome_trie::{NodePosition, NodeRows, NodeSource, SourceError, SourceNode, WantedNode, yield_processor};
use rocksdb::WriteBatch;

use crate::columns::{FLUSHED_KEY, META, TRIE};
use crate::database::Database;
use crate::record::FlushedTrie;
use crate::{StorageError, Store};

/// Most bytes of a row in a batch besides key and value: its kind, its column, and two lengths below 2 MiB.
const BATCH_ENTRY_BYTES: usize = 8;

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

    /// Returns a node that only a long branch has.
    fn branch_node(&self, wanted: &WantedNode<'_>) -> Result<Option<SourceNode>, SourceError> {
        let Some(overlay) = self.store.branch.read().as_ref().and_then(Weak::upgrade) else { return Ok(None) };
        let found = overlay.node(wanted.position);
        let found = found.map_err(|error| SourceError { hash: wanted.hash, reason: Box::new(error) })?;
        Ok(found.filter(|message| keccak256_uncached(message) == wanted.hash).map(SourceNode::from))
    }
}

impl NodeSource for CurrentNodes {
    fn get(&self, hash: &B256) -> Result<Option<Bytes>, SourceError> {
        self.store.cached_by_hash(hash).map_err(|error| SourceError { hash: *hash, reason: Box::new(error) })
    }

    fn node(&self, wanted: &WantedNode<'_>) -> Result<Option<SourceNode>, SourceError> {
        self.loads.fetch_add(1, Ordering::Relaxed);
        let read =
            |row: Option<&[u8]>| row.filter(|row| keccak256_uncached(row) == wanted.hash).map(Bytes::copy_from_slice);
        let found = self.store.database.with_row(TRIE, &wanted.position.row_key(), read);
        let found = found.map_err(|error| SourceError { hash: wanted.hash, reason: Box::new(error) })?;
        found.map_or_else(|| self.branch_node(wanted), |message| Ok(Some(message.into())))
    }

    fn nodes(&self, wanted: &[WantedNode<'_>]) -> Result<Vec<Option<SourceNode>>, SourceError> {
        let Some(first) = wanted.first() else { return Ok(Vec::new()) };
        self.loads.fetch_add(wanted.len(), Ordering::Relaxed);
        let keys: Vec<_> = wanted.iter().map(|wanted| wanted.position.row_key()).collect();
        let rows = self.store.database.rows(TRIE, &keys);
        let rows = rows.map_err(|error| SourceError { hash: first.hash, reason: Box::new(error) })?;
        let messages: Vec<Bytes> = rows.into_iter().map(Option::unwrap_or_default).collect();
        let hashes = keccak256_all(&messages);
        let checked = wanted.iter().zip(hashes).zip(messages);
        let nodes = checked.map(|((wanted, found), message)| match found == wanted.hash {
            true => Ok(Some(message.into())),
            false => self.branch_node(wanted),
        });
        nodes.collect()
    }

    fn nodes_below(&self, position: NodePosition<'_>, wanted: &B256) -> Result<Vec<Bytes>, SourceError> {
        let (start, end) = position.row_keys_below();
        let mut rows = Vec::new();
        let visited = self.store.database.visit_until(TRIE, &start, end, |_, message| {
            yield_processor();
            rows.push(Bytes::copy_from_slice(message));
            Ok(())
        });
        visited.map_err(|error| SourceError { hash: *wanted, reason: Box::new(error) })?;
        self.loads.fetch_add(rows.len(), Ordering::Relaxed);
        Ok(rows)
    }
}

/// Moves the column of current nodes to the trie of a block.
pub(crate) fn add_flush_to_batch(
    database: &Database,
    batch: &mut WriteBatch,
    rows: &NodeRows,
    flushed: FlushedTrie,
) -> Result<(), StorageError> {
    let engine = database.engine()?;
    let column = engine.column(TRIE)?;
    for (position, message) in rows.iter() {
        match message {
            Some(message) => batch.put_cf(column, position, message),
            None => batch.delete_cf(column, position),
        }
    }
    batch.put_cf(engine.column(META)?, FLUSHED_KEY, flushed.encode());
    Ok(())
}

/// Returns the size of the rows of a flush in a batch. Those of 32,768 changed keys take 40 MB, so that a batch that grows to it
/// takes 60 MB meanwhile.
pub(crate) fn flush_bytes(rows: &NodeRows) -> usize {
    rows.bytes().saturating_add(rows.len() * BATCH_ENTRY_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ChainIdentity, NodeVersions, StoreOptions};

    #[test]
    fn a_batch_has_room_for_a_flush() {
        let identity = ChainIdentity { chain_id: 33, genesis: B256::repeat_byte(1) };
        let options = StoreOptions { node_versions: NodeVersions::Current, ..StoreOptions::default() };
        let store = Store::open_temporary(&identity, &options).unwrap();
        let rows = |length: usize| -> NodeRows {
            let message = vec![7; length];
            let mut rows = NodeRows::default();
            (0..100_u32).for_each(|number| rows.push(&number.to_be_bytes(), (number > 0).then_some(&message)));
            rows
        };
        for rows in [rows(0), rows(100), rows(30_000)] {
            let bytes = flush_bytes(&rows);
            let mut batch = WriteBatch::default();
            let flushed = FlushedTrie { number: 1, hash: B256::ZERO, root: B256::ZERO };
            add_flush_to_batch(&store.database, &mut batch, &rows, flushed).unwrap();
            // The batch has a header, and a row that names the block.
            let size = batch.size_in_bytes();
            assert!(size <= bytes + 256 && bytes <= size + 100 * BATCH_ENTRY_BYTES, "{bytes} for {size}");
        }
    }
}
