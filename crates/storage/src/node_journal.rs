//! The node journal: new trie nodes in front of the node files.
//!
//! A block adds thousands of nodes under random keys. Inserting each of them into a memtable of RocksDB would cost
//! more than executing the block. Instead the nodes of a block stay in memory, found by their places in the node files, and the block's
//! batch has one row of the column `packs` from which a start makes them again (`journal_rows.rs`). Once enough batches have accumulated,
//! a thread writes their records to the node files and deletes the rows. At any moment each node is in the files or follows from a row.
//! A start may give nodes other places than the last run: no record in the files refers to them.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::{io, mem, panic};

use parking_lot::{Mutex, RwLock};
use rhizome_primitives::B256;
use rhizome_trie::{NodeBatch, NodePlace, SourceNode, Trie, WantedNode};

use crate::journal_rows::JournalKey;
use crate::node_files::{NodeFileError, NodeFiles, is_node};

/// Multiple of the limit at which the writer waits for the flushing thread.
const MAX_BACKLOG: usize = 4;
/// Divisor of the limit: closing flushes a journal of at least this share, which would delay the next start.
const CLOSING_SHARE: usize = 16;

/// Node batches that are not flushed to the node files yet.
pub(crate) struct NodeJournal {
    buffers: RwLock<JournalBuffers>,
    /// Place of the next batch.
    next_place: Mutex<NodePlace>,
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
    /// In the order of their places. At one place, empty batches are before the one with nodes.
    batches: Vec<JournalBatch>,
    /// Places of the nodes and long values that are found by their hashes.
    named: HashMap<B256, NodePlace>,
    bytes: usize,
}

struct JournalBatch {
    key: JournalKey,
    nodes: NodeBatch,
}

impl JournalBatch {
    /// Returns the places of its first record and of its end.
    fn range(&self) -> (NodePlace, NodePlace) {
        (self.nodes.place(), self.nodes.place().after(self.nodes.records().len()))
    }
}

impl JournalBuffers {
    fn add(&mut self, key: JournalKey, nodes: NodeBatch) {
        self.next_sequence = key.sequence.saturating_add(1);
        self.active.add(key, nodes);
    }
}

impl JournalBuffer {
    fn add(&mut self, key: JournalKey, nodes: NodeBatch) {
        self.bytes += nodes.bytes();
        let place = nodes.place();
        self.named.extend(nodes.named().map(|node| (*node.hash, place.after(node.start))));
        let batch = JournalBatch { key, nodes };
        // Nearly always at the end.
        let index = self.batches.partition_point(|other| other.range() <= batch.range());
        self.batches.insert(index, batch);
    }

    fn find(&self, hash: &B256) -> Option<SourceNode> {
        self.node_at(*self.named.get(hash)?)
    }

    fn node_at(&self, place: NodePlace) -> Option<SourceNode> {
        let above = self.batches.partition_point(|batch| batch.nodes.place() <= place);
        self.batches.get(above.checked_sub(1)?)?.nodes.node_at(place)
    }
}

impl NodeJournal {
    /// Creates an empty journal in front of node files that end at a place. It is flushed when it holds `limit` bytes.
    pub(crate) fn new(end: NodePlace, limit: usize) -> Self {
        let next_place = Mutex::new(NodeFiles::next_batch(end));
        Self { buffers: RwLock::default(), next_place, tasks: Mutex::default(), limit }
    }

    /// Makes a batch at the next place, and keeps the place for it.
    pub(crate) fn place<E>(&self, make: impl FnOnce(NodePlace) -> Result<NodeBatch, E>) -> Result<NodeBatch, E> {
        let mut next = self.next_place.lock();
        let nodes = make(*next)?;
        *next = place_behind(&nodes);
        Ok(nodes)
    }

    /// Commits a trie at the next place, and keeps the place for the batch.
    pub(crate) fn commit(&self, trie: &mut Trie) -> NodeBatch {
        let Ok(nodes) = self.place(|place| Ok::<_, Infallible>(trie.commit_at(place)));
        nodes
    }

    /// Returns the key of the next batch.
    pub(crate) fn next_key(&self, block: Option<(u64, B256)>) -> JournalKey {
        JournalKey { sequence: self.buffers.read().next_sequence, block }
    }

    /// Adds a batch, which is readable from then on. One without a place gets the next one.
    pub(crate) fn append(&self, key: JournalKey, mut nodes: NodeBatch) {
        // A batch with a place does not wait for the next one, which may be in the making.
        if !nodes.place().is_known() {
            let mut next = self.next_place.lock();
            nodes.set_place(*next);
            *next = place_behind(&nodes);
        }
        self.buffers.write().add(key, nodes);
    }

    /// Returns the lowest number of a block whose changes the next start needs; `None` if it needs none.
    pub(crate) fn lowest_block(&self) -> Option<u64> {
        let buffers = self.buffers.read();
        let sealed = buffers.sealed.iter().flat_map(|sealed| &sealed.batches);
        buffers.active.batches.iter().chain(sealed).filter_map(|batch| Some(batch.key.block?.0)).min()
    }

    /// Moves all batches to the node files.
    pub(crate) fn flush_all(&self, files: &NodeFiles) -> Result<(), FlushError> {
        let mut tasks = self.tasks.lock();
        if let Some(flushing) = tasks.flushing.take() {
            join_task(flushing)?;
        }
        // Twice after a failed flush.
        while self.seal_if_full(1) {
            self.flush(files)?;
        }
        Ok(())
    }

