//! The node journal: new trie nodes in front of the node files.
//!
//! A block adds thousands of nodes under random keys. Inserting each of them into a memtable of RocksDB would cost
//! more than executing the block. Instead the nodes of a block are found through a hash table in memory, and the block's batch has one
//! row of the column `packs` from which a start makes them again (`journal_rows.rs`). Once enough batches have accumulated, a
//! thread appends their nodes to the node files and deletes the rows. At any moment each node is in the files or follows from a row.
//!
//! Measured: see the head of `node_files.rs`.

use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::{io, mem, panic};

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use parking_lot::{Mutex, RwLock};
use rhizome_primitives::{B256, Bytes};
use rhizome_trie::NodeBatch;

use crate::journal_rows::JournalKey;
use crate::node_files::{NodeFileError, NodeFiles};

/// Multiple of the limit at which the writer waits for the flushing thread.
const MAX_BACKLOG: usize = 4;
/// Divisor of the limit: closing flushes a journal of at least this share, which would delay the next start.
const CLOSING_SHARE: usize = 16;

/// Node batches that are not flushed to the node files yet.
pub(crate) struct NodeJournal {
    buffers: RwLock<JournalBuffers>,
    tasks: Mutex<BackgroundTasks>,
    limit: usize,
}

#[derive(Default)]
struct JournalBuffers {
    active: JournalBuffer,
    /// Being flushed.
    sealed: Option<Arc<JournalBuffer>>,
    next_sequence: u64,
}

#[derive(Default)]
struct JournalBuffer {
    batches: Vec<JournalBatch>,
    index: HashTable<JournalPosition>,
    bytes: usize,
}

struct JournalBatch {
    key: JournalKey,
    nodes: NodeBatch,
}

/// Position of a node in a journal buffer.
#[derive(Clone, Copy)]
struct JournalPosition {
    batch: u32,
    node: u32,
}

impl JournalBuffers {
    fn add(&mut self, key: JournalKey, nodes: NodeBatch) {
        self.next_sequence = key.sequence.saturating_add(1);
        self.active.add(key, nodes);
    }
}

impl JournalBuffer {
    fn add(&mut self, key: JournalKey, nodes: NodeBatch) {
        // Both counts stay far below 2^32.
        let batch = self.batches.len() as u32;
        self.bytes += nodes.bytes();
        self.batches.push(JournalBatch { key, nodes });
        let Self { batches, index, .. } = self;
        let hashes = batches.last().map(|batch| batch.nodes.hashes()).unwrap_or_default();
        for (hash, node) in hashes.iter().zip(0..) {
            let is_same = |position: &JournalPosition| hash_at(batches, *position) == Some(hash);
            let hash_of = |position: &JournalPosition| hash_at(batches, *position).map_or(0, hash_prefix);
            if let Entry::Vacant(position) = index.entry(hash_prefix(hash), is_same, hash_of) {
                position.insert(JournalPosition { batch, node });
            }
        }
    }

    fn find(&self, hash: &B256) -> Option<&[u8]> {
        let position =
            self.index.find(hash_prefix(hash), |position| hash_at(&self.batches, *position) == Some(hash))?;
        Some(self.batches.get(position.batch as usize)?.nodes.get(position.node as usize)?.message)
    }
}

fn hash_at(batches: &[JournalBatch], position: JournalPosition) -> Option<&B256> {
    batches.get(position.batch as usize)?.nodes.hashes().get(position.node as usize)
}

/// Returns the first 8 bytes of the hash. Keccak hashes are uniformly distributed, so no further hashing is needed.
fn hash_prefix(hash: &B256) -> u64 {
    hash.first_chunk().map_or(0, |bytes| u64::from_be_bytes(*bytes))
}

impl NodeJournal {
    /// Creates an empty journal that is flushed when it holds `limit` bytes.
    pub(crate) fn new(limit: usize) -> Self {
        Self { buffers: RwLock::default(), tasks: Mutex::default(), limit }
    }

    /// Restores a batch that was in the database at start. Batches are restored in order of their sequence numbers.
    pub(crate) fn restore(&self, key: JournalKey, nodes: NodeBatch) {
        self.buffers.write().add(key, nodes);
    }

    /// Returns the key of the next batch.
    pub(crate) fn next_key(&self, block: Option<(u64, B256)>) -> JournalKey {
        JournalKey { sequence: self.buffers.read().next_sequence, block }
    }

    /// Adds a batch, which is readable from then on.
    pub(crate) fn append(&self, key: JournalKey, nodes: NodeBatch) {
        self.buffers.write().add(key, nodes);
    }

    /// Returns the lowest number of a block whose changes the next start needs; `None` if it needs none.
    pub(crate) fn lowest_block(&self) -> Option<u64> {
        let buffers = self.buffers.read();
        let batches = buffers.active.batches.iter().chain(buffers.sealed.iter().flat_map(|sealed| &sealed.batches));
        batches.filter_map(|batch| Some(batch.key.block?.0)).min()
    }

    /// Moves all batches to the node files.
    pub(crate) fn flush_all(&self, files: &NodeFiles) -> Result<(), FlushError> {
        let mut tasks = self.tasks.lock();
        if let Some(flushing) = tasks.flushing.take() {
            join_task(flushing)?;
        }
        if self.seal_if_full(1) { self.flush(files) } else { Ok(()) }
    }

