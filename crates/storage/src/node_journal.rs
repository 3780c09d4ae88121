//! New trie nodes on their way into the node files.
//!
//! A block adds thousands of nodes under random keys, and putting each into the engine's sorted memory table would cost
//! more than executing the block. So the nodes of a block go into its batch as one row of the column `packs`, and are
//! found through a hash table in memory. When enough packs are together, a thread puts their nodes into the node files
//! and deletes the packs. Whatever stops the process in between, each node is in a pack or in the files.

use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::{io, mem, panic};

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use parking_lot::{Mutex, RwLock};
use rhizome_primitives::{B256, Bytes};
use rhizome_trie::NodeBatch;

use crate::node_files::{FilingError, NodeFiles};

/// When this many times the limit has gathered, the writer waits for the thread.
const PATIENCE: usize = 4;
/// At the end this share of the limit is filed, too.
const LAST_SHARE: usize = 16;

/// Packs that are not yet in the node files.
pub(crate) struct NodeJournal {
    segments: RwLock<Segments>,
    jobs: Mutex<Jobs>,
    limit: usize,
}

#[derive(Default)]
struct Segments {
    active: Segment,
    /// Being written by the thread.
    sealed: Option<Arc<Segment>>,
    next_sequence: u64,
}

#[derive(Default)]
struct Segment {
    packs: Vec<Pack>,
    index: HashTable<Place>,
    bytes: usize,
}

struct Pack {
    sequence: u64,
    nodes: NodeBatch,
}

/// Which node of which pack.
#[derive(Clone, Copy)]
struct Place {
    pack: u32,
    node: u32,
}

impl Segments {
    fn add(&mut self, sequence: u64, nodes: NodeBatch) {
        self.next_sequence = sequence.saturating_add(1);
        self.active.add(sequence, nodes);
    }
}

impl Segment {
    fn add(&mut self, sequence: u64, nodes: NodeBatch) {
        // Neither comes near so many.
        let pack = self.packs.len() as u32;
        self.bytes += nodes.bytes();
        self.packs.push(Pack { sequence, nodes });
        let Self { packs, index, .. } = self;
        let hashes = packs.last().map(|pack| pack.nodes.hashes()).unwrap_or_default();
        for (hash, node) in hashes.iter().zip(0..) {
            let is_same = |place: &Place| hash_at(packs, *place) == Some(hash);
            let hash_of = |place: &Place| hash_at(packs, *place).map_or(0, short);
            if let Entry::Vacant(place) = index.entry(short(hash), is_same, hash_of) {
                place.insert(Place { pack, node });
            }
        }
    }

    fn find(&self, hash: &B256) -> Option<&[u8]> {
        let place = self.index.find(short(hash), |place| hash_at(&self.packs, *place) == Some(hash))?;
        Some(self.packs.get(place.pack as usize)?.nodes.get(place.node as usize)?.message)
    }
}

fn hash_at(packs: &[Pack], place: Place) -> Option<&B256> {
    packs.get(place.pack as usize)?.nodes.hashes().get(place.node as usize)
}

/// Keccak hashes are random, so any part of one is a hash of it.
fn short(hash: &B256) -> u64 {
    hash.first_chunk().map_or(0, |bytes| u64::from_be_bytes(*bytes))
}

impl NodeJournal {
    /// An empty journal that lets the thread write when `limit` bytes have gathered.
    pub(crate) fn new(limit: usize) -> Self {
        Self { segments: RwLock::default(), jobs: Mutex::default(), limit }
    }

    /// Takes back a pack that was on disk at start, in order.
    pub(crate) fn restore(&self, sequence: u64, nodes: NodeBatch) {
        self.segments.write().add(sequence, nodes);
    }

    /// Under which key the next pack must go to disk.
    pub(crate) fn next_sequence(&self) -> u64 {
        self.segments.read().next_sequence
    }

    /// Makes a pack readable.
    pub(crate) fn append(&self, nodes: NodeBatch) {
        let mut segments = self.segments.write();
        let sequence = segments.next_sequence;
        segments.add(sequence, nodes);
    }

