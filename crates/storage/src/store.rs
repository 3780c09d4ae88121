use std::fs::{self, File};
use std::io::{ErrorKind as IoErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use quick_cache::sync::Cache;
use rhizome_primitives::{B256, Bytes, hex};
use rhizome_trie::{NodeSource, SourceError};
use rocksdb::checkpoint::Checkpoint;
use rocksdb::properties::{self, PropName};
use rocksdb::{ColumnFamily, DB, DBPinnableSlice, ErrorKind, ReadOptions, WriteBatch, WriteOptions};
use tempfile::TempDir;

use crate::StorageError;
use crate::columns::{self, BANS_KEY, BLOCKS, HEAD_KEY, HEIGHTS, META, RECEIPTS, TRANSACTIONS};
use crate::main_hashes::MainHashes;
use crate::node_files::{FilingError, NodeFiles};
use crate::node_journal::NodeJournal;
use crate::open::{NODES_FOLDER, ValueWeight};
use crate::record::{self, HeightEntry, RawReceipts, StoredBlock, StoredReceipts, TransactionLocation};

/// Where the files are, and what keeps others out of them.
pub(crate) struct Home {
    pub(crate) dir: PathBuf,
    pub(crate) _lock: File,
    pub(crate) _temporary: Option<TempDir>,
}

/// Look-ups in a cache since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheReads {
    /// What was there.
    pub hits: u64,
    /// What had to be fetched or made.
    pub misses: u64,
}

/// How large the parts of an open database are, in bytes, and whether it takes writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreFigures {
    /// Blocks of files, indexes and filters in memory.
    pub block_cache_bytes: u64,
    /// Long values (code) and trie nodes in memory.
    pub value_cache_bytes: u64,
    /// How often one of them was there already, since the start, and how often it was not.
    pub value_cache_reads: CacheReads,
    /// Rows that are not yet in a file.
    pub write_buffer_bytes: u64,
    /// Files on disk.
    pub file_bytes: u64,
    /// What waits to be merged, estimated.
    pub compaction_bytes: u64,
    /// The engine refuses writes until it has merged more.
    pub is_write_stopped: bool,
}

/// One open database. Reads never block each other or the writer; writes come from one place (the chain's writer).
pub struct Store {
    /// Nodes that are not yet in their files.
    pub(crate) journal: Arc<NodeJournal>,
    pub(crate) files: Arc<NodeFiles>,
    pub(crate) db: Arc<DB>,
    pub(crate) write_options: WriteOptions,
    /// For single rows. Made once: that costs about as much as a read.
    pub(crate) read_options: ReadOptions,
    /// What the engine may have to write at a time besides a batch: rows that gathered in memory.
    pub(crate) write_buffer_bytes: usize,
    pub(crate) main_hashes: MainHashes,
    /// Raised right before a batch that changes the flat state.
    pub(crate) generation: AtomicU64,
    /// Long values (code) and trie nodes by hash, as they were read.
    pub(crate) values: Cache<B256, Bytes, ValueWeight>,
    // Dropped last: the engine closes its files before the lock goes and a temporary directory is removed.
    pub(crate) home: Home,
}

impl Drop for Store {
    fn drop(&mut self) {
        self.files.close();
        self.journal.finish(&self.files);
    }
}

impl Store {
    /// The data directory.
    pub fn dir(&self) -> &Path {
        &self.home.dir
    }

    /// Counts the changes of the flat state. A reader that knows which generation belongs to its head reads a flat value
    /// and then compares: if the number is still the same, the value is that of its head.
    pub fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// Hash of the best block; `None` in a new database.
    pub fn head(&self) -> Result<Option<B256>, StorageError> {
        let Some(row) = self.row(META, HEAD_KEY)? else { return Ok(None) };
        let hash = B256::try_from(row.as_ref()).map_err(|_length| damaged(META, HEAD_KEY, "not a hash"))?;
        Ok(Some(hash))
    }

    /// Addresses that peers may not come from, one a line.
    pub fn bans(&self) -> Result<String, StorageError> {
        let bans = self.decoded(META, BANS_KEY, |row| std::str::from_utf8(row).ok().map(str::to_owned))?;
        Ok(bans.unwrap_or_default())
    }

    /// Replaces what `bans` returns.
    pub fn write_bans(&self, lines: &str) -> Result<(), StorageError> {
        let mut batch = WriteBatch::default();
        batch.put_cf(self.column(META)?, BANS_KEY, lines);
        self.write_batch(batch)
    }

    /// A block by hash, on the best chain or off it.
    pub fn block(&self, hash: &B256) -> Result<Option<StoredBlock>, StorageError> {
        self.decoded(BLOCKS, hash.as_slice(), record::decode_block)
    }

