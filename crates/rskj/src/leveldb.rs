//! Reader of LevelDB databases (doc/impl.md, doc/log_format.md, doc/table_format.md of LevelDB): the manifest names the tables,
//! which are read with the logs behind them. Nothing is written.

mod bytes;
mod log;
mod manifest;
mod row_kind;
mod table;
mod write_batch;

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use crate::directory::{NO_LOG, log_numbers};
use crate::error::RskjError;
use crate::row::{OnRow, Row, ValueLocation};
use manifest::TableList;

/// Bits of a position that hold the offset in its file. The upper bits hold the index of the file.
const OFFSET_BITS: u32 = 40;

/// An open database.
pub(crate) struct LevelDb {
    dir: PathBuf,
    tables: Vec<PathBuf>,
    /// Rows of the logs, oldest first. rskj starts a new log after 10 MB.
    recent: Vec<RecentRow>,
}

/// A row that is in no table yet.
struct RecentRow {
    key: Vec<u8>,
    sequence: u64,
    value: Option<Vec<u8>>,
}

impl LevelDb {
    /// Reads manifest and logs of the database in a folder.
    pub(crate) fn open(dir: &Path) -> Result<Self, RskjError> {
        let list = TableList::read(dir)?;
        let mut recent = Vec::new();
        let log_path = |number: u64| dir.join(format!("{number:06}.log"));
        let logs = log_numbers(dir)?;
        if !logs.contains(&list.log) {
            return Err(RskjError::damaged(&log_path(list.log), NO_LOG));
        }
        for number in logs {
            if number >= list.log || number == list.previous_log {
                let path = log_path(number);
                let content = fs::read(&path).map_err(RskjError::read(&path))?;
                for record in log::records(&content, &path)? {
                    write_batch::read(&record, |key, sequence, value| {
                        let value = value.map(<[u8]>::to_vec);
                        recent.push(RecentRow { key: key.to_vec(), sequence, value });
                    })
                    .ok_or_else(|| RskjError::damaged(&path, "a write batch cannot be decoded"))?;
                }
            }
        }
        let mut tables = Vec::new();
        for number in &list.tables {
            // Since LevelDB 1.14 the extension is ldb.
            let names = ["ldb", "sst"].map(|extension| dir.join(format!("{number:06}.{extension}")));
            let found = names.iter().find(|path| path.is_file());
            tables.push(found.ok_or_else(|| RskjError::damaged(&names[0], "the table does not exist"))?.clone());
        }
        Ok(Self { dir: dir.to_owned(), tables, recent })
    }

    pub(crate) fn scan(&self, on_row: OnRow<'_>) -> Result<(), RskjError> {
        for (index, path) in self.tables.iter().enumerate() {
            let first = position(index);
            let mut on_entry = |key: &[u8], sequence, value: Option<&[u8]>, offset: u64| {
                let length = length_of(value, path)?;
                on_row(Row { key, sequence, value, location: ValueLocation { position: first | offset, length } })
            };
            if table::scan(path, &mut on_entry)?.is_break() {
                return Ok(());
            }
        }
        let first = position(self.tables.len());
        for (row, offset) in self.recent.iter().zip(0..) {
            let value = row.value.as_deref();
            let location = ValueLocation { position: first | offset, length: length_of(value, &self.dir)? };
            if on_row(Row { key: &row.key, sequence: row.sequence, value, location })?.is_break() {
                break;
            }
        }
        Ok(())
    }

    /// Reads a value that a scan found.
    pub(crate) fn read(&self, location: ValueLocation) -> Result<Vec<u8>, RskjError> {
        let ValueLocation { position, length } = location;
        let disappeared = || RskjError::damaged(&self.dir, "a row has disappeared");
        let (index, offset) = (position >> OFFSET_BITS, position & ((1 << OFFSET_BITS) - 1));
        let index = usize::try_from(index).map_err(|_wide| disappeared())?;
        let Some(path) = self.tables.get(index) else {
            let row = usize::try_from(offset).ok().and_then(|offset| self.recent.get(offset));
            return row.and_then(|row| row.value.clone()).ok_or_else(disappeared);
        };
        let mut value = vec![0; length as usize];
        let read = File::open(path).and_then(|mut file| {
            file.seek(SeekFrom::Start(offset))?;
            file.read_exact(&mut value)
        });
        read.map_err(RskjError::read(path))?;
        Ok(value)
    }
}

fn position(index: usize) -> u64 {
    (index as u64) << OFFSET_BITS
}

fn length_of(value: Option<&[u8]>, path: &Path) -> Result<u32, RskjError> {
    let length = u32::try_from(value.map_or(0, <[u8]>::len));
    length.map_err(|_wide| RskjError::damaged(path, "a value is too long"))
}
