//! The open database with its node files, and the lock that allows reopening it while other threads read.
//!
//! After a permanent write failure (disk full, I/O error) RocksDB refuses writes until the database is reopened: its
//! memtables and its write-ahead log may have diverged. Reopening is the same code as opening at start, so there is
//! only one recovery path.

use std::cell::Cell;
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::{fs, io};

use parking_lot::{MappedRwLockReadGuard, RwLock, RwLockReadGuard};
use rocksdb::{Cache, ColumnFamily, DB, ErrorKind, LogLevel, Options};

use crate::columns::{self, COUNTED_VALUES_KEY, HISTORY};
use crate::database_identity::{CURRENT_FILE, check_folder, check_identity};
use crate::disk_probe::{PROBE_BYTES, is_disk_full};
use crate::dropped_blocks::DroppedBlocks;
use crate::node_files::{NodeFileError, NodeFiles};
use crate::node_journal::{FlushError, NodeJournal};
use crate::options::{ChainIdentity, StoreOptions};
use crate::{StorageError, journal_rows, write_ahead_log};

pub(crate) const DATABASE_FOLDER: &str = "chain";
/// Folder of the node files inside the database folder.
pub(crate) const NODES_FOLDER: &str = "nodes";

/// Divisor of the write buffer size that gives the size of the node journal.
const JOURNAL_SHARE: usize = 4;

/// File in the database folder with the number of writes at the last orderly stop. RocksDB ends the replay of a damaged log without
/// an error, as after a loss of power; all writes of an orderly stop are on the disk.
const WRITES_FILE: &str = "writes";

/// Returns the number of writes that a database must have: its writes at the last orderly stop, and the complete ones in its log. With
/// fewer ones after opening it, the log is damaged.
pub(crate) fn expected_writes(folder: &Path) -> u64 {
    let stopped = fs::read_to_string(folder.join(WRITES_FILE)).ok().and_then(|writes| writes.parse().ok());
    stopped.max(write_ahead_log::last_sequence(folder)).unwrap_or_default()
}

/// Consecutive single blocks that an import may write. With more of them it is over.
const MOST_SINGLE_BLOCKS: u32 = 16;

/// The open database, its node files and the journal in front of them.
pub(crate) struct Engine {
    /// Nodes that are not flushed to the node files yet.
    pub(crate) journal: Arc<NodeJournal>,
    pub(crate) files: Arc<NodeFiles>,
    pub(crate) db: Arc<DB>,
    /// Whether the references to long values are counted: in directories with current nodes.
    pub(crate) counts_values: bool,
    is_read_only: bool,
    /// Whether the database has fewer writes than [`expected_writes`].
    pub(crate) has_lost_writes: bool,
    /// Whether an import of many blocks writes the history.
    is_import: AtomicBool,
    /// Blocks that were written one by one since the last group of blocks.
    single_blocks: AtomicU32,
}

/// Settings that are the same each time the database is opened.
pub(crate) struct EngineSettings {
    pub(crate) identity: ChainIdentity,
    pub(crate) options: StoreOptions,
    /// Disables the write-ahead log: a temporary directory is never recovered.
    pub(crate) is_temporary: bool,
    /// Opens the database for reading: every write fails, and nothing is removed or merged.
    pub(crate) is_read_only: bool,
    /// Block cache shared by all columns.
    pub(crate) cache: Cache,
    /// Blocks whose changes are dropped by compactions.
    pub(crate) dropped: DroppedBlocks,
}