    /// Whether the block is stored.
    pub fn has_block(&self, hash: &B256) -> Result<bool, StorageError> {
        Ok(self.row(BLOCKS, hash.as_slice())?.is_some())
    }

    /// The receipts of a block.
    pub fn receipts(&self, hash: &B256) -> Result<Option<StoredReceipts>, StorageError> {
        self.decoded(RECEIPTS, hash.as_slice(), record::decode_receipts)
    }

    /// The receipts of a block, undecoded.
    pub fn raw_receipts(&self, hash: &B256) -> Result<Option<RawReceipts>, StorageError> {
        self.decoded(RECEIPTS, hash.as_slice(), record::split_receipts)
    }

    /// All blocks of a height, in order of arrival.
    pub fn blocks_at(&self, number: u64) -> Result<Vec<HeightEntry>, StorageError> {
        Ok(self.decoded(HEIGHTS, &number.to_be_bytes(), record::decode_heights)?.unwrap_or_default())
    }

    /// Hash of the block of the best chain at a height.
    pub fn main_hash(&self, number: u64) -> Result<Option<B256>, StorageError> {
        self.main_hashes
            .get(number, || Ok(self.blocks_at(number)?.into_iter().find(|entry| entry.is_main).map(|entry| entry.hash)))
    }

    /// The highest height that holds a block; it may lie above the head.
    pub fn highest_number(&self) -> Result<Option<u64>, StorageError> {
        let column = self.column(HEIGHTS)?;
        let mut rows = self.db.raw_iterator_cf(column);
        rows.seek_to_last();
        let number = rows.key().and_then(|key| key.try_into().ok()).map(u64::from_be_bytes);
        rows.status().map_err(|source| self.engine_error("read the highest block", source, 0))?;
        Ok(number)
    }

    /// The blocks that hold a transaction, in order of arrival, on the best chain or off it.
    pub fn transaction_locations(&self, hash: &B256) -> Result<Vec<TransactionLocation>, StorageError> {
        Ok(self.decoded(TRANSACTIONS, hash.as_slice(), record::decode_locations)?.unwrap_or_default())
    }

    /// A trie node's message or a long value, by its keccak.
    pub fn node(&self, hash: &B256) -> Result<Option<Bytes>, StorageError> {
        if let Some(node) = self.journal.find(hash) {
            return Ok(Some(node));
        }
        self.files.get(hash).map_err(|error| StorageError::of_file(self.dir(), error))
    }

    /// The same through the cache, for those who read again what others have read.
    pub fn cached_node(&self, hash: &B256) -> Result<Option<Bytes>, StorageError> {
        if let Some(value) = self.values.get(hash) {
            return Ok(Some(value));
        }
        let value = self.node(hash)?;
        if let Some(value) = &value {
            self.values.insert(*hash, value.clone());
        }
        Ok(value)
    }

    /// A copy of the database in a folder that does not exist yet, on the same disk with hard links, while the node runs.
    pub fn checkpoint(&self, path: &Path) -> Result<(), StorageError> {
        let copy = || Checkpoint::new(&self.db).and_then(|checkpoint| checkpoint.create_checkpoint(path));
        self.files.checkpoint(&path.join(NODES_FOLDER), copy).map_err(|error| match error {
            FilingError::Engine(source) => self.engine_error("make a checkpoint", source, 0),
            FilingError::File(source) => StorageError::of_file(path, source),
        })
    }

    /// Waits until everything that was written is on the disk, so that it survives a loss of power, too.
    pub fn flush(&self) -> Result<(), StorageError> {
        self.db.flush_wal(true).map_err(|source| self.engine_error("flush the log", source, 0))
    }

    /// Size of the database's files, in bytes.
    pub fn disk_bytes(&self) -> Result<u64, StorageError> {
        let files = self.db.live_files().map_err(|source| self.engine_error("list files", source, 0))?;
        Ok(files.iter().map(|file| file.size as u64).sum::<u64>().saturating_add(self.node_bytes()?))
    }

    fn node_bytes(&self) -> Result<u64, StorageError> {
        self.files.bytes().map_err(|error| StorageError::of_file(self.dir(), error))
    }

    /// What the engine says about itself now, summed over all columns.
    pub fn figures(&self) -> Result<StoreFigures, StorageError> {
        Ok(StoreFigures {
            // One cache serves all columns: each of them tells the whole.
            block_cache_bytes: self.engine_number(META, properties::BLOCK_CACHE_USAGE)?,
            value_cache_bytes: self.values.weight(),
            value_cache_reads: CacheReads { hits: self.values.hits(), misses: self.values.misses() },
            write_buffer_bytes: self.engine_sum(properties::CUR_SIZE_ALL_MEM_TABLES)?,
            file_bytes: self.engine_sum(properties::TOTAL_SST_FILES_SIZE)?.saturating_add(self.node_bytes()?),
            compaction_bytes: self.engine_sum(properties::ESTIMATE_PENDING_COMPACTION_BYTES)?,
            is_write_stopped: self.engine_number(META, properties::IS_WRITE_STOPPED)? != 0,
        })
    }

