//! Node files: append-only files of trie node messages, and the index segments that locate them.
//!
//! A node is addressed by its hash, never changes and is never deleted, so its message is appended to a data file
//! once. Only the index segments (`index_segment.rs`) are sorted and merged: 15 bytes a node are rewritten a few
//! times, the message never. The messages of a path lie one behind the other, so that one read often finds the next node, too
//! (`adjacent_nodes.rs`).
//!
//! One row of the database lists the data files, the end of the last one, and the segments. That row is replaced in
//! the batch that deletes the flushed node batches from the journal, after all the data it refers to is on the disk.
//! Anything that a crash leaves beyond that row is overwritten or removed.
//!
//! Measured with 2,000,000 nodes of 104 bytes in batches of 5,000 (AMD EPYC, 2 cores, three runs of `cargo bench -p
//! rhizome-storage --profile release`): 1.9 to 2.5 times as many nodes are written a second as in rows of a RocksDB
//! column (346,000 against 178,000 on an idle machine), in 238 MB instead of 281; random reads take about the same
//! time. Imports write far more nodes than they read. Nothing here depends on the processor, so there is no fallback.

use std::cmp::Reverse;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::{Mutex, RwLock};
use rhizome_primitives::{B256, Bytes, keccak256};
use rhizome_trie::NodeBatch;
use rocksdb::{ColumnFamily, DB, WriteBatch, WriteOptions};

use crate::adjacent_nodes::AdjacentNodes;
use crate::columns::{NODE_BATCHES, NODE_FILES_KEY, NODES};
use crate::index_segment::{IndexEntry, IndexSegment, NodeLocation, UnfinishedSegment, damaged, merge_entries, prefix};
use crate::journal_rows::JournalKey;
use crate::positioned::{PositionedFile, expect_random_reads};

/// Number of segments of one level that are merged into one of the next level.
const SEGMENTS_PER_LEVEL: usize = 4;
/// A data file of this size takes no more nodes. A quarter of the range of a location's offset: one flush always fits.
const FULL_FILE_BYTES: u32 = 1 << 30;
const BUFFER_BYTES: usize = 1 << 20;
/// Bytes that are read of a node and those behind it, without another page of the system: about the nodes of a path.
const READ_BYTES: usize = 1024;
const PAGE_BYTES: usize = 4096;
const DATA: &str = "data";
const INDEX: &str = "index";
/// A merge that was stopped. The name is that of its first part.
const STOPPED_MERGE: &str = "merge";

/// Node files of a database. Reads take a lock only to get the current file set. One thread appends and one merges.
pub(crate) struct NodeFiles {
    db: Arc<DB>,
    dir: PathBuf,
    is_temporary: bool,
    /// File set that readers use.
    contents: RwLock<Arc<NodeFileSet>>,
    /// Serializes changes of the file set.
    change: Mutex<()>,
    adjacent: AdjacentNodes,
    next_segment: AtomicU64,
    is_closing: AtomicBool,
}

/// Data files and index segments that the row in the database lists.
#[derive(Clone, Default)]
struct NodeFileSet {
    data: Vec<Arc<File>>,
    /// End of the nodes in the last data file, in bytes.
    end: u32,
    /// The largest ones, which have most nodes, first.
    segments: Vec<NumberedSegment>,
}

#[derive(Clone)]
struct NumberedSegment<I = Arc<IndexSegment>> {
    number: u64,
    level: u8,
    index: I,
}

/// A node, and the bytes behind it in the file.
struct NodeRead {
    message: Bytes,
    behind: Bytes,
}

/// Failure to flush or merge nodes.
#[derive(Debug)]
pub(crate) enum NodeFileError {
    Engine(rocksdb::Error),
    File(io::Error),
}

impl From<io::Error> for NodeFileError {
    fn from(error: io::Error) -> Self {
        Self::File(error)
    }
}

impl NodeFiles {
    /// Opens the node files in `dir`, which has no other files, and removes files that an interrupted run left, unless they are only read.
    pub(crate) fn open(
        db: &Arc<DB>,
        dir: PathBuf,
        is_temporary: bool,
        is_read_only: bool,
    ) -> Result<Self, NodeFileError> {
        if !is_read_only {
            fs::create_dir_all(&dir)?;
        }
        let column = db.cf_handle(NODES).ok_or_else(|| damaged("the column of the node files is missing"))?;
        let row = db.get_cf(column, NODE_FILES_KEY).map_err(NodeFileError::Engine)?;
        let contents = row.map_or_else(|| Ok(NodeFileSet::default()), |row| NodeFileSet::open(&dir, &row))?;
        if !is_read_only {
            remove_unreferenced(&dir, &contents)?;
        }
        let next_segment = contents.segments.iter().map(|segment| segment.number + 1).max().unwrap_or_default();
        Ok(Self {
            db: Arc::clone(db),
            dir,
            is_temporary,
            contents: RwLock::new(Arc::new(contents)),
            change: Mutex::default(),
            adjacent: AdjacentNodes::default(),
            next_segment: AtomicU64::new(next_segment),
            is_closing: AtomicBool::new(false),
        })
    }

