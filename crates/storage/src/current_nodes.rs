use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use rhizome_primitives::{B256, Bytes, keccak256, keccak256_all};
use rhizome_trie::{NodePosition, NodeRows, NodeSource, SourceError, yield_processor};
use rocksdb::WriteBatch;

use crate::columns::{FLUSHED_KEY, META, TRIE};
use crate::database::Database;
use crate::record::FlushedTrie;
use crate::{StorageError, Store};

/// Most bytes of a row in a batch besides key and value: its kind, its column, and two lengths below 2 MiB.
const BATCH_ENTRY_BYTES: usize = 8;

/// Threads that read the rows of many nodes at once: each waits for the disk most of the time if the trie is larger than the memory.
/// An import in 512 MB took 51.6 s with one thread, 31.3 s with 8, 32.3 s with 16 (400 blocks of 818 new entries at 4.7 million).
const READING_THREADS: usize = 8;
/// Fewer rows are read by the thread that needs them.
const LEAST_PARALLEL_ROWS: usize = 32;
/// Fewest rows for a thread.
const LEAST_SHARE: usize = 16;

/// The current trie nodes of a store, by position. A node that was replaced by a later flush is missing: its trie has to be derived
/// again from that of the head.
pub struct CurrentNodes {
    store: Arc<Store>,
    loads: AtomicUsize,
}

/// The threads that read the rows of many nodes at once, for all readers of a store.
#[derive(Default)]
pub(crate) struct NodeReaders {
    /// Started by the first read of many rows; `None` if the system refuses threads.
    threads: OnceLock<Option<ThreadPool>>,
}

impl NodeReaders {
    /// Returns the rows of nodes, in the order of their keys.
    fn rows(&self, database: &Database, keys: &[Vec<u8>]) -> Result<Vec<Option<Bytes>>, StorageError> {
        let threads = (keys.len() >= LEAST_PARALLEL_ROWS).then(|| self.threads.get_or_init(reading_threads).as_ref());
        let Some(threads) = threads.flatten() else { return database.rows(TRIE, keys) };
        let share = keys.len().div_ceil(READING_THREADS).max(LEAST_SHARE);
        let read = || keys.par_chunks(share).map(|keys| database.rows(TRIE, keys)).collect::<Result<Vec<_>, _>>();
        Ok(threads.install(read)?.into_iter().flatten().collect())
    }
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
        let rows = self.store.node_readers.rows(&self.store.database, &keys);
        let rows = rows.map_err(|error| SourceError { hash: *first, reason: Box::new(error) })?;
        let messages: Vec<Bytes> = rows.into_iter().map(Option::unwrap_or_default).collect();
        let hashes = keccak256_all(&messages);
        let checked = wanted.iter().zip(hashes).zip(messages);
        Ok(checked.map(|(((_, hash), found), message)| (found == *hash).then_some(message)).collect())
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

fn reading_threads() -> Option<ThreadPool> {
    let builder = ThreadPoolBuilder::new().num_threads(READING_THREADS);
    builder.thread_name(|number| format!("read-nodes-{number}")).build().ok()
}

/// Moves the column of current nodes to the trie of a block.
pub(crate) fn add_flush_to_batch(
    database: &Database,
    batch: &mut WriteBatch,
    rows: NodeRows,
    flushed: FlushedTrie,
) -> Result<(), StorageError> {
    let engine = database.engine()?;
    let column = engine.column(TRIE)?;
    for (position, message) in rows {
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
    let bytes =
        |(position, message): &(Vec<u8>, Option<Vec<u8>>)| position.len() + message.as_ref().map_or(0, Vec::len);
    rows.iter().map(|row| BATCH_ENTRY_BYTES + bytes(row)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ChainIdentity, NodeVersions, StoreOptions};

    fn store() -> Arc<Store> {
        let identity = ChainIdentity { chain_id: 33, genesis: B256::repeat_byte(1) };
        let options = StoreOptions { node_versions: NodeVersions::Current, ..StoreOptions::default() };
        Arc::new(Store::open_temporary(&identity, &options).unwrap())
    }

    #[test]
    fn rows_that_several_threads_read_are_in_the_order_of_their_keys() {
        let store = store();
        let key = |number: u16| number.to_be_bytes().to_vec();
        let rows = (0..1000).filter(|number| number % 3 > 0).map(|number| (key(number), Some(vec![number as u8; 90])));
        store.flush_trie(rows.collect(), FlushedTrie { number: 1, hash: B256::ZERO, root: B256::ZERO }).unwrap();
        for count in [1, 31, 32, 33, 1000] {
            let keys: Vec<_> = (0..count).map(key).collect();
            let read = store.node_readers.rows(&store.database, &keys).unwrap();
            let expected = (0..count).map(|number| (number % 3 > 0).then(|| Bytes::from(vec![number as u8; 90])));
            assert!(read.into_iter().eq(expected), "{count}");
        }
    }

    #[test]
    fn a_batch_has_room_for_a_flush() {
        let store = store();
        let rows = |length: usize| -> NodeRows {
            let row = |number: u32| (number.to_be_bytes().to_vec(), (number > 0).then(|| vec![7; length]));
            (0..100).map(row).collect()
        };
        for rows in [rows(0), rows(100), rows(30_000)] {
            let bytes = flush_bytes(&rows);
            let mut batch = WriteBatch::default();
            let flushed = FlushedTrie { number: 1, hash: B256::ZERO, root: B256::ZERO };
            add_flush_to_batch(&store.database, &mut batch, rows, flushed).unwrap();
            // The batch has a header, and a row that names the block.
            let size = batch.size_in_bytes();
            assert!(size <= bytes + 256 && bytes <= size + 100 * BATCH_ENTRY_BYTES, "{bytes} for {size}");
        }
    }
}
