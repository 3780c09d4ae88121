//! Blocks of a data directory of this or an earlier layout, read-only.

use std::fs::File;
use std::path::{Path, PathBuf};

use rhizome_primitives::{B256, U256};
use rocksdb::{DB, Options};

use crate::columns::{BLOCKS, DIFFICULTY_CORRECTION_KEY, HEIGHTS, META};
use crate::database_identity::{LAYOUT, has_list, stored_identity, stored_versions};
use crate::directory_lock::shared_lock;
use crate::engine::{DATABASE_FOLDER, expected_writes, opening_error};
use crate::options::{ChainIdentity, NodeVersions};
use crate::record::{self, StoredBlock};
use crate::{HeightEntry, StorageError};

/// The columns of blocks and heights are the same since this layout.
const OLDEST_LAYOUT: u32 = 3;

/// Returns the chain of a data directory that no node has open, and the versions of trie nodes that it holds.
pub fn directory_chain(dir: &Path) -> Result<(ChainIdentity, NodeVersions), StorageError> {
    check_database(dir)?;
    let _lock = shared_lock(dir)?;
    let db = DB::open_cf_for_read_only(&Options::default(), dir.join(DATABASE_FOLDER), [META], false);
    let db = db.map_err(|source| opening_error(dir, source, 0))?;
    match stored_identity(&db)? {
        Some((LAYOUT, identity)) => Ok((identity, stored_versions(&db)?)),
        Some((found, _)) => Err(StorageError::WrongLayout { dir: dir.to_path_buf(), expected: LAYOUT, found }),
        None => Err(StorageError::damaged_row(META, b"identity", "is missing")),
    }
}

/// Fails if a folder has no database. RocksDB creates an absent folder even if it opens it for reading.
pub(crate) fn check_database(dir: &Path) -> Result<(), StorageError> {
    if has_list(dir)? { Ok(()) } else { Err(StorageError::NoChain { dir: dir.to_path_buf() }) }
}

/// The best chain of a data directory. No node can open the directory meanwhile, and nothing in it is changed.
pub struct DirectoryBlocks {
    db: DB,
    dir: PathBuf,
    last: u64,
    has_lost_writes: bool,
    difficulty_correction: U256,
    _lock: Option<File>,
}

impl DirectoryBlocks {
    /// Opens a directory that no node has open, of layout 3 or later.
    pub fn open(dir: &Path, expected: &ChainIdentity) -> Result<Self, StorageError> {
        check_database(dir)?;
        let lock = shared_lock(dir)?;
        let expected_writes = expected_writes(&dir.join(DATABASE_FOLDER));
        let mut options = Options::default();
        options.set_max_open_files(256);
        let db = DB::open_cf_for_read_only(&options, dir.join(DATABASE_FOLDER), [META, BLOCKS, HEIGHTS], false);
        let db = db.map_err(|source| opening_error(dir, source, 0))?;
        match stored_identity(&db)? {
            Some((found, _)) if !(OLDEST_LAYOUT..=LAYOUT).contains(&found) => {
                return Err(StorageError::WrongLayout { dir: dir.to_path_buf(), expected: LAYOUT, found });
            }
            Some((_, found)) if found != *expected => {
                return Err(StorageError::WrongChain { dir: dir.to_path_buf(), expected: expected.clone(), found });
            }
            Some(_) => {}
            None => return Err(StorageError::damaged_row(META, b"identity", "is missing")),
        }
        let (dir, difficulty_correction) = (dir.to_path_buf(), U256::ZERO);
        let has_lost_writes = db.latest_sequence_number() < expected_writes;
        let mut blocks = Self { db, dir, last: 0, has_lost_writes, difficulty_correction, _lock: lock };
        blocks.last = blocks.highest_main()?;
        if let Some(row) = blocks.row(META, DIFFICULTY_CORRECTION_KEY)? {
            let damaged = || StorageError::damaged_row(META, DIFFICULTY_CORRECTION_KEY, "is no number");
            blocks.difficulty_correction = U256::try_from_be_slice(&row).ok_or_else(damaged)?;
        }
        Ok(blocks)
    }

    /// Returns the number of the last block of the best chain.
    pub fn last(&self) -> u64 {
        self.last
    }

    /// Returns true if the database has fewer writes than its log or its last orderly stop: its last blocks are lost.
    pub fn has_lost_writes(&self) -> bool {
        self.has_lost_writes
    }

    /// Returns the hash of the block of the best chain at a height.
    pub fn main_hash(&self, number: u64) -> Result<Option<B256>, StorageError> {
        let key = number.to_be_bytes();
        let row = self.row(HEIGHTS, &key)?;
        row.map_or(Ok(None), |row| main_hash(&key, &row))
    }

    /// Returns the block of the best chain at a height that has one.
    pub fn main_block(&self, number: u64) -> Result<StoredBlock, StorageError> {
        let missing = || StorageError::damaged_row(HEIGHTS, &number.to_be_bytes(), "has no block of the best chain");
        let hash = self.main_hash(number)?.ok_or_else(missing)?;
        let row = self.row(BLOCKS, hash.as_slice())?;
        let block = row.as_deref().and_then(record::decode_block);
        let mut block = block.ok_or_else(|| StorageError::damaged_row(BLOCKS, hash.as_slice(), "cannot be decoded"))?;
        if number > 0 {
            block.total_difficulty = record::corrected_difficulty(block.total_difficulty, self.difficulty_correction);
        }
        Ok(block)
    }

    fn highest_main(&self) -> Result<u64, StorageError> {
        let mut rows = self.db.raw_iterator_cf(self.column(HEIGHTS)?);
        rows.seek_to_last();
        while let Some((key, row)) = rows.item() {
            if main_hash(key, row)?.is_some() {
                let key = key.try_into().map_err(|_length| StorageError::damaged_row(HEIGHTS, key, "has no number"))?;
                return Ok(u64::from_be_bytes(key));
            }
            // Branches may be higher than the best chain.
            rows.prev();
        }
        rows.status().map_err(|source| self.failed(source))?;
        Ok(0)
    }

    fn row(&self, name: &'static str, key: &[u8]) -> Result<Option<Vec<u8>>, StorageError> {
        self.db.get_cf(self.column(name)?, key).map_err(|source| self.failed(source))
    }

    fn column(&self, name: &'static str) -> Result<&rocksdb::ColumnFamily, StorageError> {
        self.db.cf_handle(name).ok_or(StorageError::Row { column: name, key: String::new(), what: "no such column" })
    }

    fn failed(&self, source: rocksdb::Error) -> StorageError {
        StorageError::Damaged { dir: self.dir.clone(), source: source.into() }
    }
}

/// Decodes a row of the column `heights`: the hash of its block of the best chain.
fn main_hash(key: &[u8], row: &[u8]) -> Result<Option<B256>, StorageError> {
    let entries = record::decode_heights(row);
    let entries = entries.ok_or_else(|| StorageError::damaged_row(HEIGHTS, key, "cannot be decoded"))?;
    Ok(entries.iter().find(|entry: &&HeightEntry| entry.is_main).map(|entry| entry.hash))
}