    /// Returns a node by its hash.
    pub(crate) fn get(&self, hash: &B256) -> io::Result<Option<Bytes>> {
        if let Some(message) = self.adjacent.take(hash) {
            return Ok(Some(message));
        }
        let contents = self.contents();
        for segment in &contents.segments {
            for entry in segment.index.find(hash.as_slice())? {
                let NodeRead { message, behind } = contents.read(entry.location())?;
                let found = keccak256(&message);
                if found == *hash {
                    self.adjacent.note(&message, behind);
                    return Ok(Some(message));
                }
                // Different hashes can have the same prefix.
                if prefix(found.as_slice()) != prefix(hash.as_slice()) {
                    return Err(damaged("a node does not match its hash"));
                }
            }
        }
        Ok(None)
    }

    /// Appends the nodes of batches and deletes the batches from the database. Only one thread may call this at a
    /// time.
    pub(crate) fn add<'a>(
        &self,
        batches: impl Iterator<Item = (JournalKey, &'a NodeBatch)> + Clone,
    ) -> Result<(), NodeFileError> {
        let NodeFileSet { mut data, mut end, .. } = NodeFileSet::clone(&self.contents());
        if data.is_empty() || end >= FULL_FILE_BYTES {
            let path = data_path(&self.dir, data.len());
            let file = File::options().create(true).truncate(true).read(true).write(true).open(path)?;
            expect_random_reads(&file);
            data.push(Arc::new(file));
            end = 0;
        }
        let (Some(file), Ok(number)) = (data.last(), u16::try_from(data.len() - 1)) else {
            return Err(damaged("the limit of node files is reached").into());
        };
        let count = batches.clone().map(|(_, nodes)| nodes.len()).sum();
        let mut entries = Vec::with_capacity(count);
        let mut buffer = Vec::with_capacity(2 * BUFFER_BYTES);
        let mut written = end;
        for (_, nodes) in batches.clone() {
            for node in nodes.iter() {
                // The trie rejects values of more than 2^24 - 1 bytes.
                let location = NodeLocation { file: number, offset: end, length: node.message.len() as u32 };
                entries.push(IndexEntry::new(node.hash.as_slice(), location));
                end = end.checked_add(location.length).ok_or_else(|| damaged("the nodes of one flush exceed 4 GB"))?;
                buffer.extend_from_slice(node.message);
            }
            if buffer.len() >= BUFFER_BYTES {
                file.write_all_at(&buffer, written.into())?;
                written = end;
                buffer.clear();
            }
        }
        file.write_all_at(&buffer, written.into())?;
        if !self.is_temporary {
            file.sync_data()?;
        }
        entries.sort_unstable();
        let number = self.next_segment_number();
        let mut index = UnfinishedSegment::create(segment_path(&self.dir, number), entries.len() as u64)?;
        entries.into_iter().try_for_each(|entry| index.push(entry))?;
        let segment = self.finish_segment(NumberedSegment { number, level: 0, index })?;
        let mut batch = WriteBatch::default();
        let column = self.column(NODE_BATCHES)?;
        batches.for_each(|(key, _)| batch.delete_cf(column, key.encode()));
        self.change(batch, false, |contents| {
            contents.data = data;
            contents.end = end;
            contents.segments.push(segment);
        })
    }

    /// Merges several segments of one level into one of the next, if there are enough.
    pub(crate) fn merge(&self) -> Result<(), NodeFileError> {
        let contents = self.contents();
        let Some((level, parts)) = contents.mergeable() else { return Ok(()) };
        let indexes: Vec<&IndexSegment> = parts.iter().map(|segment| &*segment.index).collect();
        let Some(first) = parts.first().map(|segment| segment.number) else { return Ok(()) };
        let number = self.next_segment_number();
        let mut merged = self.resume_merge(segment_path(&self.dir, number), first, &indexes)?;
        for entry in merge_entries(&indexes, merged.last())? {
            if self.is_closing.load(Ordering::Relaxed) {
                return Ok(self.stop_merge(merged, first)?);
            }
            merged.push(entry?)?;
        }
        let merged = self.finish_segment(NumberedSegment { number, level: level.saturating_add(1), index: merged })?;
        let numbers: Vec<u64> = parts.iter().map(|segment| segment.number).collect();
        // The new row must be on the disk before the files that the old row lists are removed.
        self.change(WriteBatch::default(), true, |contents| {
            contents.segments.retain(|segment| !numbers.contains(&segment.number));
            contents.segments.push(merged);
        })?;
        for number in numbers {
            fs::remove_file(segment_path(&self.dir, number))?;
        }
        Ok(())
    }