    fn engine_sum(&self, property: &PropName) -> Result<u64, StorageError> {
        columns::NAMES.iter().try_fold(0_u64, |sum, name| Ok(sum.saturating_add(self.engine_number(name, property)?)))
    }

    fn engine_number(&self, name: &'static str, property: &PropName) -> Result<u64, StorageError> {
        let number = self.db.property_int_value_cf(self.column(name)?, property);
        Ok(number.map_err(|source| self.engine_error("read a property", source, 0))?.unwrap_or_default())
    }

    pub(crate) fn column(&self, name: &'static str) -> Result<&ColumnFamily, StorageError> {
        // All columns are named at open, so this cannot miss.
        self.db.cf_handle(name).ok_or(StorageError::Row { column: name, key: String::new(), what: "no such column" })
    }

    pub(crate) fn row(&self, name: &'static str, key: &[u8]) -> Result<Option<DBPinnableSlice<'_>>, StorageError> {
        let row = self.db.get_pinned_cf_opt(self.column(name)?, key, &self.read_options);
        row.map_err(|source| self.engine_error("read", source, 0))
    }

    pub(crate) fn decoded<T>(
        &self,
        name: &'static str,
        key: &[u8],
        decode: impl Fn(&[u8]) -> Option<T>,
    ) -> Result<Option<T>, StorageError> {
        let Some(row) = self.row(name, key)? else { return Ok(None) };
        decode(&row).map(Some).ok_or_else(|| damaged(name, key, "cannot be decoded"))
    }

    /// Visits the rows from `first` to `last`, both included, or to the end of the column.
    pub(crate) fn visit_range(
        &self,
        name: &'static str,
        first: &[u8],
        last: Option<&[u8]>,
        mut visit: impl FnMut(&[u8], &[u8]) -> Result<(), StorageError>,
    ) -> Result<(), StorageError> {
        let mut options = ReadOptions::default();
        if let Some(last) = last {
            let mut bound = last.to_vec();
            bound.push(0);
            options.set_iterate_upper_bound(bound);
        }
        let mut rows = self.db.raw_iterator_cf_opt(self.column(name)?, options);
        rows.seek(first);
        while let Some((key, row)) = rows.item() {
            visit(key, row)?;
            rows.next();
        }
        rows.status().map_err(|source| self.engine_error("read a range", source, 0))
    }

    pub(crate) fn write_batch(&self, batch: WriteBatch) -> Result<(), StorageError> {
        let bytes = batch.size_in_bytes();
        let written = self.db.write_opt(batch, &self.write_options);
        written.map_err(|source| self.engine_error("write", source, bytes))
    }

    /// The typed form of an engine error. `bytes` is what was being written, 0 for reads.
    pub(crate) fn engine_error(&self, operation: &'static str, source: rocksdb::Error, bytes: usize) -> StorageError {
        let dir = || self.home.dir.clone();
        match source.kind() {
            ErrorKind::Corruption => StorageError::Damaged { dir: dir(), source: source.into() },
            // An earlier write in the background may be what failed.
            ErrorKind::IOError if bytes > 0 && is_disk_full(&self.home.dir, bytes.max(self.write_buffer_bytes)) => {
                StorageError::DiskFull { dir: dir(), source: source.into() }
            }
            _ => StorageError::Engine { operation, source },
        }
    }
}

/// Whether the disk refuses as many bytes as could not be written. The engine reports a full disk in words only, so the
/// operating system is asked again.
pub(crate) fn is_disk_full(dir: &Path, bytes: usize) -> bool {
    let probe = dir.join("space.probe");
    let mut written = File::create(&probe).and_then(|mut file| {
        let block = vec![0; 64 * 1024];
        for _ in 0..bytes / block.len() + 1 {
            file.write_all(&block)?;
        }
        file.sync_data()
    });
    if let Err(error) = fs::remove_file(&probe) {
        written = written.and(Err(error));
    }
    let full = [IoErrorKind::StorageFull, IoErrorKind::QuotaExceeded];
    written.is_err_and(|error| full.contains(&error.kind()))
}

impl NodeSource for Store {
    fn get(&self, hash: &B256) -> Result<Option<Bytes>, SourceError> {
        self.node(hash).map_err(|error| SourceError { hash: *hash, reason: Box::new(error) })
    }
}

pub(crate) fn damaged(column: &'static str, key: &[u8], what: &'static str) -> StorageError {
    StorageError::Row { column, key: hex::encode(key), what }
}
