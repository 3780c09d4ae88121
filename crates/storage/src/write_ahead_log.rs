//! Reads the files of RocksDB's write-ahead log, for damage that RocksDB does not report.
//!
//! A log is a sequence of blocks of 32 KiB. A block has records of checksum, length, kind and content; a write that does not fit into the
//! rest of a block is cut into several records.

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use crc::{CRC_32_ISCSI, Crc, Table};
use rocksdb::{DB, Error};

const ENDING: &str = "log";
const BLOCK_BYTES: u64 = 1 << 15;
/// Length of checksum, length and kind in front of a record.
const RECORD_HEAD: usize = 7;
/// Kinds of the records with a whole write, with its beginning and with its end. A write begins with its sequence number, 8 bytes, and the
/// count of its changes, 4 bytes, little-endian.
const WHOLE: u8 = 1;
const BEGINNING: u8 = 2;
const END: u8 = 4;
/// Kind of the record about the log before: its number, size and last sequence number, 8 bytes each, little-endian.
const PREDECESSOR: u8 = 130;
/// Property of a database: the lowest number of a log that is not in its table files. Logs with higher numbers are not deleted.
const LOWEST_NEEDED: &str = "rocksdb.min-log-number-to-keep";
/// Checksums are rotated by 15 bits and moved by this number.
const CHECKSUM_OFFSET: u32 = 0xa282_ead8;

static CRC32C: Crc<u32, Table<1>> = Crc::<u32, Table<1>>::new(&CRC_32_ISCSI);

/// Returns true if a folder has a log.
pub(crate) fn has_log(folder: &Path) -> bool {
    !numbers(folder).is_empty()
}

/// Returns the file name of a log that `db`, opened for reading, needs and that its folder does not have, although a later one refers to it.
/// With `track_and_verify_wals` each log begins with the number of the log before it. RocksDB reports a gap between them as it reports the
/// end of a log that a failed write has left, and only that one may be replayed without its check.
pub(crate) fn find_missing(db: &DB) -> Result<Option<String>, Error> {
    let lowest = db.property_int_value(LOWEST_NEEDED)?.unwrap_or_default();
    let before = numbers(db.path()).into_iter().filter_map(|number| predecessor(&path(db.path(), number)));
    let missing = before.filter(|number| *number >= lowest).find(|number| !path(db.path(), *number).exists());
    Ok(missing.map(name))
}

/// Returns the sequence number of the last complete write in the logs of a folder. Opening the database applies writes up to the first
/// damaged record only, and removes the logs.
pub(crate) fn last_sequence(folder: &Path) -> Option<u64> {
    numbers(folder).into_iter().filter_map(|number| last_sequence_of(&path(folder, number))).max()
}

/// Returns the numbers of the logs in a folder.
fn numbers(folder: &Path) -> Vec<u64> {
    let number = |entry: std::io::Result<fs::DirEntry>| {
        let path = entry.ok()?.path();
        (path.extension()? == ENDING).then(|| path.file_stem()?.to_str()?.parse().ok()).flatten()
    };
    fs::read_dir(folder).into_iter().flatten().filter_map(number).collect()
}

fn name(number: u64) -> String {
    format!("{number:06}.{ENDING}")
}

fn path(folder: &Path, number: u64) -> PathBuf {
    folder.join(name(number))
}

/// Returns the number of the log before a log, `None` if it does not begin with it: the first log of a process.
fn predecessor(log: &Path) -> Option<u64> {
    let mut head = [0; RECORD_HEAD + 8];
    File::open(log).ok()?.read_exact(&mut head).ok()?;
    let (head, number) = head.split_at(RECORD_HEAD);
    (head.last() == Some(&PREDECESSOR)).then(|| number.try_into().ok().map(u64::from_le_bytes)).flatten()
}

/// Returns the sequence number of the last complete write in a log.
fn last_sequence_of(log: &Path) -> Option<u64> {
    let mut file = File::open(log).ok()?;
    let blocks = file.metadata().ok()?.len().div_ceil(BLOCK_BYTES);
    let mut block = Vec::new();
    // Whether the blocks behind begin with the end of a write.
    let mut is_complete = false;
    (0..blocks).rev().find_map(|number| {
        block.clear();
        file.seek(SeekFrom::Start(number * BLOCK_BYTES)).ok()?;
        (&file).take(BLOCK_BYTES).read_to_end(&mut block).ok()?;
        let mut last = None;
        let (mut begun, mut ends_earlier) = (None, None);
        for (kind, content) in records(&block) {
            match kind {
                WHOLE => last = sequence(content).or(last),
                BEGINNING => begun = sequence(content),
                END => last = begun.take().or(last),
                _ => continue,
            }
            ends_earlier.get_or_insert(kind == END);
        }
        let found = begun.filter(|_| is_complete).or(last);
        is_complete = ends_earlier.unwrap_or(is_complete);
        found
    })
}

/// Returns kind and content of the records of a block about writes, without damaged ones.
fn records(mut block: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    let next = move || {
        let (head, rest) = block.split_first_chunk()?;
        let [c0, c1, c2, c3, l0, l1, kind]: [u8; RECORD_HEAD] = *head;
        let (content, rest) = rest.split_at_checked(u16::from_le_bytes([l0, l1]).into())?;
        block = rest;
        Some((kind, content, u32::from_le_bytes([c0, c1, c2, c3])))
    };
    let writes = std::iter::from_fn(next).filter(|(kind, ..)| matches!(*kind, WHOLE | BEGINNING | END));
    writes
        .filter(|(kind, content, stored)| checksum(*kind, content) == *stored)
        .map(|(kind, content, _)| (kind, content))
}

/// Returns the sequence number of a write that changes something.
fn sequence(write: &[u8]) -> Option<u64> {
    let (sequence, rest) = write.split_first_chunk()?;
    rest.first_chunk::<4>().filter(|count| **count != [0; 4]).map(|_| u64::from_le_bytes(*sequence))
}

fn checksum(kind: u8, content: &[u8]) -> u32 {
    let mut digest = CRC32C.digest();
    digest.update(&[kind]);
    digest.update(content);
    digest.finalize().rotate_right(15).wrapping_add(CHECKSUM_OFFSET)
}
