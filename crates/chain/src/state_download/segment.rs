//! Consecutive chunks of a state: a file to which they are appended in order of arrival, then sorted files of rows.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::*;
use rhizome_primitives::B256;
use rhizome_storage::{StateRows, StateTakeover, Store};
use rhizome_trie::snap_chunk::{CHUNK_SIZE, VerifiedChunk, verify_chunk};
use rhizome_trie::yield_processor;

use super::replace_file;
use crate::error::ChainError;

/// Chunks of a segment: 6.5 MB of the trie.
pub(super) const SEGMENT_CHUNKS: usize = 128;
/// Index, whether the chunk is the last one, length.
const RECORD_HEADER: usize = 13;

/// Chunks of a part of the trie.
pub(super) struct Segment {
    /// Index of the first chunk.
    start: u64,
    received: Vec<bool>,
    /// Nodes of the segment as rows; `None` before they are written.
    nodes: Option<u64>,
    /// Open while chunks are added.
    log: Option<File>,
}

/// A chunk as it arrived.
struct ChunkRecord {
    index: u64,
    is_complete: bool,
    chunk: Vec<u8>,
}

impl Segment {
    /// Reads what the last run left. A record that was not written to its end is cut off.
    pub(super) fn open(folder: &Path, start: u64, count: u64) -> io::Result<Self> {
        let (segment, length) = Self::read_with_length(folder, start, count)?;
        let path = log_path(folder, start);
        if let Some(length) = length
            && path.exists()
        {
            OpenOptions::new().write(true).open(&path)?.set_len(length)?;
        }
        Ok(segment)
    }

    /// Like [`Segment::open`], but changes nothing.
    pub(super) fn read(folder: &Path, start: u64, count: u64) -> io::Result<Self> {
        Ok(Self::read_with_length(folder, start, count)?.0)
    }

    /// Returns the length of the whole records as well, unless the segment is rows.
    fn read_with_length(folder: &Path, start: u64, count: u64) -> io::Result<(Self, Option<u64>)> {
        let mut segment = Self { start, received: (0..count).map(|_| false).collect(), nodes: None, log: None };
        if let Ok(done) = fs::read(folder.join(format!("{}.done", name(start))))
            && let Ok(nodes) = done.try_into()
        {
            segment.nodes = Some(u64::from_be_bytes(nodes));
            segment.received.fill(true);
            return Ok((segment, None));
        }
        let (records, length) = read_log(&log_path(folder, start))?;
        for record in records {
            if let Some(received) = segment.flag(record.index) {
                *received = true;
            }
        }
        Ok((segment, Some(length)))
    }

    fn flag(&mut self, index: u64) -> Option<&mut bool> {
        self.received.get_mut(usize::try_from(index.checked_sub(self.start)?).ok()?)
    }

    /// Returns the index of the first chunk.
    pub(super) fn start(&self) -> u64 {
        self.start
    }

    /// Returns the number of chunks that are there.
    pub(super) fn received(&self) -> u64 {
        match self.nodes {
            Some(_) => self.received.len() as u64,
            None => self.received.iter().filter(|received| **received).count() as u64,
        }
    }

    /// Returns the indexes of the chunks that are not there.
    pub(super) fn missing(&self) -> impl Iterator<Item = u64> {
        (self.start..).zip(&self.received).filter(|(_, received)| !**received).map(|(index, _)| index)
    }

    /// Whether all chunks are there and not rows yet.
    pub(super) fn is_full(&self) -> bool {
        self.nodes.is_none() && self.missing().next().is_none()
    }

    /// Whether the segment is rows.
    pub(super) fn is_done(&self) -> bool {
        self.nodes.is_some()
    }

    /// Returns the number of nodes.
    pub(super) fn nodes(&self) -> u64 {
        self.nodes.unwrap_or_default()
    }

