//! Node files: append-only files of records of trie nodes, and the index segments that locate some of them.
//!
//! A node never changes and is never deleted, so its record is appended to a data file once. A record has the places of the children
//! (`rhizome_trie::RecordLayout`), so a path is read from record to record. Only roots of states, long values, and nodes that were not
//! made by the changes of a block are found by their hashes: index segments (`index_segment.rs`) have 15 bytes for each of them, and are
//! sorted and merged. The records of a path lie one behind the other, so that one read often finds the next node, too
//! (`adjacent_nodes.rs`).
//!
//! A batch has its place before it is written (`node_journal.rs`). The place of a batch that was dropped stays empty.
//!
//! The first data files of a directory of an earlier version have messages without places, and all their nodes are in the segments.
//!
//! One row of the database lists the data files, the end of the last one, and the segments. That row is replaced in
//! the batch that deletes the flushed node batches from the journal, after all the data it refers to is on the disk.
//! Anything that a crash leaves beyond that row is overwritten or removed.
//!
//! Measured with 400 blocks of 800 new keys, 3.1 million nodes (AMD EPYC, 2 cores, three runs of `cargo bench -p rhizome-storage --profile
//! release`), beside rows of a RocksDB column: 3.0 to 4.1 times as many nodes are made and written a second, in 226 MB instead of 319,
//! and 1.9 to 2.1 times as many keys are read a second through all nodes of their paths. Nothing here depends on the processor, so there
//! is no fallback.

use std::cmp::Reverse;
use std::fs::{self, File};
use std::io;
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::{Mutex, RwLock};
use rhizome_primitives::{B256, Bytes, keccak256_uncached};
use rhizome_trie::{NodeBatch, NodePlace, RecordLayout, SourceNode};
use rocksdb::{ColumnFamily, DB, WriteBatch, WriteOptions};

use crate::adjacent_nodes::AdjacentNodes;
use crate::columns::{NODE_BATCHES, NODE_FILES_KEY, NODES};
use crate::engine::NODES_FOLDER;
use crate::index_segment::{
    IndexEntry, IndexSegment, NodeLocation, UnfinishedSegment, damaged, in_file, merge_entries, prefix,
};
use crate::journal_rows::JournalKey;
use crate::positioned::{PositionedFile, expect_random_reads, read_from_memory, read_up_to};

/// Number of segments of one level that are merged into one of the next level.
const SEGMENTS_PER_LEVEL: usize = 4;
/// A data file of this size takes no more nodes. A quarter of the range of a location's offset: one flush always fits.
const FULL_FILE_BYTES: u32 = 1 << 30;
/// Bytes that are read of a record and those behind it, without another page of the system: about the nodes of a path.
const READ_BYTES: usize = 1024;
/// Nearly all records are shorter.
const RECORD_BYTES: usize = 160;
pub(crate) const PAGE_BYTES: usize = 4096;
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
    /// The first data files, which have messages without places.
    messages: MessageFiles,
    /// The largest ones, which have most nodes, first.
    segments: Vec<NumberedSegment>,
}

/// Data files of an earlier version.
#[derive(Clone, Copy, Default)]
struct MessageFiles {
    count: usize,
    /// End of the nodes in the last one, in bytes.
    end: u32,
}

#[derive(Clone)]
struct NumberedSegment<I = Arc<IndexSegment>> {
    number: u64,
    level: u8,
    index: I,
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
        let contents =
            row.map_or_else(|| Ok(NodeFileSet::default()), |row| NodeFileSet::open(&dir, &row, is_read_only))?;
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

    /// Returns a node or long value that is found by its hash.
    pub(crate) fn get(&self, hash: &B256) -> io::Result<Option<SourceNode>> {
        let contents = self.contents();
        for segment in &contents.segments {
            for entry in segment.index.find(hash.as_slice())? {
                let location = entry.location();
                let node = match usize::from(location.place.file()) < contents.messages.count {
                    true => contents.read_message(location).map_err(at(location.place)).map(SourceNode::from),
                    false => self.read(&contents, location.place, location.length as usize),
                };
                let node = node.map_err(from_segment(segment.number))?;
                let found = keccak256_uncached(&node.message);
                if found == *hash {
                    return Ok(Some(node));
                }
                // Different hashes can have the same prefix.
                if prefix(found.as_slice()) != prefix(hash.as_slice()) {
                    return Err(from_segment(segment.number)(mismatch(location.place)));
                }
            }
        }
        Ok(None)
    }

