//! New trie nodes on their way into the `nodes` column.
//!
//! A block adds thousands of nodes under random keys, and putting each into the engine's sorted memory table would cost
//! more than executing the block. So the nodes of a block go into its batch as one row of the column `packs`, and are
//! found through a hash table in memory. When enough packs are together, a thread sorts their nodes, writes them into
//! a file of the `nodes` column and deletes the packs. Whatever stops the process in between, each node is in a pack,
//! in the column, or in both, which is the same: a node's key is the hash of its bytes.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::{fs, io, mem, panic};

use hashbrown::HashTable;
use parking_lot::{Mutex, RwLock};
use rhizome_primitives::{B256, Bytes};
use rhizome_trie::NodeRow;
use rocksdb::{DB, IngestExternalFileOptions, Options, SstFileWriter, WriteBatch, WriteOptions};

use crate::columns::{NODES, PACKS};

/// When this many times the limit has gathered, the writer waits for the thread.
const PATIENCE: usize = 4;

/// Packs that are not yet in the `nodes` column.
pub(crate) struct NodeJournal {
    segments: RwLock<Segments>,
    job: Mutex<Option<JoinHandle<Result<(), FlushError>>>>,
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
            if index.find(short(row.hash), is_same).is_none() {
                index.insert_unique(short(row.hash), Place { pack, offset }, hash_of);
            }
            start = row.end;
        }
        true
    }

    fn find(&self, hash: &B256) -> Option<&[u8]> {
        let is_same = |place: &Place| node_at(&self.packs, *place).is_some_and(|known| known.hash == hash.as_slice());
        let place = self.index.find(short(hash.as_slice()), is_same)?;
        node_at(&self.packs, *place).map(|row| row.message)
    }
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
        Self { segments: RwLock::default(), job: Mutex::default(), limit }
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

    /// A node that is not yet in the column, or also there.
    pub(crate) fn find(&self, hash: &B256) -> Option<Bytes> {
        let segments = self.segments.read();
        let found = segments.active.find(hash);
        let found = found.or_else(|| segments.sealed.as_ref().and_then(|sealed| sealed.find(hash)));
        found.map(Bytes::copy_from_slice)
    }

    /// Takes the result of the thread's last work, and gives it new work when enough has gathered. After a failure the
    /// packs stay where they are and the next call tries again.
    pub(crate) fn settle(self: &Arc<Self>, flush: &Arc<Flush>) -> Result<(), FlushError> {
        let mut job = self.job.lock();
        let is_overdue = self.segments.read().active.bytes >= self.limit.saturating_mul(PATIENCE);
        if let Some(finished) = job.take_if(|job| is_overdue || job.is_finished()) {
            finished.join().unwrap_or_else(|panic| panic::resume_unwind(panic))?;
        }
        if job.is_some() || !self.has_work() {
            return Ok(());
        }
        let (journal, flush) = (Arc::clone(self), Arc::clone(flush));
        let thread = thread::Builder::new().name("node-files".to_owned());
        *job = Some(thread.spawn(move || journal.flush(&flush)).map_err(FlushError::Thread)?);
        Ok(())
    }

    /// Waits for the thread, whatever its result: the packs of a failed flush are on disk.
    pub(crate) fn finish(&self) {
        if let Some(job) = self.job.lock().take() {
            let _ = job.join();
        }
    }

    /// Seals what has gathered if it is enough, or finds what an earlier failure left.
    fn has_work(&self) -> bool {
        let mut segments = self.segments.write();
        if segments.sealed.is_none() && segments.active.bytes >= self.limit {
            // The next one will hold about as many.
            let index = HashTable::with_capacity(segments.active.index.len());
            let active = Segment { index, ..Segment::default() };
            segments.sealed = Some(Arc::new(mem::replace(&mut segments.active, active)));
        }
        segments.sealed.is_some()
    }

    fn flush(&self, flush: &Flush) -> Result<(), FlushError> {
        let Some(sealed) = self.segments.read().sealed.clone() else { return Ok(()) };
        flush.remove_leftover()?;
        flush.store(&sealed).map_err(FlushError::Engine)?;
        // From here on the column answers.
        self.segments.write().sealed = None;
        flush.forget(&sealed).map_err(FlushError::Engine)
    }
}

/// What the thread needs to write.
pub(crate) struct Flush {
    pub(crate) db: Arc<DB>,
    pub(crate) node_options: Options,
    pub(crate) dir: PathBuf,
    pub(crate) is_temporary: bool,
}

/// Why packs did not become files.
pub(crate) enum FlushError {
    Engine(rocksdb::Error),
    File(io::Error),
    Thread(io::Error),
}

impl Flush {
    /// Name of the file while it is written. Then the engine moves it into the database: it links it there first and
    /// removes this name last.
    fn file(&self) -> PathBuf {
        Path::join(&self.dir, "nodes.new")
    }

    /// A process that ended while a file was moved left this name on a file of the database: to open it for writing would
    /// destroy what the database has.
    fn remove_leftover(&self) -> Result<(), FlushError> {
        match fs::remove_file(self.file()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(FlushError::File(error)),
            _ => Ok(()),
        }
    }

    fn store(&self, segment: &Segment) -> Result<(), rocksdb::Error> {
        let rows = segment.index.iter().filter_map(|place| node_at(&segment.packs, *place));
        // The first bytes decide nearly always, and comparing them does not leave the list.
        let mut rows: Vec<(u64, NodeRow<'_>)> = rows.map(|row| (short(row.hash), row)).collect();
        rows.sort_unstable_by(|(a, a_row), (b, b_row)| a.cmp(b).then_with(|| a_row.hash.cmp(b_row.hash)));
        let Some(column) = self.db.cf_handle(NODES).filter(|_| !rows.is_empty()) else { return Ok(()) };
        let mut writer = SstFileWriter::create(&self.node_options);
        writer.open(self.file())?;
        for (_, row) in rows {
            writer.put(row.hash, row.message)?;
        }
        writer.finish()?;
        let mut options = IngestExternalFileOptions::default();
        options.set_move_files(true);
        self.db.ingest_external_file_cf_opts(column, &options, vec![self.file()])
    }

    fn forget(&self, segment: &Segment) -> Result<(), rocksdb::Error> {
        let Some(column) = self.db.cf_handle(PACKS) else { return Ok(()) };
        let mut batch = WriteBatch::default();
        for pack in &segment.packs {
            batch.delete_cf(column, pack.sequence.to_be_bytes());
        }
        let mut options = WriteOptions::default();
        options.disable_wal(self.is_temporary);
        self.db.write_opt(batch, &options)
    }
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
