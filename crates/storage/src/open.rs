use std::fmt;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::path::Path;
use std::sync::atomic::AtomicU64;

use quick_cache::sync::Cache as ValueCache;
use rhizome_primitives::{B256, Bytes};
use rocksdb::{Cache, DB, ErrorKind, LogLevel, Options, ReadOptions, WriteBatch, WriteOptions};
use tempfile::TempDir;

use crate::columns::{self, IDENTITY_KEY, LAYOUT_KEY};
use crate::engine::{Engine, EngineLock, EngineSettings};
use crate::main_hashes::MainHashes;
use crate::store::DataDirectory;
use crate::write_faults::{PROBE_BYTES, WriteFaults, is_disk_full};
use crate::{StorageError, Store};

/// Version of the layout of the columns.
const LAYOUT: u32 = 3;
/// Locked by the process that has the directory open. RocksDB has its own lock, but reports it only as text.
const LOCK_FILE: &str = "rhizome.lock";
pub(crate) const DATABASE_FOLDER: &str = "chain";
/// Folder of the node files inside the database folder.
pub(crate) const NODES_FOLDER: &str = "nodes";

/// Divisor of the block cache size that gives the size of the cache for long values (code) and trie nodes.
const VALUE_CACHE_SHARE: usize = 8;
/// Size assumed for one entry when that cache is allocated: code has at most 24 KB, a node about 100 bytes.
const TYPICAL_VALUE_BYTES: usize = 1024;

/// Identity of the chain that a directory holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainIdentity {
    /// Chain id of the network.
    pub chain_id: u8,
    /// Hash of block 0.
    pub genesis: B256,
}

impl fmt::Display for ChainIdentity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "chain id {} with genesis {}", self.chain_id, self.genesis)
    }
}

/// Point at which a block write counts as done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// Once the operating system has the batch: survives a crash of the process. A power failure can remove the most
    /// recent blocks, never part of a block.
    #[default]
    Process,
    /// Once the disk has the batch: survives a power failure too, at the cost of one disk flush for each block.
    Power,
}

/// Settings of a store.
#[derive(Debug, Clone)]
pub struct StoreOptions {
    /// Size of the cache of uncompressed table blocks, indexes and filters, in bytes, shared by all columns.
    pub cache_bytes: usize,
    /// Size of all memtables together, in bytes. A larger value makes long imports faster.
    pub write_buffer_bytes: usize,
    /// Maximum number of open files.
    pub max_open_files: i32,
    /// Durability of block writes.
    pub durability: Durability,
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self {
            cache_bytes: 32 << 20,
            write_buffer_bytes: 64 << 20,
            max_open_files: 256,
            durability: Durability::default(),
        }
    }
}

impl Store {
    /// Opens the database in `dir`; creates the directory and the database if they are absent.
    pub fn open(dir: &Path, identity: &ChainIdentity, options: &StoreOptions) -> Result<Self, StorageError> {
        let not_writable = |source| StorageError::NotWritable { dir: dir.to_path_buf(), source };
        fs::create_dir_all(dir).map_err(not_writable)?;
        let lock = OpenOptions::new().create(true).truncate(false).write(true).open(dir.join(LOCK_FILE));
        let lock = lock.map_err(not_writable)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(StorageError::Locked { dir: dir.to_path_buf() }),
            Err(TryLockError::Error(source)) => return Err(not_writable(source)),
        }
        let directory = DataDirectory { dir: dir.to_path_buf(), _lock: lock, _temporary: None };
        Self::open_in(directory, identity, options, false)
    }

    /// Opens a database in a new temporary directory, which is removed when the store is dropped. It has no
    /// write-ahead log, because it is never recovered.
    pub fn open_temporary(identity: &ChainIdentity, options: &StoreOptions) -> Result<Self, StorageError> {
        let not_writable = |source| StorageError::NotWritable { dir: std::env::temp_dir(), source };
        let temporary = TempDir::with_prefix("rhizome-").map_err(not_writable)?;
        let dir = temporary.path().to_path_buf();
        let lock = File::create(dir.join(LOCK_FILE)).map_err(not_writable)?;
        Self::open_in(DataDirectory { dir, _lock: lock, _temporary: Some(temporary) }, identity, options, true)
    }

    fn open_in(
        directory: DataDirectory,
        identity: &ChainIdentity,
        options: &StoreOptions,
        is_temporary: bool,
    ) -> Result<Self, StorageError> {
        let settings = EngineSettings {
            identity: identity.clone(),
            options: options.clone(),
            is_temporary,
            cache: Cache::new_lru_cache(options.cache_bytes),
        };
        let engine = Engine::open(&directory.dir, &settings)?;
        let mut write_options = WriteOptions::default();
        write_options.disable_wal(is_temporary);
        write_options.set_sync(!is_temporary && options.durability == Durability::Power);
        let value_bytes = options.cache_bytes / VALUE_CACHE_SHARE;
        Ok(Self {
            engine: EngineLock::new(engine),
            settings,
            faults: WriteFaults::default(),
            write_options,
            read_options: ReadOptions::default(),
            main_hashes: MainHashes::default(),
            generation: AtomicU64::new(1),
            values: ValueCache::with_weighter(
                value_bytes / TYPICAL_VALUE_BYTES + 1,
                value_bytes as u64,
                StoredValueWeight,
            ),
            directory,
        })
    }
}

