//! New trie nodes on their way into the node files.
//!
//! A block adds thousands of nodes under random keys, and putting each into the engine's sorted memory table would cost
//! more than executing the block. So the nodes of a block go into its batch as one row of the column `packs`, and are
//! found through a hash table in memory. When enough packs are together, a thread puts their nodes into the node files
//! and deletes the packs. Whatever stops the process in between, each node is in a pack or in the files.

use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::{io, iter, mem, panic};

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use parking_lot::{Mutex, RwLock};
use rhizome_primitives::{B256, Bytes};
use rhizome_trie::NodeRow;

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
    rows: Vec<u8>,
}

/// Where a row starts.
#[derive(Clone, Copy)]
struct Place {
    pack: u32,
    offset: u32,
}

impl Segment {
    /// False when the pack is damaged.
    fn add(&mut self, sequence: u64, rows: Vec<u8>) -> bool {
        let Ok(pack) = u32::try_from(self.packs.len()) else { return false };
        self.bytes += rows.len();
        self.packs.push(Pack { sequence, rows });
        let Self { packs, index, .. } = self;
        let Some(Pack { rows, .. }) = packs.last() else { return false };
        let mut start = 0;
        while start < rows.len() {
            let (Some(row), Ok(offset)) = (NodeRow::at(rows, start), u32::try_from(start)) else { return false };
            let is_same = |place: &Place| node_at(packs, *place).is_some_and(|known| known.hash == row.hash);
            let hash_of = |place: &Place| node_at(packs, *place).map_or(0, |known| short(known.hash));
            if let Entry::Vacant(place) = index.entry(short(row.hash), is_same, hash_of) {
                place.insert(Place { pack, offset });
            }
            start = row.end;
        }
        true
    }

    /// All rows as they came.
    fn rows(&self) -> impl Iterator<Item = NodeRow<'_>> {
        self.packs.iter().flat_map(|pack| rows_of(&pack.rows))
    }

    fn find(&self, hash: &B256) -> Option<&[u8]> {
        let is_same = |place: &Place| node_at(&self.packs, *place).is_some_and(|known| known.hash == hash.as_slice());
        let place = self.index.find(short(hash.as_slice()), is_same)?;
        node_at(&self.packs, *place).map(|row| row.message)
    }
}

fn rows_of(rows: &[u8]) -> impl Iterator<Item = NodeRow<'_>> {
    let mut start = 0;
    iter::from_fn(move || {
        let row = NodeRow::at(rows, start)?;
        start = row.end;
        Some(row)
    })
}

fn node_at(packs: &[Pack], place: Place) -> Option<NodeRow<'_>> {
    NodeRow::at(&packs.get(place.pack as usize)?.rows, place.offset as usize)
}

/// Keccak hashes are random, so any part of one is a hash of it.
fn short(hash: &[u8]) -> u64 {
    hash.first_chunk().map_or(0, |bytes| u64::from_be_bytes(*bytes))
}

impl NodeJournal {
    /// An empty journal that lets the thread write when `limit` bytes have gathered.
    pub(crate) fn new(limit: usize) -> Self {
        Self { segments: RwLock::default(), jobs: Mutex::default(), limit }
    }

    /// Takes back a pack that was on disk at start, in order. False when it is damaged.
    pub(crate) fn restore(&self, sequence: u64, rows: &[u8]) -> bool {
        let mut segments = self.segments.write();
        segments.next_sequence = sequence.saturating_add(1);
        segments.active.add(sequence, rows.to_vec())
    }

    /// Under which key the next pack must go to disk.
    pub(crate) fn next_sequence(&self) -> u64 {
        self.segments.read().next_sequence
    }

    /// Makes a pack readable.
    pub(crate) fn append(&self, rows: Vec<u8>) {
        let mut segments = self.segments.write();
        let sequence = segments.next_sequence;
        segments.next_sequence = sequence.saturating_add(1);
        segments.active.add(sequence, rows);
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
        let packs = sealed.packs.iter().map(|pack| pack.sequence);
        files.add(sealed.index.len(), sealed.rows(), packs).map_err(FlushError::Filing)?;
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
    use rhizome_trie::NodeRows;

    use super::*;

    fn pack(nodes: Vec<(B256, Bytes)>) -> Vec<u8> {
        nodes.into_iter().collect::<NodeRows>().into()
    }

    fn nodes(range: std::ops::Range<u32>) -> Vec<(B256, Bytes)> {
        range.map(|number| number.to_be_bytes()).map(|bytes| (keccak256(bytes), bytes.to_vec().into())).collect()
    }

    #[test]
    fn nodes_of_many_packs_are_found() {
        let journal = NodeJournal::new(usize::MAX);
        for first in (0..1000).step_by(10) {
            // Neighbours overlap: the same node in two packs.
            assert_eq!(journal.next_sequence(), u64::from(first) / 10);
            journal.append(pack(nodes(first..first + 15)));
        }
        for (hash, message) in nodes(0..1005) {
            assert_eq!(journal.find(&hash), Some(message));
        }
        assert_eq!(journal.find(&B256::ZERO), None);
        assert_eq!(journal.segments.read().active.index.len(), 1005);
    }

    #[test]
    fn a_damaged_pack_is_noticed() {
        let rows = pack(nodes(0..3));
        assert!(NodeJournal::new(1).restore(0, &rows));
        assert!(NodeJournal::new(1).restore(0, &[]));
        for length in (1..rows.len()).filter(|length| length % 40 != 0) {
            assert!(!NodeJournal::new(1).restore(0, &rows[..length]), "{length}");
        }
    }
}