    /// Returns the node at a place, with this Keccak hash.
    pub(crate) fn node_at(&self, place: NodePlace, hash: &B256) -> io::Result<SourceNode> {
        if let Some(node) = self.adjacent.find(place).filter(|node| is_node(node, hash)) {
            return Ok(node);
        }
        let node = self.read(&self.contents(), place, 0)?;
        if is_node(&node, hash) { Ok(node) } else { Err(mismatch(place)) }
    }

    /// Returns the node at a place, with this Keccak hash, if that needs no read of the disk.
    pub(crate) fn node_in_memory(&self, place: NodePlace, hash: &B256) -> io::Result<Option<SourceNode>> {
        if let Some(node) = self.adjacent.find(place).filter(|node| is_node(node, hash)) {
            return Ok(Some(node));
        }
        let Some(bytes) = self.contents().read_record_from_memory(place).map_err(at(place))? else { return Ok(None) };
        // The end of the record may be on the disk.
        Ok(self.parse(place, bytes).filter(|node| is_node(node, hash)))
    }

    /// Reads a record. `length`: its length, as far as it is known.
    fn read(&self, contents: &NodeFileSet, place: NodePlace, length: usize) -> io::Result<SourceNode> {
        let bytes = contents.read_record(place, length).map_err(at(place))?;
        self.parse(place, bytes).ok_or_else(|| mismatch(place))
    }

    /// Returns the node of a record, and keeps the bytes behind it. A record of more than [`READ_BYTES`] is read without others.
    fn parse(&self, place: NodePlace, bytes: Vec<u8>) -> Option<SourceNode> {
        let layout = RecordLayout::read(&bytes)?;
        let node = layout.node(&bytes)?;
        if bytes.len() > layout.length() {
            self.adjacent.note(place, bytes);
        }
        Some(node)
    }

    /// Returns the place behind all records.
    pub(crate) fn end(&self) -> NodePlace {
        self.contents().end_place()
    }

    /// Returns the first place, from one behind a batch on, at which a batch can begin; unknown if there is none.
    pub(crate) fn next_batch(end: NodePlace) -> NodePlace {
        if end.offset() < FULL_FILE_BYTES {
            return end;
        }
        end.file().checked_add(1).map_or(NodePlace::UNKNOWN, |file| NodePlace::new(file, 0))
    }

