use std::path::{Path, PathBuf};

use rhizome_primitives::B256;
use rocksdb::{DB, DBRecoveryMode, ErrorKind, Options, ReadOptions};

use crate::directory::{NO_LOG, log_numbers};
use crate::error::RskjError;
use crate::row::{OnRow, Row, ValueLocation};

/// Files that are open at the same time.
const OPEN_FILES: i32 = 500;
/// Bytes that a scan reads at once.
const SCAN_BYTES: usize = 4 << 20;

/// A table of RocksDB, open for reading: its log is replayed in memory, and no file is written.
pub(crate) struct RocksTable {
    db: DB,
    dir: PathBuf,
}

impl RocksTable {
    pub(crate) fn open(dir: &Path) -> Result<Self, RskjError> {
        let mut options = Options::default();
        options.set_max_open_files(OPEN_FILES);
        // By default the engine ends before a damaged record, without an error. The end of a log that was not written stays allowed.
        options.set_wal_recovery_mode(DBRecoveryMode::TolerateCorruptedTailRecords);
        // A table always has a log.
        if log_numbers(dir)?.is_empty() {
            return Err(RskjError::damaged(&dir.join("*.log"), NO_LOG));
        }
        let db = DB::open_for_read_only(&options, dir, false).map_err(|source| match source.kind() {
            ErrorKind::Corruption => RskjError::damaged(dir, format!("{source} (in *.log if no file is named)")),
            _ => RskjError::RocksDb { dir: dir.to_owned(), source },
        })?;
        Ok(Self { db, dir: dir.to_owned() })
    }

    pub(crate) fn scan(&self, on_row: OnRow<'_>) -> Result<(), RskjError> {
        let mut options = ReadOptions::default();
        options.fill_cache(false);
        options.set_readahead_size(SCAN_BYTES);
        let mut rows = self.db.raw_iterator_opt(options);
        rows.seek_to_first();
        while let Some((key, value)) = rows.item() {
            let location = ValueLocation { position: 0, length: 0 };
            if on_row(Row { key, sequence: 0, value: Some(value), location })?.is_break() {
                return Ok(());
            }
            rows.next();
        }
        rows.status().map_err(|source| self.failed(source))
    }

    pub(crate) fn read(&self, hash: &B256) -> Result<Vec<u8>, RskjError> {
        let value = self.db.get(hash).map_err(|source| self.failed(source))?;
        value.ok_or_else(|| RskjError::damaged(&self.dir, format!("block {hash} has disappeared")))
    }

    fn failed(&self, source: rocksdb::Error) -> RskjError {
        RskjError::RocksDb { dir: self.dir.clone(), source }
    }
}
