//! Index segments: sorted lists of the locations of nodes and long values that are found by their hashes, one file each.
//!
//! A segment has an entry of 15 bytes for each of them, in the order of the hashes, followed by a table of the first
//! entry of each group, which stays in memory. A look-up reads the part of one group where the entry is expected. Hashes are
//! uniformly distributed, so all groups have about the same size. An entry holds only 6 bytes of the hash, because the reader
//! verifies the hash of the node anyway. Earlier builds wrote 7 of them, which the length of the file shows.
//!
//! Measured: see the head of `node_files.rs`.

use std::cmp::Ordering;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use rhizome_trie::NodePlace;

use crate::engine::NODES_FOLDER;
use crate::positioned::{PositionedFile, expect_random_reads};

const ENTRY_BYTES: usize = 15;
/// Size of an entry with 7 bytes of the hash, which earlier builds wrote.
const WIDE_ENTRY_BYTES: usize = 16;
const PREFIX_BITS: u32 = 48;
const LENGTH_BITS: u32 = 24;
const OFFSET_BITS: u32 = 32;
const FILE_BITS: u32 = 16;
const LOCATION_BITS: u32 = FILE_BITS + OFFSET_BITS + LENGTH_BITS;
/// Average number of entries in a group.
const GROUP_ENTRIES: u64 = 256;
const START_BYTES: usize = 8;
/// Entries on either side of the expected place that a look-up reads: about three standard deviations. Only rarely it has to read the
/// whole group.
const REACH: u64 = 32;
const BUFFER_BYTES: usize = 256 << 10;

/// Location of a node in the node files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NodeLocation {
    pub(crate) place: NodePlace,
    /// Length of the record, or of the message of an earlier version, in bytes, at most 2^24 - 1: longer ones have that length here.
    pub(crate) length: u32,
}

/// One entry of a segment: the first 6 bytes of the hash, then the location. Entries sort by hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct IndexEntry(u128);

impl IndexEntry {
    pub(crate) fn new(hash: &[u8], location: NodeLocation) -> Self {
        let NodeLocation { place, length } = location;
        let position = u128::from(place.file()) << OFFSET_BITS | u128::from(place.offset());
        let location = position << LENGTH_BITS | u128::from(length.min((1 << LENGTH_BITS) - 1));
        Self(u128::from(prefix(hash)) << LOCATION_BITS | location)
    }

    /// Decodes an entry of either size.
    fn decode(bytes: &[u8]) -> Self {
        if let Ok(narrow) = <[u8; ENTRY_BYTES]>::try_from(bytes) {
            let mut encoded = [0; WIDE_ENTRY_BYTES];
            let [_, rest @ ..] = &mut encoded;
            *rest = narrow;
            return Self(u128::from_be_bytes(encoded));
        }
        let encoded = bytes.try_into().map_or(0, u128::from_be_bytes);
        let prefix = encoded >> (LOCATION_BITS + 8);
        Self(prefix << LOCATION_BITS | encoded & ((1 << LOCATION_BITS) - 1))
    }

    fn encode(self) -> [u8; ENTRY_BYTES] {
        let [_, encoded @ ..] = self.0.to_be_bytes();
        encoded
    }

    pub(crate) fn location(self) -> NodeLocation {
        let position = self.0 >> LENGTH_BITS;
        let length = (self.0 as u32) & ((1 << LENGTH_BITS) - 1);
        NodeLocation { place: NodePlace::new((position >> OFFSET_BITS) as u16, position as u32), length }
    }

    fn prefix(self) -> u64 {
        (self.0 >> LOCATION_BITS) as u64
    }
}

/// Returns the part of a hash that an entry holds.
pub(crate) fn prefix(hash: &[u8]) -> u64 {
    hash.first_chunk().map_or(0, |bytes| u64::from_be_bytes(*bytes)) >> (u64::BITS - PREFIX_BITS)
}

/// One segment of the node index.
pub(crate) struct IndexSegment {
    file: File,
    path: PathBuf,
    count: u64,
    entry_bytes: usize,
    /// Number of entries before each group, and of all entries.
    starts: Vec<u64>,
}

