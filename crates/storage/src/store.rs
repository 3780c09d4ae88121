use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use quick_cache::sync::Cache;
use rhizome_primitives::{B256, Bytes, hex};
use rhizome_trie::{NodeSource, SourceError};
use rocksdb::checkpoint::Checkpoint;
use rocksdb::properties::{self, PropName};
use rocksdb::{ErrorKind, ReadOptions, WriteBatch, WriteOptions};
use tempfile::TempDir;

use crate::StorageError;
use crate::columns::{self, BANS_KEY, BLOCKS, HEAD_KEY, HEIGHTS, META, RECEIPTS, TRANSACTIONS};
use crate::engine::{EngineGuard, EngineLock, EngineSettings};
use crate::main_hashes::MainHashes;
use crate::node_files::NodeFileError;
use crate::open::{NODES_FOLDER, StoredValueWeight};
use crate::record::{self, HeightEntry, RawReceipts, StoredBlock, StoredReceipts, TransactionLocation};
use crate::write_faults::{PROBE_BYTES, WriteFault, WriteFaults};

/// Data directory with its process lock.
pub(crate) struct DataDirectory {
    pub(crate) dir: PathBuf,
    pub(crate) _lock: File,
    pub(crate) _temporary: Option<TempDir>,
}

/// Look-ups in a cache since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheStats {
    /// Look-ups that found an entry.
    pub hits: u64,
    /// Look-ups that did not.
    pub misses: u64,
}

/// Sizes of the parts of an open database in bytes, and its ability to take writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreStats {
    /// Table blocks, indexes and filters in memory.
    pub block_cache_bytes: u64,
    /// Long values (code) and trie nodes in memory.
    pub value_cache_bytes: u64,
    /// Look-ups of these values and nodes.
    pub value_cache_reads: CacheStats,
    /// Rows in memtables.
    pub write_buffer_bytes: u64,
    /// Files on the disk.
    pub file_bytes: u64,
    /// Estimated amount of pending compaction.
    pub compaction_bytes: u64,
    /// RocksDB stalls writes until compaction catches up.
    pub is_write_stopped: bool,
    /// Reason why the disk refuses writes; absent while it takes them.
    pub write_fault: Option<WriteFault>,
}

/// An open database. Reads never block each other or the writer. Only one thread writes at a time: the writer of the
/// chain.
pub struct Store {
    pub(crate) engine: EngineLock,
    pub(crate) settings: EngineSettings,
    pub(crate) faults: WriteFaults,
    pub(crate) write_options: WriteOptions,
    /// Options for reads of single rows. Shared, because creating them costs about as much as a read.
    pub(crate) read_options: ReadOptions,
    pub(crate) main_hashes: MainHashes,
    /// Incremented right before a batch that changes the flat state.
    pub(crate) generation: AtomicU64,
    /// Cache of long values (code) and trie nodes by hash.
    pub(crate) values: Cache<B256, Bytes, StoredValueWeight>,
    // Dropped last: the engine closes its files before the lock is released and a temporary directory is removed.
    pub(crate) directory: DataDirectory,
}

impl Store {
    /// Returns the data directory.
    pub fn dir(&self) -> &Path {
        &self.directory.dir
    }

    /// Returns the generation: the number of changes of the flat state. A reader that has the generation of its head
    /// reads a flat value and then compares; if the generation is unchanged, the value belongs to that head.
    pub fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// Returns the hash of the head; `None` in a new database.
    pub fn head(&self) -> Result<Option<B256>, StorageError> {
        self.decoded(META, HEAD_KEY, |row| B256::try_from(row).ok())
    }

    /// Returns the banned peer addresses, one a line.
    pub fn bans(&self) -> Result<String, StorageError> {
        let bans = self.decoded(META, BANS_KEY, |row| std::str::from_utf8(row).ok().map(str::to_owned))?;
        Ok(bans.unwrap_or_default())
    }

    /// Replaces the banned peer addresses.
    pub fn write_bans(&self, lines: &str) -> Result<(), StorageError> {
        let mut batch = WriteBatch::default();
        batch.put_cf(self.engine()?.column(META)?, BANS_KEY, lines);
        self.write_batch(batch)
    }

