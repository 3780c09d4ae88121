use std::path::Path;

use rhizome_primitives::B256;

use crate::error::RskjError;
use crate::leveldb::LevelDb;
use crate::rocks::RocksTable;
use crate::row::{OnRow, ValueLocation};

/// The table of blocks, open for reading.
pub(crate) enum BlockTable {
    RocksDb(RocksTable),
    LevelDb(LevelDb),
}

impl BlockTable {
    /// Opens the table in a folder. RocksDB keeps its options in files, LevelDB has none.
    pub(crate) fn open(dir: &Path) -> Result<Self, RskjError> {
        let names = std::fs::read_dir(dir).map_err(RskjError::read(dir))?;
        let mut is_rocksdb = false;
        for entry in names {
            let name = entry.map_err(RskjError::read(dir))?.file_name();
            is_rocksdb |= name.to_string_lossy().starts_with("OPTIONS-");
        }
        if is_rocksdb { RocksTable::open(dir).map(Self::RocksDb) } else { LevelDb::open(dir).map(Self::LevelDb) }
    }

    /// Visits all versions of all rows, in the order of the files.
    pub(crate) fn scan(&self, on_row: OnRow<'_>) -> Result<(), RskjError> {
        match self {
            Self::RocksDb(table) => table.scan(on_row),
            Self::LevelDb(table) => table.scan(on_row),
        }
    }

    /// Returns the encoding of a block that a scan found.
    pub(crate) fn read(&self, hash: &B256, location: ValueLocation) -> Result<Vec<u8>, RskjError> {
        match self {
            Self::RocksDb(table) => table.read(hash),
            Self::LevelDb(table) => table.read(location),
        }
    }
}