impl Engine {
    pub(crate) fn open(dir: &Path, settings: &EngineSettings) -> Result<Self, StorageError> {
        let EngineSettings { identity, options, is_temporary, is_read_only, cache, dropped } = settings;
        let folder = dir.join(DATABASE_FOLDER);
        check_folder(dir, identity, options.node_versions, *is_read_only)?;
        let open = |is_read_only, has_continuous_logs| {
            let descriptors = columns::descriptors(cache, options.write_buffer_bytes / 2, dropped)?;
            let options = engine_options(options, has_continuous_logs)?;
            match is_read_only {
                true => DB::open_cf_descriptors_read_only(&options, &folder, descriptors, false),
                false => DB::open_cf_descriptors(&options, &folder, descriptors),
            }
        };
        let classify = |source| opening_error(dir, source, options.write_buffer_bytes);
        // A loss of power may leave no log at all, which the check of the logs takes for damage. Opening makes one.
        let has_logs = write_ahead_log::has_log(&folder) || !folder.join(CURRENT_FILE).exists();
        if !is_read_only && !has_logs {
            drop(open(false, false).map_err(classify)?);
        }
        let expected_writes = expected_writes(&folder);
        let database = match open(*is_read_only, true) {
            Err(error) if error.kind() == ErrorKind::Corruption => {
                if let Some(log) =
                    open(true, false).and_then(|db| write_ahead_log::find_missing(&db)).map_err(classify)?
                {
                    let source = format!("{DATABASE_FOLDER}/{log} is missing").into();
                    return Err(StorageError::Damaged { dir: dir.to_path_buf(), source });
                }
                // A failed write, for example to a full disk, leaves a log that differs from the record in the next one. Its
                // complete writes are there, so it is replayed without the check.
                open(*is_read_only, false)
            }
            database => database,
        };
        let db = Arc::new(database.map_err(classify)?);
        check_identity(&db, dir, identity, options.node_versions, *is_read_only)?;
        let counted = db.get_pinned(COUNTED_VALUES_KEY);
        let counts_values =
            counted.map_err(|source| StorageError::Engine { operation: "read the identity", source })?.is_some();
        let nodes = dir.join(DATABASE_FOLDER).join(NODES_FOLDER);
        let file_error = |error| match error {
            NodeFileError::Engine(source) => {
                StorageError::Engine { operation: "read the row of the node files", source }
            }
            // The row of an earlier write may name files that were merged since.
            NodeFileError::File(error) if error.kind() == io::ErrorKind::NotFound => {
                let source = format!("{error}; it was removed, or the end of the write-ahead log is lost").into();
                StorageError::Damaged { dir: dir.to_path_buf(), source }
            }
            NodeFileError::File(source) => StorageError::from_file_error(dir, source),
        };
        let files = NodeFiles::open(&db, nodes, *is_temporary, *is_read_only).map_err(file_error)?;
        let journal = Arc::new(NodeJournal::new(files.end(), options.write_buffer_bytes / JOURNAL_SHARE));
        let engine = Self {
            journal,
            files: Arc::new(files),
            has_lost_writes: db.latest_sequence_number() < expected_writes,
            db,
            counts_values,
            is_read_only: *is_read_only,
            is_import: AtomicBool::new(false),
            single_blocks: AtomicU32::new(0),
        };
        journal_rows::restore(&engine)?;
        if *is_read_only {
            return Ok(engine);
        }
        // A merge that was stopped continues.
        engine.journal.poll_tasks(&engine.files).map_err(|error| match error {
            FlushError::Files(error) => file_error(error),
            FlushError::Thread(source) => StorageError::Thread { source },
        })?;
        Ok(engine)
    }

    /// Notes that blocks were written in one batch, which decides when new files of the history are merged
    /// ([`columns::history_compaction`]): an import begins with a group of blocks, and is over after some single ones. A failure to set it
    /// costs time only.
    pub(crate) fn note_blocks(&self, blocks: usize) -> Result<(), StorageError> {
        let is_import = match blocks {
            1 => self.is_import() && self.single_blocks.fetch_add(1, Ordering::Relaxed) < MOST_SINGLE_BLOCKS,
            _ => {
                self.single_blocks.store(0, Ordering::Relaxed);
                true
            }
        };
        if self.is_import.swap(is_import, Ordering::Relaxed) != is_import {
            let (option, files) = columns::history_compaction(is_import);
            drop(self.db.set_options_cf(self.column(HISTORY)?, &[(option, &files)]));
        }
        Ok(())
    }

    fn is_import(&self) -> bool {
        self.is_import.load(Ordering::Relaxed)
    }

    pub(crate) fn column(&self, name: &'static str) -> Result<&ColumnFamily, StorageError> {
        // All columns are named when the database is opened, so this never fails.
        self.db.cf_handle(name).ok_or(StorageError::Row { column: name, key: String::new(), what: "no such column" })
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        if self.is_read_only {
            return;
        }
        self.files.close();
        self.journal.finish(&self.files);
        if !self.files.is_temporary() {
            // After an orderly shutdown nothing is lost, not even in a power failure. The beginning of a number is a smaller one, and
            // without a number a start does not compare it.
            let writes = self.db.latest_sequence_number().to_string();
            let _ = self.db.flush_wal(true).is_ok_and(|()| fs::write(self.db.path().join(WRITES_FILE), writes).is_ok());
        }
    }
}

thread_local! {
    /// Number of engine guards that this thread holds.
    static GUARDS_HELD: Cell<usize> = const { Cell::new(0) };
}

/// Lock around the engine; empty after a failed reopening.
pub(crate) struct EngineLock(RwLock<Option<Engine>>);

/// Shared access to the engine; the database is not reopened meanwhile.
pub(crate) struct EngineGuard<'a>(MappedRwLockReadGuard<'a, Engine>);

impl Deref for EngineGuard<'_> {
    type Target = Engine;

    fn deref(&self) -> &Engine {
        &self.0
    }
}

impl Drop for EngineGuard<'_> {
    fn drop(&mut self) {
        GUARDS_HELD.set(GUARDS_HELD.get().saturating_sub(1));
    }
}

impl EngineLock {
    pub(crate) fn new(engine: Engine) -> Self {
        Self(RwLock::new(Some(engine)))
    }