impl IndexSegment {
    /// Opens a segment of `count` entries.
    pub(crate) fn open(path: PathBuf, count: u64) -> io::Result<Self> {
        Self::read(path.clone(), count).map_err(in_file(&path))
    }

    fn read(path: PathBuf, count: u64) -> io::Result<Self> {
        let file = File::open(&path)?;
        expect_random_reads(&file);
        let length = file.metadata()?.len();
        let table_bytes = (groups(count) + 1) * START_BYTES;
        let is_size = |size: &usize| file_bytes(count, *size) == length;
        let entry_bytes = [ENTRY_BYTES, WIDE_ENTRY_BYTES].into_iter().find(is_size);
        let entry_bytes = entry_bytes.ok_or_else(|| damaged("an index segment has the wrong length"))?;
        let mut table = vec![0; table_bytes];
        file.read_exact_at(&mut table, length - table_bytes as u64)?;
        let starts = table.as_chunks().0.iter().map(|start| u64::from_be_bytes(*start)).collect();
        Ok(Self { file, path, count, entry_bytes, starts })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Returns the size of the file.
    pub(crate) fn bytes(&self) -> u64 {
        file_bytes(self.count, self.entry_bytes)
    }

    /// Returns all entries with the prefix of a hash: nearly always one or none.
    pub(crate) fn find(&self, hash: &[u8]) -> io::Result<Vec<IndexEntry>> {
        let prefix = prefix(hash);
        let group = (prefix >> group_shift(self.count)) as usize;
        let (first, last) = match self.starts.get(group..).and_then(<[u64]>::first_chunk) {
            Some([first, last]) if first <= last && *last <= self.count => (*first, *last),
            _ => return Err(self.inconsistent()),
        };
        // Hashes are spread evenly within a group, too.
        let within = prefix & ((1 << group_shift(self.count)) - 1);
        let expected = first + ((u128::from(last - first) * u128::from(within)) >> group_shift(self.count)) as u64;
        let near = (first.max(expected.saturating_sub(REACH)), last.min(expected + REACH));
        let mut entries = self.read_entries(near.0, near.1)?;
        let is_bounded = |at: u64, end: u64, entry: Option<IndexEntry>, order| {
            at == end || entry.is_some_and(|entry| entry.prefix().cmp(&prefix) == order)
        };
        let begins_below = is_bounded(near.0, first, entries.get(0), Ordering::Less);
        if !begins_below || !is_bounded(near.1, last, entries.last(), Ordering::Greater) {
            entries = self.read_entries(first, last)?;
        }
        entries.with_prefix(prefix)
    }

    fn read_entries(&self, from: u64, to: u64) -> io::Result<EncodedEntries> {
        let mut bytes = vec![0; (to - from) as usize * self.entry_bytes];
        self.file.read_exact_at(&mut bytes, self.offset(from)).map_err(in_file(&self.path))?;
        Ok(EncodedEntries { bytes, entry_bytes: self.entry_bytes })
    }

    /// Returns the offset of an entry.
    fn offset(&self, index: u64) -> u64 {
        index.saturating_mul(self.entry_bytes as u64)
    }

    /// Returns the number of entries up to `last`, inclusive.
    fn count_up_to(&self, last: IndexEntry) -> io::Result<u64> {
        partition_point(self.count, |index| Ok(self.entry(index)? <= last))
    }

    fn entry(&self, index: u64) -> io::Result<IndexEntry> {
        self.read_entries(index, index.saturating_add(1))?.get(0).ok_or_else(|| self.inconsistent())
    }

    fn inconsistent(&self) -> io::Error {
        in_file(&self.path)(damaged("an index segment is inconsistent"))
    }

    /// Iterates over the entries in order, without the first `skipped` ones.
    fn entries(&self, skipped: u64) -> io::Result<impl Iterator<Item = io::Result<IndexEntry>> + use<>> {
        let (path, entry_bytes) = (self.path.clone(), self.entry_bytes);
        let mut file = File::open(&path).map_err(in_file(&path))?;
        file.seek(SeekFrom::Start(self.offset(skipped)))?;
        let mut input = BufReader::with_capacity(BUFFER_BYTES, file);
        Ok((skipped..self.count).map(move |_| read_entry(&mut input, entry_bytes).map_err(in_file(&path))))
    }
}

/// Entries as in the file, in order. A look-up decodes few of them.
struct EncodedEntries {
    bytes: Vec<u8>,
    entry_bytes: usize,
}

impl EncodedEntries {
    fn get(&self, index: usize) -> Option<IndexEntry> {
        let start = index * self.entry_bytes;
        self.bytes.get(start..start + self.entry_bytes).map(IndexEntry::decode)
    }