    /// Returns a node of the journal; it may be in the files already as well.
    pub(crate) fn find(&self, hash: &B256) -> Option<Bytes> {
        let buffers = self.buffers.read();
        let found = buffers.active.find(hash);
        let found = found.or_else(|| buffers.sealed.as_ref().and_then(|sealed| sealed.find(hash)));
        found.map(Bytes::copy_from_slice)
    }

    /// Collects the results of finished background tasks, and starts a flush or a merge if one is due. After a failure
    /// batches and segments are unchanged and the next call retries.
    pub(crate) fn poll_tasks(self: &Arc<Self>, files: &Arc<NodeFiles>) -> Result<(), FlushError> {
        let mut tasks = self.tasks.lock();
        let is_overdue = self.buffers.read().active.bytes >= self.limit.saturating_mul(MAX_BACKLOG);
        if let Some(finished) = tasks.flushing.take_if(|task| is_overdue || task.is_finished()) {
            join_task(finished)?;
        }
        if let Some(finished) = tasks.merging.take_if(|task| task.is_finished()) {
            join_task(finished)?;
        }
        if tasks.flushing.is_none() && self.seal_if_full(self.limit) {
            let (journal, files) = (Arc::clone(self), Arc::clone(files));
            tasks.flushing = Some(spawn("node-files", move || journal.flush(&files))?);
        }
        if tasks.merging.is_none() && files.can_merge() {
            let files = Arc::clone(files);
            tasks.merging = Some(spawn("node-index", move || files.merge().map_err(FlushError::Files))?);
        }
        Ok(())
    }

    /// Waits for the background tasks, and flushes a journal that is large enough to delay the next start. Errors are
    /// ignored: the batches are in the database.
    pub(crate) fn finish(&self, files: &NodeFiles) {
        let BackgroundTasks { flushing, merging } = mem::take(&mut *self.tasks.lock());
        for task in flushing.into_iter().chain(merging) {
            let _ = task.join();
        }
        if !files.is_temporary() && self.seal_if_full(self.limit / CLOSING_SHARE) {
            let _ = self.flush(files);
        }
    }

    /// Removes all batches from memory.
    pub(crate) fn clear(&self) {
        *self.buffers.write() = JournalBuffers::default();
    }

    /// Seals the active buffer if it holds at least `least` bytes. Returns true if there is a sealed buffer, including a buffer
    /// left by a failed flush.
    fn seal_if_full(&self, least: usize) -> bool {
        let mut buffers = self.buffers.write();
        if buffers.sealed.is_none() && buffers.active.bytes >= least.max(1) {
            // The next buffer will have about the same number of nodes.
            let index = HashTable::with_capacity(buffers.active.index.len());
            let active = JournalBuffer { index, ..JournalBuffer::default() };
            buffers.sealed = Some(Arc::new(mem::replace(&mut buffers.active, active)));
        }
        buffers.sealed.is_some()
    }

    fn flush(&self, files: &NodeFiles) -> Result<(), FlushError> {
        let Some(sealed) = self.buffers.read().sealed.clone() else { return Ok(()) };
        files.add(sealed.batches.iter().map(|batch| (batch.key, &batch.nodes))).map_err(FlushError::Files)?;
        // From now on these nodes are read from the files.
        self.buffers.write().sealed = None;
        Ok(())
    }
}

type BackgroundTask = JoinHandle<Result<(), FlushError>>;

/// Background tasks of the journal.
#[derive(Default)]
struct BackgroundTasks {
    flushing: Option<BackgroundTask>,
    merging: Option<BackgroundTask>,
}

fn spawn(
    name: &str,
    work: impl FnOnce() -> Result<(), FlushError> + Send + 'static,
) -> Result<BackgroundTask, FlushError> {
    thread::Builder::new().name(name.to_owned()).spawn(work).map_err(FlushError::Thread)
}

fn join_task(finished: BackgroundTask) -> Result<(), FlushError> {
    finished.join().unwrap_or_else(|panic| panic::resume_unwind(panic))
}

/// Failure of a background task.
pub(crate) enum FlushError {
    Files(NodeFileError),
    Thread(io::Error),
}

#[cfg(test)]
mod tests {
    use rhizome_primitives::keccak256;

    use super::*;

    fn nodes(range: std::ops::Range<u32>) -> Vec<(B256, Bytes)> {
        range.map(|number| number.to_be_bytes()).map(|bytes| (keccak256(bytes), bytes.to_vec().into())).collect()
    }

    #[test]
    fn nodes_of_many_batches_are_found() {
        let journal = NodeJournal::new(usize::MAX);
        for first in (0..1000).step_by(10) {
            // Neighbours overlap, so some nodes are in two batches.
            let key = journal.next_key(None);
            assert_eq!(key.sequence, u64::from(first) / 10);
            journal.append(key, nodes(first..first + 15).into_iter().collect());
        }
        for (hash, message) in nodes(0..1005) {
            assert_eq!(journal.find(&hash), Some(message));
        }
        assert_eq!(journal.find(&B256::ZERO), None);
        assert_eq!(journal.buffers.read().active.index.len(), 1005);
    }
}