    /// Appends a verified chunk. Returns whether no chunk is missing any more.
    pub(super) fn add(&mut self, folder: &Path, index: u64, chunk: &[u8], is_complete: bool) -> io::Result<bool> {
        if self.flag(index).is_none_or(|received| *received) {
            return Ok(false);
        }
        let log = match self.log.take() {
            Some(log) => log,
            None => OpenOptions::new().create(true).append(true).open(log_path(folder, self.start))?,
        };
        let mut record = Vec::with_capacity(RECORD_HEADER + chunk.len());
        record.extend_from_slice(&index.to_be_bytes());
        record.push(u8::from(is_complete));
        // Below 8 MiB: a message of the wire.
        record.extend_from_slice(&(chunk.len() as u32).to_be_bytes());
        record.extend_from_slice(chunk);
        let length = log.metadata()?.len();
        if let Err(error) = (&log).write_all(&record) {
            // A full disk: part of the record may be there.
            log.set_len(length)?;
            return Err(error);
        }
        if let Some(received) = self.flag(index) {
            *received = true;
        }
        let is_full = self.is_full();
        self.log = (!is_full).then_some(log);
        Ok(is_full)
    }

    /// Notes that the segment is rows, of which `nodes` are trie nodes, and deletes its chunks.
    pub(super) fn set_done(&mut self, folder: &Path, nodes: u64) -> io::Result<()> {
        replace_file(folder, &format!("{}.done", name(self.start)), &nodes.to_be_bytes())?;
        self.nodes = Some(nodes);
        fs::remove_file(log_path(folder, self.start))
    }

    /// Deletes all chunks: they are missing again.
    pub(super) fn clear(&mut self, folder: &Path) -> io::Result<()> {
        self.received.fill(false);
        self.log = None;
        fs::remove_file(log_path(folder, self.start))
    }
}

/// Returns the name of the files of a segment.
pub(super) fn name(start: u64) -> String {
    format!("{start:010}")
}

fn log_path(folder: &Path, start: u64) -> PathBuf {
    folder.join(format!("{}.chunks", name(start)))
}

/// Returns the records of a file and the length up to the end of the last complete one.
fn read_log(path: &Path) -> io::Result<(Vec<ChunkRecord>, u64)> {
    let mut log = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((Vec::new(), 0)),
        file => file?,
    };
    let (end, mut length, mut records) = (log.metadata()?.len(), 0, Vec::new());
    while let Some(record) = read_record(&mut log, end - length)? {
        yield_processor();
        length += (RECORD_HEADER + record.chunk.len()) as u64;
        records.push(record);
    }
    Ok((records, length))
}

/// Reads the next record; `None` if it is longer than the `left` bytes of the file.
fn read_record(log: &mut File, left: u64) -> io::Result<Option<ChunkRecord>> {
    let Some(left) = left.checked_sub(RECORD_HEADER as u64) else { return Ok(None) };
    let (mut index, mut is_complete, mut length) = ([0; 8], [0; 1], [0; 4]);
    for field in [&mut index[..], &mut is_complete, &mut length] {
        log.read_exact(field)?;
    }
    let length = u32::from_be_bytes(length);
    if u64::from(length) > left {
        return Ok(None);
    }
    let mut chunk = vec![0; length as usize];
    log.read_exact(&mut chunk)?;
    Ok(Some(ChunkRecord { index: u64::from_be_bytes(index), is_complete: is_complete == [1], chunk }))
}

/// Writes the rows of a complete segment as sorted files. Returns the number of its nodes; `None` if a chunk differs from the verified one:
/// the disk has changed it.
pub(super) fn write_rows(store: &Arc<Store>, folder: &Path, start: u64, root: B256) -> Result<Option<u64>, ChainError> {
    let (records, _) = read_log(&log_path(folder, start))?;
    let verify = |record: &ChunkRecord| {
        let from = record.index.saturating_mul(CHUNK_SIZE);
        verify_chunk(root, &record.chunk, from, from.saturating_add(CHUNK_SIZE), record.is_complete)
    };
    let Ok(chunks) = records.par_iter().map(verify).collect::<Result<Vec<VerifiedChunk>, _>>() else {
        return Ok(None);
    };
    drop(records);
    let mut rows = StateRows::default();
    for chunk in chunks {
        yield_processor();
        rows.nodes.extend(chunk.nodes.into_iter().map(|node| (node.row_key, node.message)));
        rows.entries.extend(chunk.entries);
        rows.values.extend(chunk.values);
    }
    let nodes = rows.nodes.len() as u64;
    StateTakeover::new(store).write_files(folder, &name(start), rows)?;
    Ok(Some(nodes))
}