    fn last(&self) -> Option<IndexEntry> {
        self.get(self.len().checked_sub(1)?)
    }

    fn len(&self) -> usize {
        self.bytes.len() / self.entry_bytes
    }

    fn with_prefix(&self, prefix: u64) -> io::Result<Vec<IndexEntry>> {
        let is_below = |index| Ok(self.get(index as usize).is_some_and(|entry| entry.prefix() < prefix));
        let first = partition_point(self.len() as u64, is_below)? as usize;
        let entries = (first..self.len()).map_while(|index| self.get(index));
        Ok(entries.take_while(|entry| entry.prefix() == prefix).collect())
    }
}

/// Returns the number of entries that are below, of `count` in order.
fn partition_point(count: u64, mut is_below: impl FnMut(u64) -> io::Result<bool>) -> io::Result<u64> {
    let (mut below, mut above) = (0, count);
    while below < above {
        let middle = u64::midpoint(below, above);
        if is_below(middle)? { below = middle + 1 } else { above = middle }
    }
    Ok(below)
}

/// A segment that is being written. Its entries arrive in order.
pub(crate) struct UnfinishedSegment {
    file: BufWriter<File>,
    path: PathBuf,
    /// Number of entries that it will have.
    count: u64,
    /// Number of entries before each group, up to the group of the last entry.
    starts: Vec<u64>,
    written: u64,
    last: Option<IndexEntry>,
}

impl UnfinishedSegment {
    /// Creates a segment that will have `count` entries.
    pub(crate) fn create(path: PathBuf, count: u64) -> io::Result<Self> {
        let file = File::options().create(true).truncate(true).read(true).write(true).open(&path)?;
        let file = BufWriter::with_capacity(BUFFER_BYTES, file);
        Ok(Self { file, path, count, starts: Vec::new(), written: 0, last: None })
    }

    /// Opens a segment that was stopped. `None` unless its entries are the first ones of a merge of `parts`.
    pub(crate) fn resume(path: PathBuf, count: u64, parts: &[&IndexSegment]) -> io::Result<Option<Self>> {
        let file = File::options().read(true).write(true).open(&path)?;
        let written = file.metadata()?.len() / ENTRY_BYTES as u64;
        let mut input = BufReader::with_capacity(BUFFER_BYTES, file.try_clone()?);
        let file = BufWriter::with_capacity(BUFFER_BYTES, file);
        let mut segment = Self { file, path, count, starts: Vec::new(), written: 0, last: None };
        for _ in 0..written {
            let entry = read_entry(&mut input, ENTRY_BYTES)?;
            if segment.last.is_some_and(|last| last >= entry) {
                return Ok(None);
            }
            segment.note(entry);
        }
        segment.file.seek(SeekFrom::Start(written.saturating_mul(ENTRY_BYTES as u64)))?;
        let begins_merge = segment.last.map_or(Ok(true), |last| begins_merge(parts, last, written))?;
        Ok(begins_merge.then_some(segment))
    }

    /// Returns the last entry.
    pub(crate) fn last(&self) -> Option<IndexEntry> {
        self.last
    }

    pub(crate) fn push(&mut self, entry: IndexEntry) -> io::Result<()> {
        self.note(entry);
        self.file.write_all(&entry.encode())
    }

    fn note(&mut self, entry: IndexEntry) {
        let shift = group_shift(self.count);
        while self.starts.len() as u64 <= entry.prefix() >> shift {
            self.starts.push(self.written);
        }
        self.written += 1;
        self.last = Some(entry);
    }

    /// Writes the entries so far to the disk, to be resumed. Returns the path.
    pub(crate) fn stop(mut self) -> io::Result<PathBuf> {
        self.file.flush()?;
        self.file.get_ref().sync_data()?;
        Ok(self.path)
    }