    /// Returns a block by hash, on the best chain or beside it.
    pub fn block(&self, hash: &B256) -> Result<Option<StoredBlock>, StorageError> {
        self.decoded(BLOCKS, hash.as_slice(), record::decode_block)
    }

    /// Returns true if the block is stored.
    pub fn has_block(&self, hash: &B256) -> Result<bool, StorageError> {
        self.has_row(BLOCKS, hash.as_slice())
    }

    /// Returns the receipts of a block.
    pub fn receipts(&self, hash: &B256) -> Result<Option<StoredReceipts>, StorageError> {
        self.decoded(RECEIPTS, hash.as_slice(), record::decode_receipts)
    }

    /// Returns the undecoded receipts of a block.
    pub fn raw_receipts(&self, hash: &B256) -> Result<Option<RawReceipts>, StorageError> {
        self.decoded(RECEIPTS, hash.as_slice(), record::split_receipts)
    }

    /// Returns all blocks of a height, in order of arrival.
    pub fn blocks_at(&self, number: u64) -> Result<Vec<HeightEntry>, StorageError> {
        Ok(self.decoded(HEIGHTS, &number.to_be_bytes(), record::decode_heights)?.unwrap_or_default())
    }

    /// Returns the hash of the block of the best chain at a height.
    pub fn main_hash(&self, number: u64) -> Result<Option<B256>, StorageError> {
        self.main_hashes
            .get(number, || Ok(self.blocks_at(number)?.into_iter().find(|entry| entry.is_main).map(|entry| entry.hash)))
    }

    /// Returns the highest height that has a block; it can be above the head.
    pub fn highest_number(&self) -> Result<Option<u64>, StorageError> {
        let engine = self.engine()?;
        let mut rows = engine.db.raw_iterator_cf(engine.column(HEIGHTS)?);
        rows.seek_to_last();
        let number = rows.key().and_then(|key| key.try_into().ok()).map(u64::from_be_bytes);
        rows.status().map_err(|source| self.engine_error("read the highest block", source))?;
        Ok(number)
    }

    /// Returns the locations of a transaction in order of arrival, on the best chain and beside it.
    pub fn transaction_locations(&self, hash: &B256) -> Result<Vec<TransactionLocation>, StorageError> {
        Ok(self.decoded(TRANSACTIONS, hash.as_slice(), record::decode_locations)?.unwrap_or_default())
    }

    /// Returns the message of a trie node, or a long value, by its Keccak hash.
    pub fn node(&self, hash: &B256) -> Result<Option<Bytes>, StorageError> {
        let engine = self.engine()?;
        if let Some(node) = engine.journal.find(hash) {
            return Ok(Some(node));
        }
        engine.files.get(hash).map_err(|error| StorageError::from_file_error(self.dir(), error))
    }

    /// Like [`Store::node`], through the cache, for readers that share nodes with others.
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

    /// Copies the running database into a folder that does not exist yet on the same disk, with hard links.
    pub fn checkpoint(&self, path: &Path) -> Result<(), StorageError> {
        let engine = self.engine()?;
        let copy = || Checkpoint::new(&engine.db).and_then(|checkpoint| checkpoint.create_checkpoint(path));
        engine.files.checkpoint(&path.join(NODES_FOLDER), copy).map_err(|error| match error {
            NodeFileError::Engine(source) => self.engine_error("make a checkpoint", source),
            NodeFileError::File(source) => StorageError::from_file_error(path, source),
        })
    }

    /// Waits until all writes are on the disk and survive a power failure.
    pub fn flush(&self) -> Result<(), StorageError> {
        self.check_writable()?;
        let flushed = self.engine()?.db.flush_wal(true);
        flushed.map_err(|source| self.begin_fault(NodeFileError::Engine(source), PROBE_BYTES))
    }

    /// Returns the size of the database's files in bytes.
    pub fn disk_bytes(&self) -> Result<u64, StorageError> {
        let files = self.engine()?.db.live_files().map_err(|source| self.engine_error("list files", source))?;
        Ok(files.iter().map(|file| file.size as u64).sum::<u64>().saturating_add(self.node_bytes()?))
    }