    /// Continues a merge that was stopped, at `path`, or begins it. `first` is the number of its first part.
    fn resume_merge(&self, path: PathBuf, first: u64, parts: &[&IndexSegment]) -> io::Result<UnfinishedSegment> {
        let count = parts.iter().map(|part| part.count()).sum();
        match fs::rename(stopped_merge_path(&self.dir, first), &path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return UnfinishedSegment::create(path, count),
            renamed => renamed?,
        }
        match UnfinishedSegment::resume(path.clone(), count, parts)? {
            Some(stopped) => Ok(stopped),
            None => UnfinishedSegment::create(path, count),
        }
    }

    /// Keeps a merge for the next start. After a crash a merge begins again.
    fn stop_merge(&self, merged: UnfinishedSegment, first: u64) -> io::Result<()> {
        if self.is_temporary {
            return Ok(());
        }
        let path = merged.stop()?;
        fs::rename(path, stopped_merge_path(&self.dir, first))
    }

    /// Returns true if the files are removed when the store closes.
    pub(crate) fn is_temporary(&self) -> bool {
        self.is_temporary
    }

    /// Returns true if one level has enough segments to merge.
    pub(crate) fn can_merge(&self) -> bool {
        self.contents().mergeable().is_some()
    }

    /// Stops a merge that is in progress. It continues at the next start.
    pub(crate) fn close(&self) {
        self.is_closing.store(true, Ordering::Relaxed);
    }

    /// Copies the database with `copy`, and then the node files that belong to that copy into `dir`.
    pub(crate) fn checkpoint(
        &self,
        dir: &Path,
        copy: impl FnOnce() -> Result<(), rocksdb::Error>,
    ) -> Result<(), NodeFileError> {
        let _unchanged = self.change.lock();
        let contents = self.contents();
        copy().map_err(NodeFileError::Engine)?;
        fs::create_dir_all(dir)?;
        for segment in &contents.segments {
            fs::hard_link(segment.index.path(), segment_path(dir, segment.number))?;
        }
        let Some(last) = contents.data.len().checked_sub(1) else { return Ok(()) };
        for number in 0..last {
            fs::hard_link(data_path(&self.dir, number), data_path(dir, number))?;
        }
        // The last data file grows in both copies, so it is not linked.
        let mut original = io::Read::take(File::open(data_path(&self.dir, last))?, contents.end.into());
        let mut copied = File::create(data_path(dir, last))?;
        io::copy(&mut original, &mut copied)?;
        Ok(copied.sync_data()?)
    }

    /// Returns the size of all files.
    pub(crate) fn bytes(&self) -> io::Result<u64> {
        let contents = self.contents();
        let mut bytes = contents.segments.iter().map(|segment| segment.index.bytes()).sum();
        for file in &contents.data {
            bytes += file.metadata()?.len();
        }
        Ok(bytes)
    }

    fn column(&self, name: &'static str) -> io::Result<&ColumnFamily> {
        self.db.cf_handle(name).ok_or_else(|| damaged("the column of the node files is missing"))
    }

    fn contents(&self) -> Arc<NodeFileSet> {
        Arc::clone(&self.contents.read())
    }

    fn next_segment_number(&self) -> u64 {
        self.next_segment.fetch_add(1, Ordering::Relaxed)
    }

    fn finish_segment(&self, segment: NumberedSegment<UnfinishedSegment>) -> io::Result<NumberedSegment> {
        let NumberedSegment { number, level, index } = segment;
        let index = Arc::new(index.finish(!self.is_temporary)?);
        // Syncs the folder so that the file name is durable. Windows cannot open folders, and journals names itself.
        if !self.is_temporary && cfg!(unix) {
            File::open(&self.dir)?.sync_all()?;
        }
        Ok(NumberedSegment { number, level, index })
    }

    fn change(
        &self,
        mut batch: WriteBatch,
        is_synced: bool,
        change: impl FnOnce(&mut NodeFileSet),
    ) -> Result<(), NodeFileError> {
        let _alone = self.change.lock();
        let mut contents = NodeFileSet::clone(&self.contents());
        change(&mut contents);
        contents.sort_segments();
        batch.put_cf(self.column(NODES)?, NODE_FILES_KEY, contents.encode());
        let mut options = WriteOptions::default();
        options.disable_wal(self.is_temporary);
        options.set_sync(is_synced && !self.is_temporary);
        self.db.write_opt(batch, &options).map_err(NodeFileError::Engine)?;
        *self.contents.write() = Arc::new(contents);
        Ok(())
    }
}