    /// Completes the segment.
    pub(crate) fn finish(mut self, is_synced: bool) -> io::Result<IndexSegment> {
        self.starts.resize(groups(self.count) + 1, self.written);
        for start in &self.starts {
            self.file.write_all(&start.to_be_bytes())?;
        }
        let file = self.file.into_inner().map_err(io::IntoInnerError::into_error)?;
        expect_random_reads(&file);
        if is_synced {
            file.sync_data()?;
        }
        Ok(IndexSegment { file, path: self.path, count: self.count, entry_bytes: ENTRY_BYTES, starts: self.starts })
    }
}

/// Returns true if `written` entries of `parts` are not above `last`, which is one of them.
fn begins_merge(parts: &[&IndexSegment], last: IndexEntry, written: u64) -> io::Result<bool> {
    let (mut count, mut has_last) = (0, false);
    for part in parts {
        let part_count = part.count_up_to(last)?;
        count += part_count;
        has_last |= part_count > 0 && part.entry(part_count - 1)? == last;
    }
    Ok(has_last && count == written)
}

fn read_entry(input: &mut impl Read, entry_bytes: usize) -> io::Result<IndexEntry> {
    let mut bytes = [0; WIDE_ENTRY_BYTES];
    let bytes = bytes.get_mut(..entry_bytes).unwrap_or_default();
    input.read_exact(bytes)?;
    Ok(IndexEntry::decode(bytes))
}

/// Returns the size of the file of a segment.
fn file_bytes(count: u64, entry_bytes: usize) -> u64 {
    let table = (groups(count) + 1) as u64 * START_BYTES as u64;
    count.saturating_mul(entry_bytes as u64).saturating_add(table)
}

/// Iterates over the entries of several segments behind `last` in order.
pub(crate) fn merge_entries(
    segments: &[&IndexSegment],
    last: Option<IndexEntry>,
) -> io::Result<impl Iterator<Item = io::Result<IndexEntry>> + use<>> {
    let entries = |segment: &&IndexSegment| segment.entries(last.map_or(Ok(0), |last| segment.count_up_to(last))?);
    let mut segments: Vec<_> = segments.iter().map(entries).collect::<io::Result<_>>()?;
    let mut heads: Vec<Option<IndexEntry>> =
        segments.iter_mut().map(|segment| segment.next().transpose()).collect::<io::Result<_>>()?;
    Ok(std::iter::from_fn(move || {
        let (at, least) =
            heads.iter().enumerate().filter_map(|(at, head)| Some((at, (*head)?))).min_by_key(|(_, head)| *head)?;
        let (Some(head), Some(segment)) = (heads.get_mut(at), segments.get_mut(at)) else { return None };
        *head = match segment.next().transpose() {
            Ok(next) => next,
            Err(error) => return Some(Err(error)),
        };
        Some(Ok(least))
    }))
}

/// Returns the number of groups in a segment of `count` entries, a power of two.
fn groups(count: u64) -> usize {
    1 << (count / GROUP_ENTRIES).checked_ilog2().unwrap_or(0)
}

/// Returns the number of bits by which a prefix is shifted right to give its group.
fn group_shift(count: u64) -> u32 {
    PREFIX_BITS - (count / GROUP_ENTRIES).checked_ilog2().unwrap_or(0)
}

/// Adds the name of a node file to an error, which keeps its kind.
pub(crate) fn in_file(path: &Path) -> impl Fn(io::Error) -> io::Error + '_ {
    |error| {
        let name = path.file_name().unwrap_or_default();
        io::Error::new(error.kind(), format!("{NODES_FOLDER}/{}: {error}", name.display()))
    }
}