/// Weight of a cached value: its bytes and an allowance for the cache entry.
#[derive(Clone)]
pub(crate) struct StoredValueWeight;

impl quick_cache::Weighter<B256, Bytes> for StoredValueWeight {
    fn weight(&self, _hash: &B256, value: &Bytes) -> u64 {
        value.len() as u64 + 100
    }
}

pub(crate) fn engine_options(options: &StoreOptions) -> Options {
    let mut engine = Options::default();
    engine.create_if_missing(true);
    engine.create_missing_column_families(true);
    engine.set_max_open_files(options.max_open_files);
    engine.set_max_background_jobs(2);
    engine.set_db_write_buffer_size(options.write_buffer_bytes);
    // Columns that are seldom written (`default`) would otherwise keep old logs alive. This also bounds the replay at
    // start.
    engine.set_max_total_wal_size(options.write_buffer_bytes as u64);
    // Spreads disk writes instead of one long flush at the end of a file.
    engine.set_bytes_per_sync(1 << 20);
    engine.set_wal_bytes_per_sync(1 << 20);
    engine.set_log_level(LogLevel::Warn);
    engine.set_keep_log_file_num(2);
    engine.set_max_log_file_size(1 << 20);
    engine.set_stats_dump_period_sec(0);
    engine.set_stats_persist_period_sec(0);
    engine
}

/// Classifies an error of opening the database. `bytes` is the amount that the engine may have to write on opening:
/// the log of the last run as table files.
pub(crate) fn opening_error(dir: &Path, source: rocksdb::Error, bytes: usize) -> StorageError {
    let dir = dir.to_path_buf();
    match source.kind() {
        // Another program wrote this directory if a column or its merge operator is unknown.
        ErrorKind::Corruption | ErrorKind::InvalidArgument => StorageError::Damaged { dir, source: source.into() },
        ErrorKind::IOError if is_disk_full(&dir, bytes.max(PROBE_BYTES)) => {
            StorageError::DiskFull { dir, source: source.into() }
        }
        _ => StorageError::Engine { operation: "open", source },
    }
}

/// Compares the identity in the database with the expected one. A new database gets the expected one.
pub(crate) fn check_identity(db: &DB, dir: &Path, expected: &ChainIdentity) -> Result<(), StorageError> {
    let read = |key| db.get(key).map_err(|source| StorageError::Engine { operation: "read the identity", source });
    match (read(LAYOUT_KEY)?, read(IDENTITY_KEY)?) {
        (Some(layout), Some(identity)) => {
            let damaged = |what| StorageError::Row { column: columns::META, key: String::new(), what };
            let found = u32::from_be_bytes(layout.try_into().map_err(|_length| damaged("layout"))?);
            if found != LAYOUT {
                return Err(StorageError::WrongLayout { dir: dir.to_path_buf(), expected: LAYOUT, found });
            }
            let found = match identity.split_first() {
                Some((chain_id, genesis)) if genesis.len() == 32 => {
                    ChainIdentity { chain_id: *chain_id, genesis: B256::from_slice(genesis) }
                }
                _ => return Err(damaged("identity")),
            };
            if found != *expected {
                return Err(StorageError::WrongChain { dir: dir.to_path_buf(), expected: expected.clone(), found });
            }
            Ok(())
        }
        _ => {
            let mut batch = WriteBatch::default();
            batch.put(LAYOUT_KEY, LAYOUT.to_be_bytes());
            let mut identity = vec![expected.chain_id];
            identity.extend_from_slice(expected.genesis.as_slice());
            batch.put(IDENTITY_KEY, identity);
            db.write(batch).map_err(|source| StorageError::Engine { operation: "write the identity", source })
        }
    }
}
