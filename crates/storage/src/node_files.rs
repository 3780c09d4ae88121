//! The files that hold the trie's nodes, and the segments of where each one lies.
//!
//! Nodes are never changed and never deleted, so their bytes are appended to a file as they come and stay there. Only
//! the segments (`index_segment.rs`) are sorted, and merged so that there are few of them: 16 bytes a node are moved
//! a few times, its message never.
//!
//! Which files count, and up to which byte, is one row of the database. It changes in one batch with the deletion of
//! the batches whose nodes have been filed, after everything that it names has reached the disk. What a crash leaves
//! besides is overwritten or removed.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::{Mutex, RwLock};
use rhizome_primitives::{B256, Bytes, keccak256};
use rhizome_trie::NodeBatch;
use rocksdb::{ColumnFamily, DB, WriteBatch, WriteOptions};

use crate::columns::{NODE_BATCHES, NODE_FILES_KEY, NODES};
use crate::index_segment::{IndexEntry, IndexSegment, NodeLocation, damaged, merge_entries, prefix};
use crate::positioned::PositionedFile;

/// Lists of one level that become one of the next.
const SEGMENTS_PER_LEVEL: usize = 4;
/// A file with so many bytes takes no more. A quarter of what a location can address: what is filed at a time always fits.
const FULL_FILE_BYTES: u32 = 1 << 30;
const BUFFER_BYTES: usize = 1 << 20;
const DATA: &str = "data";
const INDEX: &str = "index";

/// The node files of a database. Reads are free of locks but for a moment; one thread adds, one merges.
pub(crate) struct NodeFiles {
    db: Arc<DB>,
    dir: PathBuf,
    is_temporary: bool,
    /// What readers go by.
    contents: RwLock<Arc<NodeFileSet>>,
    /// Held while the contents change.
    change: Mutex<()>,
    next_segment: AtomicU64,
    is_closing: AtomicBool,
}

/// What counts.
#[derive(Clone, Default)]
struct NodeFileSet {
    data: Vec<Arc<File>>,
    /// Bytes of the last file that count.
    end: u32,
    segments: Vec<NumberedSegment>,
}

#[derive(Clone)]
struct NumberedSegment {
    number: u64,
    level: u8,
    index: Arc<IndexSegment>,
}