    /// Returns shared access to the engine, after a reopening that is in progress. `None` if the reopening failed.
    pub(crate) fn read(&self) -> Option<EngineGuard<'_>> {
        // A thread that already holds a guard would deadlock behind a writer that waits for that guard.
        let guard = if GUARDS_HELD.get() > 0 { self.0.read_recursive() } else { self.0.read() };
        let engine = RwLockReadGuard::try_map(guard, Option::as_ref).ok()?;
        GUARDS_HELD.set(GUARDS_HELD.get().saturating_add(1));
        Some(EngineGuard(engine))
    }

    /// Closes the engine, then opens a new one with `open`.
    pub(crate) fn replace(&self, open: impl FnOnce() -> Result<Engine, StorageError>) -> Result<(), StorageError> {
        let mut engine = self.0.write();
        if let Some(old) = engine.take() {
            old.journal.clear();
        }
        *engine = Some(open()?);
        Ok(())
    }
}

/// Drops all columns of a database that is not open, except some.
pub(crate) fn drop_columns(dir: &Path, options: &StoreOptions, kept: &[&str]) -> Result<(), StorageError> {
    let drop_columns = || {
        let cache = Cache::new_hyper_clock_cache(options.cache_bytes, 0);
        let columns = columns::descriptors(&cache, options.write_buffer_bytes / 2, &DroppedBlocks::default())?;
        let mut db = DB::open_cf_descriptors(&engine_options(options, false)?, dir.join(DATABASE_FOLDER), columns)?;
        columns::NAMES.into_iter().filter(|name| !kept.contains(name)).try_for_each(|name| db.drop_cf(name))
    };
    drop_columns().map_err(|source| opening_error(dir, source, options.write_buffer_bytes))
}

/// Logarithm of the number of parts of the cache of open files. In the default, 64 parts, each has room for a few files: in a database
/// with half as many files as the cache holds, reads open files again and again, which takes 0.1 ms.
const FILE_CACHE_SHARD_BITS: i32 = 2;

/// A loss of power may keep the writes of one log and lose the end of the log before it. With `has_continuous_logs` the
/// replay ends there; without, it would skip the lost writes and apply the later ones.
fn engine_options(options: &StoreOptions, has_continuous_logs: bool) -> Result<Options, rocksdb::Error> {
    // The crate has no setter for this option.
    let mut engine =
        Options::default().get_options_from_string(format!("track_and_verify_wals={has_continuous_logs}"))?;
    engine.create_if_missing(true);
    engine.create_missing_column_families(true);
    engine.set_max_open_files(options.max_open_files);
    engine.set_table_cache_num_shard_bits(FILE_CACHE_SHARD_BITS);
    engine.set_max_background_jobs(2);
    // The threads start for each column, with files or without: with the default, 16, they took 25 ms.
    engine.set_max_file_opening_threads(2);
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
    Ok(engine)
}

/// Classifies an error of opening the database. `bytes` is the amount that the engine may have to write on opening:
/// the log of the last run as table files.
pub(crate) fn opening_error(dir: &Path, source: rocksdb::Error, bytes: usize) -> StorageError {
    let dir = dir.to_path_buf();
    match source.kind() {
        // Another program wrote this directory if a column or its merge operator is unknown.
        ErrorKind::Corruption | ErrorKind::InvalidArgument => StorageError::Damaged { dir, source: source.into() },
        ErrorKind::IOError if let Some(missing) = missing_list(&dir) => {
            StorageError::Damaged { dir, source: missing.into() }
        }
        ErrorKind::IOError if is_disk_full(&dir, bytes.max(PROBE_BYTES)) => {
            StorageError::DiskFull { dir, source: source.into() }
        }
        _ => StorageError::Engine { operation: "open", source },
    }
}

/// Describes the list of files that the database names if it does not exist.
fn missing_list(dir: &Path) -> Option<String> {
    let folder = dir.join(DATABASE_FOLDER);
    let named = fs::read_to_string(folder.join(CURRENT_FILE)).ok()?;
    let name = named.trim_end();
    (!folder.join(name).exists()).then(|| format!("{DATABASE_FOLDER}/{name} is missing"))
}

#[cfg(test)]
mod tests {
    use rhizome_primitives::B256;

    use super::*;
    use crate::{ChainIdentity, Store};

    #[test]
    fn an_import_begins_with_a_group_and_ends_with_single_blocks() {
        let identity = ChainIdentity { chain_id: 33, genesis: B256::ZERO };
        let store = Store::open_temporary(&identity, &StoreOptions::default()).unwrap();
        let engine = store.database.engine().unwrap();
        let is_import_after = |groups: &[usize]| {
            groups.iter().for_each(|blocks| engine.note_blocks(*blocks).unwrap());
            engine.is_import()
        };
        assert!(!is_import_after(&[1; 20]));
        assert!(is_import_after(&[200]));
        assert!(is_import_after(&[1; 16]));
        assert!(is_import_after(&[2]) && is_import_after(&[1; 16]));
        assert!(!is_import_after(&[1]));
        assert!(!is_import_after(&[1; 20]));
        assert!(is_import_after(&[64]));
    }
}
