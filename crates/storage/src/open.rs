use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use parking_lot::RwLock;
use rhizome_trie::StateReader;
use tempfile::TempDir;

use crate::base_state::BaseState;
use crate::block_log::BlockLogState;
use crate::database::{DataDirectory, Database, DatabaseKind};
use crate::directory_blocks::check_database;
use crate::directory_lock::{LOCK_FILE, lock, shared_lock};
use crate::kept_states::KeptStates;
use crate::main_hashes::MainHashes;
use crate::node_cache::NodeCache;
use crate::options::{ChainIdentity, StoreOptions};
use crate::{StorageError, Store, older_blocks, restored};

/// Divisor of the block cache size that gives the size of the cache for long values (code) and trie nodes.
const NODE_CACHE_SHARE: usize = 8;

impl Store {
    /// Opens the database in `dir`; creates the directory and the database if they are absent. A completed restore takes the place of
    /// the database before ([`crate::RestoreFolder`]).
    pub fn open(dir: &Path, identity: &ChainIdentity, options: &StoreOptions) -> Result<Self, StorageError> {
        let lock = lock(dir)?;
        restored::adopt(dir, false)?;
        let directory = DataDirectory { dir: dir.to_path_buf(), _lock: Some(lock), _temporary: None };
        Self::open_in(directory, identity, options, DatabaseKind::Lasting, BaseState::default())
    }

    /// Opens the database that a completed restore has left in the directory ([`crate::RestoreFolder`]) in place of this one, like
    /// [`Store::reopen`]. After a failure writes are refused, and the next one leads to another attempt.
    pub fn open_restored(&self) -> Result<(), StorageError> {
        self.database.refuse_writes("a restored database takes the place of this one");
        self.reopen()
    }

    /// Opens the database in `dir` for reading: every write fails. No node can open it meanwhile, other readers can.
    pub fn open_read_only(dir: &Path, identity: &ChainIdentity, options: &StoreOptions) -> Result<Self, StorageError> {
        check_database(dir)?;
        let directory = DataDirectory { dir: dir.to_path_buf(), _lock: shared_lock(dir)?, _temporary: None };
        Self::open_in(directory, identity, options, DatabaseKind::ReadOnly, BaseState::default())
    }

    /// Opens a database in a new temporary directory, which is removed when the store is dropped. It has no
    /// write-ahead log, because it is never recovered.
    pub fn open_temporary(identity: &ChainIdentity, options: &StoreOptions) -> Result<Self, StorageError> {
        Self::open_temporary_on(identity, options, BaseState::default())
    }

    /// Opens the database of a fork in a new temporary directory. Keys that are not written have the values of `base`: the state of
    /// another chain at the block that the fork begins at.
    pub fn open_fork(
        identity: &ChainIdentity,
        options: &StoreOptions,
        base: Arc<dyn StateReader>,
    ) -> Result<Self, StorageError> {
        Self::open_temporary_on(identity, options, BaseState::new(base))
    }

    fn open_temporary_on(
        identity: &ChainIdentity,
        options: &StoreOptions,
        base: BaseState,
    ) -> Result<Self, StorageError> {
        let not_writable = |source| StorageError::NotWritable { dir: std::env::temp_dir(), source };
        let temporary = TempDir::with_prefix("rhizome-").map_err(not_writable)?;
        let dir = temporary.path().to_path_buf();
        let lock = File::create(dir.join(LOCK_FILE)).map_err(not_writable)?;
        let directory = DataDirectory { dir, _lock: Some(lock), _temporary: Some(temporary) };
        Self::open_in(directory, identity, options, DatabaseKind::Temporary, base)
    }

    fn open_in(
        directory: DataDirectory,
        identity: &ChainIdentity,
        options: &StoreOptions,
        kind: DatabaseKind,
        base: BaseState,
    ) -> Result<Self, StorageError> {
        let database = Database::open(directory, identity, options, kind, base)?;
        let kept = KeptStates::default();
        kept.load(&database)?;
        let correction = older_blocks::stored_correction(&database)?;
        let store = Self {
            database,
            difficulty_correction: RwLock::new(correction),
            kept,
            main_hashes: MainHashes::default(),
            history_tail: RwLock::default(),
            generation: AtomicU64::new(1),
            block_log: BlockLogState::default(),
            nodes: NodeCache::new(options.cache_bytes / NODE_CACHE_SHARE),
            branch: RwLock::default(),
            adoption: RwLock::default(),
        };
        store.load_history_tail()?;
        Ok(store)
    }
}