    fn node_bytes(&self) -> Result<u64, StorageError> {
        self.engine()?.files.bytes().map_err(|error| StorageError::from_file_error(self.dir(), error))
    }

    /// Returns the current statistics, summed over all columns.
    pub fn stats(&self) -> Result<StoreStats, StorageError> {
        Ok(StoreStats {
            // All columns share one cache: each of them reports the whole.
            block_cache_bytes: self.engine_number(META, properties::BLOCK_CACHE_USAGE)?,
            value_cache_bytes: self.values.weight(),
            value_cache_reads: CacheStats { hits: self.values.hits(), misses: self.values.misses() },
            write_buffer_bytes: self.engine_sum(properties::CUR_SIZE_ALL_MEM_TABLES)?,
            file_bytes: self.engine_sum(properties::TOTAL_SST_FILES_SIZE)?.saturating_add(self.node_bytes()?),
            compaction_bytes: self.engine_sum(properties::ESTIMATE_PENDING_COMPACTION_BYTES)?,
            is_write_stopped: self.engine_number(META, properties::IS_WRITE_STOPPED)? != 0,
            write_fault: self.write_fault(),
        })
    }

    pub(crate) fn engine_sum(&self, property: &PropName) -> Result<u64, StorageError> {
        columns::NAMES.iter().try_fold(0_u64, |sum, name| Ok(sum.saturating_add(self.engine_number(name, property)?)))
    }

    fn engine_number(&self, name: &'static str, property: &PropName) -> Result<u64, StorageError> {
        let engine = self.engine()?;
        let number = engine.db.property_int_value_cf(engine.column(name)?, property);
        Ok(number.map_err(|source| self.engine_error("read a property", source))?.unwrap_or_default())
    }

    /// Returns the open engine, or an error if reopening it failed.
    pub(crate) fn engine(&self) -> Result<EngineGuard<'_>, StorageError> {
        self.engine.read().ok_or_else(|| self.closed_error())
    }

    /// Reads a row without copying it.
    pub(crate) fn with_row<T>(
        &self,
        name: &'static str,
        key: &[u8],
        read: impl FnOnce(Option<&[u8]>) -> T,
    ) -> Result<T, StorageError> {
        let engine = self.engine()?;
        let row = engine.db.get_pinned_cf_opt(engine.column(name)?, key, &self.read_options);
        Ok(read(row.map_err(|source| self.engine_error("read", source))?.as_deref()))
    }

    pub(crate) fn has_row(&self, name: &'static str, key: &[u8]) -> Result<bool, StorageError> {
        self.with_row(name, key, |row| row.is_some())
    }

    pub(crate) fn decoded<T>(
        &self,
        name: &'static str,
        key: &[u8],
        decode: impl FnOnce(&[u8]) -> Option<T>,
    ) -> Result<Option<T>, StorageError> {
        self.with_row(name, key, |row| match row {
            Some(row) => decode(row).map(Some).ok_or_else(|| damaged(name, key, "cannot be decoded")),
            None => Ok(None),
        })?
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
        let engine = self.engine()?;
        let mut rows = engine.db.raw_iterator_cf_opt(engine.column(name)?, options);
        rows.seek(first);
        while let Some((key, row)) = rows.item() {
            visit(key, row)?;
            rows.next();
        }
        rows.status().map_err(|source| self.engine_error("read a range", source))
    }

    /// Classifies an engine error of a read.
    pub(crate) fn engine_error(&self, operation: &'static str, source: rocksdb::Error) -> StorageError {
        match source.kind() {
            ErrorKind::Corruption => StorageError::Damaged { dir: self.directory.dir.clone(), source: source.into() },
            _ => StorageError::Engine { operation, source },
        }
    }
}

impl NodeSource for Store {
    fn get(&self, hash: &B256) -> Result<Option<Bytes>, SourceError> {
        self.node(hash).map_err(|error| SourceError { hash: *hash, reason: Box::new(error) })
    }
}

pub(crate) fn damaged(column: &'static str, key: &[u8], what: &'static str) -> StorageError {
    StorageError::Row { column, key: hex::encode(key), what }
}