impl NodeFileSet {
    fn encode(&self) -> Vec<u8> {
        let mut row = Vec::new();
        row.extend_from_slice(&(self.data.len() as u32).to_be_bytes());
        row.extend_from_slice(&self.end.to_be_bytes());
        for segment in &self.segments {
            row.extend_from_slice(&segment.number.to_be_bytes());
            row.push(segment.level);
            row.extend_from_slice(&segment.index.count().to_be_bytes());
        }
        row
    }

    fn open(dir: &Path, row: &[u8]) -> io::Result<Self> {
        let malformed = || damaged("the list of node files cannot be decoded");
        let (count, rest) = row.split_first_chunk::<4>().ok_or_else(malformed)?;
        let (end, mut rest) = rest.split_first_chunk::<4>().ok_or_else(malformed)?;
        let (count, end) = (u32::from_be_bytes(*count) as usize, u32::from_be_bytes(*end));
        let mut contents = Self { end, ..Self::default() };
        for number in 0..count {
            let file = File::options().read(true).write(true).open(data_path(dir, number))?;
            expect_random_reads(&file);
            let least = if number + 1 == count { end } else { FULL_FILE_BYTES };
            if file.metadata()?.len() < least.into() {
                return Err(damaged("a node file is too short"));
            }
            contents.data.push(Arc::new(file));
        }
        while let Some((number, tail)) = rest.split_first_chunk::<8>() {
            let ([level], tail) = tail.split_first_chunk::<1>().ok_or_else(malformed)?;
            let (count, tail) = tail.split_first_chunk::<8>().ok_or_else(malformed)?;
            let number = u64::from_be_bytes(*number);
            let index = Arc::new(IndexSegment::open(segment_path(dir, number), u64::from_be_bytes(*count))?);
            contents.segments.push(NumberedSegment { number, level: *level, index });
            rest = tail;
        }
        contents.sort_segments();
        if rest.is_empty() { Ok(contents) } else { Err(malformed()) }
    }

    fn sort_segments(&mut self) {
        self.segments.sort_by_key(|segment| (Reverse(segment.level), segment.number));
    }

    fn read(&self, location: NodeLocation) -> io::Result<NodeRead> {
        let file =
            self.data.get(usize::from(location.file)).ok_or_else(|| damaged("a node location has an unknown file"))?;
        let (offset, length) = (u64::from(location.offset), location.length as usize);
        let rest_of_page = PAGE_BYTES - location.offset as usize % PAGE_BYTES;
        let mut bytes = vec![0; length.max(rest_of_page.min(READ_BYTES))];
        match file.read_exact_at(&mut bytes, offset) {
            // The last nodes of a file.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof && bytes.len() > length => {
                bytes.truncate(length);
                file.read_exact_at(&mut bytes, offset)?;
            }
            read => read?,
        }
        let bytes = Bytes::from(bytes);
        Ok(NodeRead {
            message: Bytes::copy_from_slice(bytes.get(..length).unwrap_or(&bytes)),
            behind: bytes.slice(length..),
        })
    }

    /// Returns the lowest level with enough segments to merge, and these segments.
    fn mergeable(&self) -> Option<(u8, Vec<&NumberedSegment>)> {
        let mut levels: Vec<u8> = self.segments.iter().map(|segment| segment.level).collect();
        levels.sort_unstable();
        let level = levels.chunk_by(|a, b| a == b).find(|same| same.len() >= SEGMENTS_PER_LEVEL)?.first().copied()?;
        Some((level, self.segments.iter().filter(|segment| segment.level == level).take(SEGMENTS_PER_LEVEL).collect()))
    }
}

fn data_path(dir: &Path, number: usize) -> PathBuf {
    dir.join(format!("{number:06}.{DATA}"))
}

fn segment_path(dir: &Path, number: u64) -> PathBuf {
    dir.join(format!("{number:06}.{INDEX}"))
}

fn stopped_merge_path(dir: &Path, first: u64) -> PathBuf {
    dir.join(format!("{first:06}.{STOPPED_MERGE}"))
}

/// Removes orphaned data and index files and merges. Files with other names stay.
fn remove_unreferenced(dir: &Path, contents: &NodeFileSet) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        let number = path.file_stem().and_then(|stem| stem.to_str()?.parse::<u64>().ok());
        let Some((number, kind)) = number.zip(path.extension().and_then(|kind| kind.to_str())) else { continue };
        let is_unreferenced = match kind {
            DATA => number >= contents.data.len() as u64,
            INDEX | STOPPED_MERGE => contents.segments.iter().all(|segment| segment.number != number),
            _ => false,
        };
        if is_unreferenced {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}
