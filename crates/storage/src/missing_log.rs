//! Finds a write-ahead log that a database needs and does not have.
//!
//! With `track_and_verify_wals` each log begins with the number of the log before it. RocksDB reports a gap between them as it reports the
//! end of a log that a failed write has left, and only that one may be replayed without its check.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use rocksdb::{DB, Error};

const ENDING: &str = "log";
/// Length of checksum, length and kind in front of a record of a log.
const RECORD_HEAD: usize = 7;
/// Kind of the record about the log before: its number, size and last sequence number, 8 bytes each, little-endian.
const PREDECESSOR: u8 = 130;
/// Property of a database: the lowest number of a log that is not in its table files. Logs with higher numbers are not deleted.
const LOWEST_NEEDED: &str = "rocksdb.min-log-number-to-keep";

/// Returns true if a folder has a write-ahead log.
pub(crate) fn has_log(folder: &Path) -> bool {
    !numbers(folder).is_empty()
}

/// Returns the file name of a log that `db`, opened for reading, needs and that its folder does not have, although a later one refers to it.
pub(crate) fn find(db: &DB) -> Result<Option<String>, Error> {
    let lowest = db.property_int_value(LOWEST_NEEDED)?.unwrap_or_default();
    let name = |number| format!("{number:06}.{ENDING}");
    let before = numbers(db.path()).into_iter().filter_map(|number| predecessor(&db.path().join(name(number))));
    let missing = before.filter(|number| *number >= lowest).map(name).find(|name| !db.path().join(name).exists());
    Ok(missing)
}

/// Returns the numbers of the logs in a folder.
fn numbers(folder: &Path) -> Vec<u64> {
    let number = |entry: std::io::Result<fs::DirEntry>| {
        let path = entry.ok()?.path();
        (path.extension()? == ENDING).then(|| path.file_stem()?.to_str()?.parse().ok()).flatten()
    };
    fs::read_dir(folder).into_iter().flatten().filter_map(number).collect()
}

/// Returns the number of the log before a log, `None` if it does not begin with it: the first log of a process.
fn predecessor(log: &Path) -> Option<u64> {
    let mut head = [0; RECORD_HEAD + 8];
    File::open(log).ok()?.read_exact(&mut head).ok()?;
    let (head, number) = head.split_at(RECORD_HEAD);
    (head.last() == Some(&PREDECESSOR)).then(|| number.try_into().ok().map(u64::from_le_bytes)).flatten()
}