/// Why nodes were not filed.
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
    /// Opens the files in a folder of their own, and removes what an interrupted run left there.
    pub(crate) fn open(db: &Arc<DB>, dir: PathBuf, is_temporary: bool) -> Result<Self, NodeFileError> {
        fs::create_dir_all(&dir)?;
        let column = db.cf_handle(NODES).ok_or_else(|| damaged("a column of nodes is missing"))?;
        let row = db.get_cf(column, NODE_FILES_KEY).map_err(NodeFileError::Engine)?;
        let contents = row.map_or_else(|| Ok(NodeFileSet::default()), |row| NodeFileSet::open(&dir, &row))?;
        remove_unreferenced(&dir, &contents)?;
        let next_segment = contents.segments.iter().map(|segment| segment.number + 1).max().unwrap_or_default();
        Ok(Self {
            db: Arc::clone(db),
            dir,
            is_temporary,
            contents: RwLock::new(Arc::new(contents)),
            change: Mutex::default(),
            next_segment: AtomicU64::new(next_segment),
            is_closing: AtomicBool::new(false),
        })
    }

    /// A node by its hash.
    pub(crate) fn get(&self, hash: &B256) -> io::Result<Option<Bytes>> {
        let contents = self.contents();
        for segment in contents.segments.iter().rev() {
            for entry in segment.index.find(hash.as_slice())? {
                let message = contents.read(entry.location())?;
                let found = keccak256(&message);
                if found == *hash {
                    return Ok(Some(message.into()));
                }
                // Two hashes may begin alike.
                if prefix(found.as_slice()) != prefix(hash.as_slice()) {
                    return Err(damaged("a node is not what it was"));
                }
            }
        }
        Ok(None)
    }

    /// Files the nodes of batches, and deletes the batches. One thread at a time.
    pub(crate) fn add<'a>(
        &self,
        batches: impl Iterator<Item = (u64, &'a NodeBatch)> + Clone,
    ) -> Result<(), NodeFileError> {
        let NodeFileSet { mut data, mut end, .. } = NodeFileSet::clone(&self.contents());
        if data.is_empty() || end >= FULL_FILE_BYTES {
            let path = data_path(&self.dir, data.len());
            data.push(Arc::new(File::options().create(true).truncate(true).read(true).write(true).open(path)?));
            end = 0;
        }
        let (Some(file), Ok(number)) = (data.last(), u16::try_from(data.len() - 1)) else {
            return Err(damaged("there are too many nodes").into());
        };
        let count = batches.clone().map(|(_, nodes)| nodes.len()).sum();
        let mut entries = Vec::with_capacity(count);
        let mut buffer = Vec::with_capacity(2 * BUFFER_BYTES);
        let mut written = end;
        for (_, nodes) in batches.clone() {
            for node in nodes.iter() {
                // The trie refuses values of more than 2^24 - 1 bytes.
                let location = NodeLocation { file: number, offset: end, length: node.message.len() as u32 };
                entries.push(IndexEntry::new(node.hash.as_slice(), location));
                end = end.checked_add(location.length).ok_or_else(|| damaged("too many nodes at a time"))?;
            }
            buffer.extend_from_slice(nodes.messages());
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
        let segment = self.write_segment(0, entries.len() as u64, entries.into_iter().map(Ok))?;
        let mut batch = WriteBatch::default();
        let column = self.column(NODE_BATCHES)?;
        batches.for_each(|(sequence, _)| batch.delete_cf(column, sequence.to_be_bytes()));
        self.change(batch, false, |contents| {
            contents.data = data;
            contents.end = end;
            contents.segments.push(segment);
        })
    }

    /// Makes one segment of several of a level, if there are enough.
    pub(crate) fn merge(&self) -> Result<(), NodeFileError> {
        let contents = self.contents();
        let Some((level, parts)) = contents.mergeable() else { return Ok(()) };
        let indexes: Vec<&IndexSegment> = parts.iter().map(|segment| &*segment.index).collect();
        let count = indexes.iter().map(|index| index.count()).sum();
        let entries = merge_entries(&indexes)?.map(|entry| match self.is_closing.load(Ordering::Relaxed) {
            true => Err(io::ErrorKind::Interrupted.into()),
            false => entry,
        });
        let merged = match self.write_segment(level.saturating_add(1), count, entries) {
            // What is left is removed at the next start.
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(()),
            merged => merged?,
        };
        let numbers: Vec<u64> = parts.iter().map(|segment| segment.number).collect();
        // The new row must be on the disk before the files are gone that the old one names.
        self.change(WriteBatch::default(), true, |contents| {
            contents.segments.retain(|segment| !numbers.contains(&segment.number));
            // Older than those which came meanwhile, but the order is of no importance.
            contents.segments.push(merged);
        })?;
        for number in numbers {
            fs::remove_file(segment_path(&self.dir, number))?;
        }
        Ok(())
    }

    /// Whether nobody will open the files again.
    pub(crate) fn is_temporary(&self) -> bool {
        self.is_temporary
    }

    /// Whether there is something to merge.
    pub(crate) fn can_merge(&self) -> bool {
        self.contents().mergeable().is_some()
    }

    /// Lets a merge that is under way come to its end soon, without a result.
    pub(crate) fn close(&self) {
        self.is_closing.store(true, Ordering::Relaxed);
    }

    /// Makes a copy of the database by `copy`, and then one of the files that belong to it, in `dir`.
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
        // The last one will grow, here and there.
        let mut original = io::Read::take(File::open(data_path(&self.dir, last))?, contents.end.into());
        let mut copied = File::create(data_path(dir, last))?;
        io::copy(&mut original, &mut copied)?;
        Ok(copied.sync_data()?)
    }

    /// Size of all files.
    pub(crate) fn bytes(&self) -> io::Result<u64> {
        let contents = self.contents();
        let mut bytes = contents.segments.iter().map(|segment| segment.index.bytes()).sum();
        for file in &contents.data {
            bytes += file.metadata()?.len();
        }
        Ok(bytes)
    }

    fn column(&self, name: &'static str) -> io::Result<&ColumnFamily> {
        self.db.cf_handle(name).ok_or_else(|| damaged("a column of nodes is missing"))
    }

    fn contents(&self) -> Arc<NodeFileSet> {
        Arc::clone(&self.contents.read())
    }

    fn write_segment(
        &self,
        level: u8,
        count: u64,
        entries: impl Iterator<Item = io::Result<IndexEntry>>,
    ) -> io::Result<NumberedSegment> {
        let number = self.next_segment.fetch_add(1, Ordering::Relaxed);
        let index = IndexSegment::write(segment_path(&self.dir, number), count, entries, !self.is_temporary)?;
        // The names, too. Windows has no folders that can be opened, and keeps names in its journal.
        if !self.is_temporary && cfg!(unix) {
            File::open(&self.dir)?.sync_all()?;
        }
        Ok(NumberedSegment { number, level, index: Arc::new(index) })
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
        let malformed = || damaged("the row of the node files cannot be decoded");
        let (count, rest) = row.split_first_chunk::<4>().ok_or_else(malformed)?;
        let (end, mut rest) = rest.split_first_chunk::<4>().ok_or_else(malformed)?;
        let (count, end) = (u32::from_be_bytes(*count) as usize, u32::from_be_bytes(*end));
        let mut contents = Self { end, ..Self::default() };
        for number in 0..count {
            let file = File::options().read(true).write(true).open(data_path(dir, number))?;
            let least = if number + 1 == count { end } else { FULL_FILE_BYTES };
            if file.metadata()?.len() < least.into() {
                return Err(damaged("a file of nodes is too short"));
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
        if rest.is_empty() { Ok(contents) } else { Err(malformed()) }
    }

    fn read(&self, location: NodeLocation) -> io::Result<Vec<u8>> {
        let file = self.data.get(usize::from(location.file)).ok_or_else(|| damaged("a node lies in no file"))?;
        let mut message = vec![0; location.length as usize];
        file.read_exact_at(&mut message, location.offset.into())?;
        Ok(message)
    }

    /// The lowest level with enough segments, and these.
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

/// Removes files that do not count. Any other name is none of ours.
fn remove_unreferenced(dir: &Path, contents: &NodeFileSet) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        let number = path.file_stem().and_then(|stem| stem.to_str()?.parse::<u64>().ok());
        let Some((number, kind)) = number.zip(path.extension().and_then(|kind| kind.to_str())) else { continue };
        let is_unreferenced = match kind {
            DATA => number >= contents.data.len() as u64,
            INDEX => contents.segments.iter().all(|segment| segment.number != number),
            _ => false,
        };
        if is_unreferenced {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}