/// Returns the error for data that this node never writes.
pub(crate) fn damaged(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

#[cfg(test)]
mod tests {

    use rhizome_primitives::keccak256;

    use super::*;
    use crate::corpus::fuzz_corpus;

    fn entry(number: u64) -> IndexEntry {
        let place = NodePlace::new(number as u16, u32::MAX - number as u32);
        let location = NodeLocation { place, length: (1 << LENGTH_BITS) - 1 };
        IndexEntry::new(keccak256(number.to_be_bytes()).as_slice(), location)
    }

    fn segment(path: PathBuf, numbers: impl Iterator<Item = u64>) -> IndexSegment {
        let mut entries: Vec<IndexEntry> = numbers.map(entry).collect();
        entries.sort_unstable();
        written(path, entries.len() as u64, entries.into_iter())
    }

    fn written(path: PathBuf, count: u64, mut entries: impl Iterator<Item = IndexEntry>) -> IndexSegment {
        let mut segment = UnfinishedSegment::create(path, count).unwrap();
        entries.try_for_each(|entry| segment.push(entry)).unwrap();
        segment.finish(false).unwrap()
    }

    #[test]
    fn locations_of_extreme_sizes_round_trip() {
        for (file, offset, length) in [(0, 0, 0), (u16::MAX, u32::MAX, (1 << LENGTH_BITS) - 1), (1, 2, 3)] {
            let location = NodeLocation { place: NodePlace::new(file, offset), length };
            for hash in [[0; 32], [0xff; 32]] {
                let entry = IndexEntry::new(&hash, location);
                assert_eq!((entry.location(), entry.prefix()), (location, prefix(&hash)));
            }
        }
    }

    #[test]
    fn segments_of_every_size_find_their_entries() {
        let dir = tempfile::tempdir().unwrap();
        for count in [0, 1, 2, 255, 256, 511, 512, 513, 5000, 100_000] {
            let path = dir.path().join(count.to_string());
            let written = segment(path.clone(), 0..count);
            let opened = IndexSegment::open(path, count).unwrap();
            for index in [written, opened] {
                for number in (0..count).step_by(1 + count as usize / 1000) {
                    let hash = keccak256(number.to_be_bytes());
                    assert_eq!(index.find(hash.as_slice()).unwrap(), [entry(number)], "{number} of {count}");
                }
                for hash in [keccak256((count + 7).to_be_bytes()).0, [0; 32], [0xff; 32]] {
                    assert_eq!(index.find(&hash).unwrap(), []);
                }
            }
        }
    }

    #[test]
    fn entries_with_the_same_prefix_are_all_found() {
        let dir = tempfile::tempdir().unwrap();
        let location = |offset| NodeLocation { place: NodePlace::new(0, offset), length: 1 };
        // All in one group of thousands of entries.
        let entries: Vec<IndexEntry> = (0..5000).map(|offset| IndexEntry::new(&[9; 32], location(offset))).collect();
        let index = written(dir.path().join("segment"), 5000, entries.iter().copied());
        assert_eq!(index.find(&[9; 32]).unwrap(), entries);
        assert_eq!(index.find(&[8; 32]).unwrap(), []);
        assert_eq!(index.find(&[10; 32]).unwrap(), []);
    }

    #[test]
    fn segments_with_wide_entries_are_read_and_merged() {
        let dir = tempfile::tempdir().unwrap();
        let narrow = segment(dir.path().join("narrow"), 0..5000);
        let path = dir.path().join("wide");
        let mut content = Vec::new();
        for entry in narrow.entries(0).unwrap().map(Result::unwrap) {
            let [prefix @ .., _, _, _, _, _, _, _, _, _] = entry.encode();
            content.extend([prefix.as_slice(), &[0xa5], &entry.encode()[prefix.len()..]].concat());
        }
        content.extend(narrow.starts.iter().flat_map(|start| start.to_be_bytes()));
        std::fs::write(&path, content).unwrap();
        let wide = IndexSegment::open(path, 5000).unwrap();
        assert_eq!(wide.entry_bytes, WIDE_ENTRY_BYTES);
        for number in [0, 1, 4999_u64] {
            assert_eq!(wide.find(keccak256(number.to_be_bytes()).as_slice()).unwrap(), [entry(number)]);
        }
        let other = segment(dir.path().join("other"), 5000..6000);
        let merged: Vec<_> = merge_entries(&[&wide, &other], None).unwrap().map(Result::unwrap).collect();
        let whole = segment(dir.path().join("whole"), 0..6000);
        assert_eq!(merged, whole.entries(0).unwrap().map(Result::unwrap).collect::<Vec<_>>());
    }

    #[test]
    fn merged_segments_yield_all_entries_in_order() {
        let dir = tempfile::tempdir().unwrap();
        let segments: Vec<IndexSegment> = [0..10, 0..0, 5..700, 10..3000]
            .into_iter()
            .enumerate()
            .map(|(at, numbers)| segment(dir.path().join(at.to_string()), numbers))
            .collect();
        let entries: Vec<IndexEntry> =
            merge_entries(&segments.iter().collect::<Vec<_>>(), None).unwrap().map(Result::unwrap).collect();
        let mut expected: Vec<IndexEntry> = (0..10).chain(5..700).chain(10..3000).map(entry).collect();
        expected.sort_unstable();
        assert_eq!(entries, expected);
    }

    #[test]
    fn a_stopped_merge_is_resumed() {
        let dir = tempfile::tempdir().unwrap();
        let parts = [segment(dir.path().join("one"), 0..2000), segment(dir.path().join("other"), 2000..3001)];
        let parts: Vec<&IndexSegment> = parts.iter().collect();
        let merged = |last| merge_entries(&parts, last).unwrap().map(Result::unwrap);
        let expected = written(dir.path().join("whole"), 3001, merged(None));
        for stop in [0, 1700, 3000, 3001] {
            let path = dir.path().join("stopped");
            let mut unfinished = UnfinishedSegment::create(path.clone(), 3001).unwrap();
            merged(None).take(stop).for_each(|entry| unfinished.push(entry).unwrap());
            assert_eq!(unfinished.stop().unwrap(), path);
            // The first entries are of both parts.
            let other = UnfinishedSegment::resume(path.clone(), 3001, &parts[..1]).unwrap();
            assert_eq!(other.is_some(), stop == 0, "{stop}");
            let mut resumed = UnfinishedSegment::resume(path.clone(), 3001, &parts).unwrap().unwrap();
            merged(resumed.last()).for_each(|entry| resumed.push(entry).unwrap());
            resumed.finish(true).unwrap();
            assert_eq!(std::fs::read(path).unwrap(), std::fs::read(expected.path()).unwrap(), "{stop}");
        }
    }

    #[test]
    fn an_inconsistent_segment_is_rejected() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("segment");
        let index = segment(path.clone(), 0..5000);
        assert!(IndexSegment::open(path.clone(), 4999).is_err());
        let file = File::options().write(true).open(&path).unwrap();
        file.write_all_at(&[0xff; 64], index.offset(5000)).unwrap();
        assert!(IndexSegment::open(path, 5000).unwrap().find(&[0; 32]).is_err());
    }

    /// Input: the count in two bytes, then the file of a segment, cut or padded to the length that the count requires.
    #[test]
    fn fuzz_corpus_index_segment() {
        let dir = tempfile::tempdir().unwrap();
        let whole = segment(dir.path().join("whole"), 0..700);
        let seed = [700_u16.to_be_bytes().as_slice(), &std::fs::read(whole.path()).unwrap()].concat();
        fuzz_corpus("index-segment", 2, &[seed], |data, _| {
            let Some((count, content)) = data.split_first_chunk::<2>() else { return };
            let count = u64::from(u16::from_be_bytes(*count));
            let path = dir.path().join("segment");
            std::fs::write(&path, content).unwrap();
            let sizes = [ENTRY_BYTES, WIDE_ENTRY_BYTES].map(|entry_bytes| file_bytes(count, entry_bytes));
            let length = content.len() as u64;
            assert_eq!(IndexSegment::open(path.clone(), count).is_ok(), sizes.contains(&length));
            let padded = if length <= sizes[0] { sizes[0] } else { sizes[1] };
            File::options().write(true).open(&path).unwrap().set_len(padded).unwrap();
            let index = IndexSegment::open(path.clone(), count).unwrap();
            for hash in [[0; 32], [0xff; 32], keccak256([]).0] {
                let found = index.find(&hash).unwrap_or_default();
                assert!(found.iter().all(|entry| entry.prefix() == prefix(&hash)));
            }
            let merge_entries = merge_entries(&[&index, &whole], None).unwrap();
            assert_eq!(merge_entries.filter_map(Result::ok).count() as u64, count + whole.count);
        });
    }
}