    /// Returns a node or long value that is found by its hash, from here or from the files.
    pub(crate) fn by_hash(&self, files: &NodeFiles, hash: &B256) -> io::Result<Option<SourceNode>> {
        match self.find(hash) {
            Some(node) => Ok(Some(node)),
            None => files.get(hash),
        }
    }

    /// Returns a node from here or from the files: by its place, or by its hash if the place is unknown.
    pub(crate) fn node(&self, files: &NodeFiles, wanted: &WantedNode<'_>) -> io::Result<Option<SourceNode>> {
        if !wanted.place.is_known() {
            return self.by_hash(files, &wanted.hash);
        }
        match self.wanted_node(wanted) {
            Some(node) => Ok(Some(node)),
            None => files.node_at(wanted.place, &wanted.hash).map(Some),
        }
    }

    /// Returns the nodes with known places that need no read of the disk. Linux begins to read the others meanwhile, so that the disk has
    /// many reads at once.
    pub(crate) fn nodes_in_memory(
        &self,
        files: &NodeFiles,
        wanted: &[WantedNode<'_>],
    ) -> io::Result<Vec<Option<SourceNode>>> {
        let in_memory = |wanted: &WantedNode<'_>| {
            if !wanted.place.is_known() {
                return Ok(None);
            }
            match self.wanted_node(wanted) {
                Some(node) => Ok(Some(node)),
                None => files.node_in_memory(wanted.place, &wanted.hash),
            }
        };
        wanted.iter().map(in_memory).collect()
    }

    fn wanted_node(&self, wanted: &WantedNode<'_>) -> Option<SourceNode> {
        self.node_at(wanted.place).filter(|node| is_node(node, &wanted.hash))
    }

    /// Returns a node or long value that is found by its hash; it may be in the files already as well.
    fn find(&self, hash: &B256) -> Option<SourceNode> {
        let buffers = self.buffers.read();
        let found = buffers.active.find(hash);
        found.or_else(|| buffers.sealed.as_ref().and_then(|sealed| sealed.find(hash)))
    }

    /// Returns the node at a place if its batch is in the journal; it may be in the files already as well.
    fn node_at(&self, place: NodePlace) -> Option<SourceNode> {
        let buffers = self.buffers.read();
        let found = buffers.active.node_at(place);
        found.or_else(|| buffers.sealed.as_ref().and_then(|sealed| sealed.node_at(place)))
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
            buffers.sealed = Some(Arc::new(mem::take(&mut buffers.active)));
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

/// Returns the place of the next batch.
fn place_behind(nodes: &NodeBatch) -> NodePlace {
    NodeFiles::next_batch(nodes.place().after(nodes.records().len()))
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
    use std::sync::Arc;

    use rhizome_primitives::{Bytes, keccak256};
    use rhizome_trie::{MemoryNodes, TrieError};

    use super::*;

    fn nodes(range: std::ops::Range<u32>) -> NodeBatch {
        let messages = range.map(|number| Bytes::copy_from_slice(&number.to_be_bytes()));
        messages.map(|message| (keccak256(&message), message)).collect()
    }

    #[test]
    fn nodes_of_many_batches_are_found() {
        let journal = NodeJournal::new(NodePlace::new(1, 70), usize::MAX);
        let append = |nodes: NodeBatch| journal.append(journal.next_key(None), nodes);
        for first in (0..1000).step_by(10) {
            assert_eq!(journal.next_key(None).sequence, u64::from(first) / 5);
            // Neighbours overlap, so some nodes are in two batches.
            append(nodes(first..first + 15));
            append(NodeBatch::default());
        }
        for (hash, message) in nodes(0..1005) {
            assert_eq!(journal.find(&hash).map(|node| node.message), Some(message));
        }
        assert_eq!(journal.find(&B256::ZERO), None);
        assert_eq!(journal.buffers.read().active.named.len(), 1005);
    }

    #[test]
    fn nodes_are_found_by_their_places_in_any_order_of_the_batches() -> Result<(), TrieError> {
        let journal = NodeJournal::new(NodePlace::new(0, 0), usize::MAX);
        let mut trie = Trie::empty(Arc::new(MemoryNodes::default()));
        let mut batches = Vec::new();
        for number in 0..8_u32 {
            trie.put(keccak256(number.to_be_bytes()).as_slice(), &[7; 40])?;
            batches.push(journal.commit(&mut trie));
            // Without a change.
            batches.push(journal.commit(&mut trie));
        }
        let with_nodes = batches.iter().filter(|batch| !batch.is_empty());
        let first = |batch: &NodeBatch| batch.messages().next().map(Bytes::copy_from_slice);
        let expected: Vec<_> = with_nodes.map(|batch| (batch.place(), first(batch))).collect();
        assert_eq!(expected.len(), 8);
        while !batches.is_empty() {
            let batch = batches.swap_remove(batches.len() / 2);
            journal.append(journal.next_key(None), batch);
        }
        for (place, message) in expected {
            assert_eq!(journal.node_at(place).map(|node| node.message), message);
        }
        assert_eq!(journal.node_at(NodePlace::new(1, 0)), None);
        Ok(())
    }

    #[test]
    fn a_batch_begins_a_new_file_behind_a_full_one() {
        let journal = NodeJournal::new(NodePlace::new(3, 1 << 30), usize::MAX);
        journal.append(journal.next_key(None), nodes(0..1));
        let message = nodes(0..1).messages().next().map(Bytes::copy_from_slice);
        assert_eq!(journal.node_at(NodePlace::new(4, 0)).map(|node| node.message), message);
    }
}