    /// Writes batches to their places, and deletes them from the database. Only one thread may call this at a time.
    pub(crate) fn add<'a>(
        &self,
        batches: impl Iterator<Item = (JournalKey, &'a NodeBatch)> + Clone,
    ) -> Result<(), NodeFileError> {
        let mut added = NodeFileSet::clone(&self.contents());
        let first_written = added.data.len().saturating_sub(1);
        let mut entries = Vec::new();
        for (_, nodes) in batches.clone().filter(|(_, nodes)| !nodes.is_empty()) {
            let place = nodes.place();
            let file = added.file_for(&self.dir, place, nodes.records().len())?;
            file.write_all_at(nodes.records(), place.offset().into())?;
            entries.extend(nodes.named().map(|node| {
                let length = u32::try_from(node.length).unwrap_or(u32::MAX);
                let location = NodeLocation { place: place.after(node.start), length };
                IndexEntry::new(node.hash.as_slice(), location)
            }));
        }
        if !self.is_temporary {
            added.data.iter().skip(first_written).try_for_each(|file| file.sync_data())?;
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
            // Another thread may have merged segments meanwhile.
            let segments = mem::take(&mut contents.segments);
            *contents = NodeFileSet { segments, ..added };
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
        row.extend_from_slice(&(self.messages.count as u32).to_be_bytes());
        row.extend_from_slice(&self.messages.end.to_be_bytes());
        row
    }

    fn open(dir: &Path, row: &[u8], is_read_only: bool) -> io::Result<Self> {
        let malformed = || damaged("the list of node files cannot be decoded");
        let (count, rest) = row.split_first_chunk::<4>().ok_or_else(malformed)?;
        let (end, mut rest) = rest.split_first_chunk::<4>().ok_or_else(malformed)?;
        let (count, end) = (u32::from_be_bytes(*count) as usize, u32::from_be_bytes(*end));
        let mut contents = Self { end, messages: MessageFiles { count, end }, ..Self::default() };
        while let Some((number, tail)) = rest.split_first_chunk::<8>().filter(|(_, tail)| !tail.is_empty()) {
            let ([level], tail) = tail.split_first_chunk::<1>().ok_or_else(malformed)?;
            let (count, tail) = tail.split_first_chunk::<8>().ok_or_else(malformed)?;
            let number = u64::from_be_bytes(*number);
            let index = Arc::new(IndexSegment::open(segment_path(dir, number), u64::from_be_bytes(*count))?);
            contents.segments.push(NumberedSegment { number, level: *level, index });
            rest = tail;
        }
        // Rows of earlier versions end with the segments.
        if let ([count, end], []) = rest.as_chunks::<4>()
            && let [count, end] = [count, end].map(|bytes| u32::from_be_bytes(*bytes))
        {
            contents.messages = MessageFiles { count: count as usize, end };
            rest = &[];
        }
        for number in 0..count {
            let path = data_path(dir, number);
            let file = File::options().read(true).write(!is_read_only).open(&path).map_err(in_file(&path))?;
            expect_random_reads(&file);
            let least = match number + 1 {
                next if next == count => end,
                next if next == contents.messages.count => contents.messages.end,
                _ => FULL_FILE_BYTES,
            };
            if file.metadata()?.len() < least.into() {
                return Err(in_file(&path)(damaged("a node file is too short")));
            }
            contents.data.push(Arc::new(file));
        }
        contents.sort_segments();
        if rest.is_empty() { Ok(contents) } else { Err(malformed()) }
    }

    fn sort_segments(&mut self) {
        self.segments.sort_by_key(|segment| (Reverse(segment.level), segment.number));
    }

    fn end_place(&self) -> NodePlace {
        // The number of files was checked when the last one was added.
        let place =
            |file: usize, offset| u16::try_from(file).map_or(NodePlace::UNKNOWN, |file| NodePlace::new(file, offset));
        match self.data.len() {
            files if files == self.messages.count => place(files, 0),
            files => place(files - 1, self.end),
        }
    }

    /// Returns the file for a batch at a place, and moves the end of the nodes behind it. Creates the file if the place is behind the last
    /// one.
    fn file_for(&mut self, dir: &Path, place: NodePlace, bytes: usize) -> io::Result<Arc<File>> {
        let (number, end) = (usize::from(place.file()), place.after(bytes));
        if !place.is_known() || !end.is_known() {
            return Err(damaged("the limit of node files is reached"));
        }
        if number < self.messages.count {
            return Err(damaged("a place of nodes is in a file of an earlier version"));
        }
        if number == self.data.len() {
            if let Some(last) = self.data.last().filter(|_| number > self.messages.count) {
                // The last batches of the file may have been dropped.
                last.set_len(last.metadata()?.len().max(FULL_FILE_BYTES.into()))?;
            }
            let path = data_path(dir, number);
            let file = File::options().create(true).truncate(true).read(true).write(true).open(path)?;
            expect_random_reads(&file);
            self.data.push(Arc::new(file));
            self.end = 0;
        }
        if number + 1 == self.data.len() {
            self.end = self.end.max(end.offset());
        }
        self.file(number).map(Arc::clone)
    }

    fn file(&self, number: usize) -> io::Result<&Arc<File>> {
        self.data.get(number).ok_or_else(|| damaged("a node location has an unknown file"))
    }

    /// Reads a message or a long value of an earlier version.
    fn read_message(&self, location: NodeLocation) -> io::Result<Bytes> {
        let mut bytes = vec![0; location.length as usize];
        let NodeLocation { place, .. } = location;
        self.file(place.file().into())?.read_exact_at(&mut bytes, place.offset().into())?;
        Ok(bytes.into())
    }

    /// Reads a record, and bytes behind it. `length`: its length, as far as it is known.
    fn read_record(&self, place: NodePlace, length: usize) -> io::Result<Vec<u8>> {
        let (file, offset) = (self.file(place.file().into())?, u64::from(place.offset()));
        let bytes = read_up_to(file, offset, length.max(read_length(place)))?;
        match RecordLayout::read(&bytes) {
            Some(layout) if layout.length() > bytes.len() => read_up_to(file, offset, layout.length()),
            _ => Ok(bytes),
        }
    }

    /// Like [`NodeFileSet::read_record`], if the system has the bytes in memory; perhaps not all of them.
    fn read_record_from_memory(&self, place: NodePlace) -> io::Result<Option<Vec<u8>>> {
        let mut bytes = vec![0; read_length(place)];
        let read = read_from_memory(self.file(place.file().into())?, &mut bytes, place.offset().into())?;
        Ok(read.map(|count| {
            bytes.truncate(count);
            bytes
        }))
    }

    /// Returns the lowest level with enough segments to merge, and these segments.
    fn mergeable(&self) -> Option<(u8, Vec<&NumberedSegment>)> {
        let mut levels: Vec<u8> = self.segments.iter().map(|segment| segment.level).collect();
        levels.sort_unstable();
        let level = levels.chunk_by(|a, b| a == b).find(|same| same.len() >= SEGMENTS_PER_LEVEL)?.first().copied()?;
        Some((level, self.segments.iter().filter(|segment| segment.level == level).take(SEGMENTS_PER_LEVEL).collect()))
    }
}

pub(crate) fn is_node(node: &SourceNode, hash: &B256) -> bool {
    keccak256_uncached(&node.message) == *hash
}

/// Returns the number of bytes to read for a record.
fn read_length(place: NodePlace) -> usize {
    let rest_of_page = PAGE_BYTES - place.offset() as usize % PAGE_BYTES;
    rest_of_page.clamp(RECORD_BYTES, READ_BYTES)
}

/// Adds the file and the offset of a node to an error, which keeps its kind.
fn at(place: NodePlace) -> impl Fn(io::Error) -> io::Error {
    move |error| {
        let name = data_path(Path::new(NODES_FOLDER), place.file().into());
        io::Error::new(error.kind(), format!("{}, offset {}: {error}", name.display(), place.offset()))
    }
}

/// Adds the index segment that has the place: it may be the damaged file.
fn from_segment(number: u64) -> impl Fn(io::Error) -> io::Error {
    move |error| {
        let name = segment_path(Path::new(NODES_FOLDER), number);
        io::Error::new(error.kind(), format!("{error}; its place is from {}", name.display()))
    }
}

fn mismatch(place: NodePlace) -> io::Error {
    at(place)(damaged("a node does not match its hash"))
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rhizome_primitives::keccak256;
    use rhizome_trie::{NodeSource, SourceError, Trie, WantedNode};
    use rocksdb::{Options, WriteBatch};

    use super::*;

    /// The nodes of files, without a journal.
    struct Files(NodeFiles);

    impl Files {
        fn open(db: &Arc<DB>, dir: &Path) -> Arc<Self> {
            Arc::new(Self(NodeFiles::open(db, dir.to_path_buf(), false, false).unwrap()))
        }

        fn add(&self, batch: &NodeBatch) {
            let key = JournalKey { sequence: 0, block: None };
            self.0.add([(key, batch)].into_iter()).unwrap();
        }
    }

    impl NodeSource for Files {
        fn get(&self, hash: &B256) -> Result<Option<Bytes>, SourceError> {
            Ok(self.0.get(hash).unwrap().map(|node| node.message))
        }

        fn node(&self, wanted: &WantedNode<'_>) -> Result<Option<SourceNode>, SourceError> {
            Ok(match wanted.place.is_known() {
                true => Some(self.0.node_at(wanted.place, &wanted.hash).unwrap()),
                false => self.0.get(&wanted.hash).unwrap(),
            })
        }
    }

    fn database(dir: &Path) -> Arc<DB> {
        let mut options = Options::default();
        options.create_if_missing(true);
        options.create_missing_column_families(true);
        Arc::new(DB::open_cf(&options, dir, [NODES, NODE_BATCHES]).unwrap())
    }

    fn key(number: u32) -> B256 {
        keccak256(number.to_be_bytes())
    }

    fn put(trie: &mut Trie, numbers: std::ops::Range<u32>) {
        numbers.for_each(|number| trie.put(key(number).as_slice(), key(number).as_slice()).unwrap());
    }

    #[track_caller]
    fn expect(files: &Arc<Files>, root: B256, numbers: std::ops::Range<u32>) {
        let trie = Trie::open(root, Arc::clone(files) as _);
        let entries: Vec<_> = trie.entries().map(Result::unwrap).collect();
        assert_eq!(entries.len(), numbers.len());
        for number in numbers {
            assert!(entries.contains(&(key(number).to_vec(), Bytes::copy_from_slice(key(number).as_slice()))));
        }
    }

    /// Writes nodes as earlier versions did: messages, all of them in a segment, and a row that ends with the segments.
    fn write_messages(db: &DB, dir: &Path, nodes: NodeBatch) {
        fs::create_dir(dir).unwrap();
        let (mut messages, mut entries) = (Vec::new(), Vec::new());
        for (hash, message) in nodes {
            let place = NodePlace::new(0, messages.len() as u32);
            let location = NodeLocation { place, length: message.len() as u32 };
            entries.push(IndexEntry::new(hash.as_slice(), location));
            messages.extend_from_slice(&message);
        }
        fs::write(data_path(dir, 0), &messages).unwrap();
        entries.sort_unstable();
        let mut index = UnfinishedSegment::create(segment_path(dir, 0), entries.len() as u64).unwrap();
        entries.into_iter().for_each(|entry| index.push(entry).unwrap());
        let segment = NumberedSegment { number: 0, level: 0, index: Arc::new(index.finish(true).unwrap()) };
        let contents = NodeFileSet { end: messages.len() as u32, segments: vec![segment], ..NodeFileSet::default() };
        let mut row = contents.encode();
        row.truncate(row.len() - 8);
        row[..4].copy_from_slice(&1_u32.to_be_bytes());
        let mut batch = WriteBatch::default();
        batch.put_cf(db.cf_handle(NODES).unwrap(), NODE_FILES_KEY, row);
        db.write(batch).unwrap();
    }

    #[test]
    fn files_of_an_earlier_version_are_continued() {
        let dir = tempfile::tempdir().unwrap();
        let (db, nodes) = (database(&dir.path().join("db")), dir.path().join("nodes"));
        let mut trie = Trie::empty(Arc::new(rhizome_trie::MemoryNodes::default()));
        put(&mut trie, 0..300);
        write_messages(&db, &nodes, trie.commit());
        let mut roots = vec![(trie.root_hash(), 300)];
        for last in [310, 320, 400] {
            let files = Files::open(&db, &nodes);
            let (root, first) = roots[roots.len() - 1];
            let mut trie = Trie::open(root, Arc::clone(&files) as _);
            put(&mut trie, first..last);
            assert_eq!(files.0.end().file(), 1);
            files.add(&trie.commit_at(files.0.end()));
            roots.push((trie.root_hash(), last));
            roots.iter().for_each(|(root, last)| expect(&files, *root, 0..*last));
        }
        let files = Files::open(&db, &nodes);
        roots.iter().for_each(|(root, last)| expect(&files, *root, 0..*last));
        // The row of the new files names the end of the old one.
        drop(files);
        File::options().write(true).open(data_path(&nodes, 0)).unwrap().set_len(100).unwrap();
        assert!(NodeFiles::open(&db, nodes, false, false).is_err());
    }

    #[test]
    fn places_of_dropped_batches_stay_empty() {
        let dir = tempfile::tempdir().unwrap();
        let (db, nodes) = (database(&dir.path().join("db")), dir.path().join("nodes"));
        let files = Files::open(&db, &nodes);
        let mut trie = Trie::empty(Arc::clone(&files) as _);
        put(&mut trie, 0..100);
        files.add(&trie.commit_at(NodePlace::new(0, 70_000)));
        put(&mut trie, 100..200);
        // The batches at the end of the first file were dropped.
        files.add(&trie.commit_at(NodePlace::new(1, 0)));
        expect(&files, trie.root_hash(), 0..200);
        let end = files.0.end();
        assert_eq!(end.file(), 1);
        drop((trie, files));
        let files = Files::open(&db, &nodes);
        assert_eq!(files.0.end(), end);
        // One whose place is before the end was written late.
        let mut late = Trie::empty(Arc::clone(&files) as _);
        put(&mut late, 0..5);
        files.add(&late.commit_at(NodePlace::new(0, 100)));
        assert_eq!(files.0.end(), end);
        expect(&Files::open(&db, &nodes), late.root_hash(), 0..5);
        // No batch can be behind a file that does not exist.
        let mut batch: NodeBatch = [(key(1), Bytes::from_static(b"value"))].into_iter().collect();
        batch.set_place(NodePlace::new(3, 0));
        assert!(files.0.add([(JournalKey { sequence: 0, block: None }, &batch)].into_iter()).is_err());
    }

    #[test]
    fn long_values_are_not_kept_with_the_bytes_behind_records() {
        let dir = tempfile::tempdir().unwrap();
        let (db, nodes) = (database(&dir.path().join("db")), dir.path().join("nodes"));
        let files = Files::open(&db, &nodes);
        let mut trie = Trie::empty(Arc::clone(&files) as _);
        let code = vec![7; 24 * READ_BYTES];
        trie.put(key(0).as_slice(), &code).unwrap();
        put(&mut trie, 1..100);
        files.add(&trie.commit_at(files.0.end()));
        let read = files.0.get(&keccak256(&code)).unwrap().unwrap();
        assert_eq!((read.message.len(), files.0.adjacent.bytes()), (code.len(), 0));
        files.0.get(&trie.root_hash()).unwrap().unwrap();
        assert_eq!(files.0.adjacent.bytes(), READ_BYTES);
    }
}