    /// A node that is not yet in the files, or also there.
    pub(crate) fn find(&self, hash: &B256) -> Option<Bytes> {
        let segments = self.segments.read();
        let found = segments.active.find(hash);
        let found = found.or_else(|| segments.sealed.as_ref().and_then(|sealed| sealed.find(hash)));
        found.map(Bytes::copy_from_slice)
    }

    /// Takes the results of the threads' last work, and gives them new work when enough has gathered. After a failure
    /// packs and lists stay as they are and the next call tries again.
    pub(crate) fn settle(self: &Arc<Self>, files: &Arc<NodeFiles>) -> Result<(), FlushError> {
        let mut jobs = self.jobs.lock();
        let is_overdue = self.segments.read().active.bytes >= self.limit.saturating_mul(PATIENCE);
        if let Some(finished) = jobs.filing.take_if(|job| is_overdue || job.is_finished()) {
            result(finished)?;
        }
        if let Some(finished) = jobs.merging.take_if(|job| job.is_finished()) {
            result(finished)?;
        }
        if jobs.filing.is_none() && self.has_work(self.limit) {
            let (journal, files) = (Arc::clone(self), Arc::clone(files));
            jobs.filing = Some(spawn("node-files", move || journal.flush(&files))?);
        }
        if jobs.merging.is_none() && files.can_merge() {
            let files = Arc::clone(files);
            jobs.merging = Some(spawn("node-lists", move || files.merge().map_err(FlushError::Filing))?);
        }
        Ok(())
    }

    /// Waits for the threads, and files what is left if that is enough to spare the next start something. Whatever
    /// fails, the packs are on disk.
    pub(crate) fn finish(&self, files: &NodeFiles) {
        let Jobs { filing, merging } = mem::take(&mut *self.jobs.lock());
        for job in filing.into_iter().chain(merging) {
            let _ = job.join();
        }
        if !files.is_temporary() && self.has_work(self.limit / LAST_SHARE) {
            let _ = self.flush(files);
        }
    }

    /// Lets go of all packs: those that count are on disk.
    pub(crate) fn abandon(&self) {
        *self.segments.write() = Segments::default();
    }

    /// Seals what has gathered if it is so much, or finds what an earlier failure left.
    fn has_work(&self, least: usize) -> bool {
        let mut segments = self.segments.write();
        if segments.sealed.is_none() && segments.active.bytes >= least.max(1) {
            // The next one will hold about as many.
            let index = HashTable::with_capacity(segments.active.index.len());
            let active = Segment { index, ..Segment::default() };
            segments.sealed = Some(Arc::new(mem::replace(&mut segments.active, active)));
        }
        segments.sealed.is_some()
    }

    fn flush(&self, files: &NodeFiles) -> Result<(), FlushError> {
        let Some(sealed) = self.segments.read().sealed.clone() else { return Ok(()) };
        files.add(sealed.packs.iter().map(|pack| (pack.sequence, &pack.nodes))).map_err(FlushError::Filing)?;
        // From here on the files answer.
        self.segments.write().sealed = None;
        Ok(())
    }
}

type Job = JoinHandle<Result<(), FlushError>>;

/// What runs beside the writer.
#[derive(Default)]
struct Jobs {
    filing: Option<Job>,
    merging: Option<Job>,
}

fn spawn(name: &str, work: impl FnOnce() -> Result<(), FlushError> + Send + 'static) -> Result<Job, FlushError> {
    thread::Builder::new().name(name.to_owned()).spawn(work).map_err(FlushError::Thread)
}

fn result(finished: Job) -> Result<(), FlushError> {
    finished.join().unwrap_or_else(|panic| panic::resume_unwind(panic))
}

/// Why packs did not become files.
pub(crate) enum FlushError {
    Filing(FilingError),
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
    fn nodes_of_many_packs_are_found() {
        let journal = NodeJournal::new(usize::MAX);
        for first in (0..1000).step_by(10) {
            // Neighbours overlap: the same node in two packs.
            assert_eq!(journal.next_sequence(), u64::from(first) / 10);
            journal.append(nodes(first..first + 15).into_iter().collect());
        }
        for (hash, message) in nodes(0..1005) {
            assert_eq!(journal.find(&hash), Some(message));
        }
        assert_eq!(journal.find(&B256::ZERO), None);
        assert_eq!(journal.segments.read().active.index.len(), 1005);
    }
}
