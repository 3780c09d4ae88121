//! The open database: typed access to rows and nodes, below the tasks of a store.

use std::fs::File;
use std::path::{Path, PathBuf};

use rhizome_primitives::{B256, Bytes};
use rhizome_trie::{SourceNode, WantedNode};
use rocksdb::properties::PropName;
use rocksdb::{Cache, DBPinnableSlice, ErrorKind, ReadOptions, WriteOptions};
use tempfile::TempDir;

use crate::StorageError;
use crate::base_state::BaseState;
use crate::columns::{self, VALUES};
use crate::dropped_blocks::DroppedBlocks;
use crate::engine::{Engine, EngineGuard, EngineLock, EngineSettings};
use crate::options::{ChainIdentity, Durability, NodeVersions, StoreOptions};
use crate::row_readers::RowReaders;
use crate::write_faults::WriteFaults;

/// Data directory with its process lock.
pub(crate) struct DataDirectory {
    pub(crate) dir: PathBuf,
    /// Absent in a directory that was copied without its lock file, and is only read.
    pub(crate) _lock: Option<File>,
    pub(crate) _temporary: Option<TempDir>,
}

/// An open database. Reads never block each other or the writer.
pub(crate) struct Database {
    pub(crate) engine: EngineLock,
    pub(crate) settings: EngineSettings,
    pub(crate) faults: WriteFaults,
    pub(crate) write_options: WriteOptions,
    /// State of the other chain at the block that a fork begins at.
    pub(crate) base: BaseState,
    /// Options for reads of single rows. Shared, because creating them costs about as much as a read.
    read_options: ReadOptions,
    row_readers: RowReaders,
    // Dropped last: the engine closes its files before the lock is released and a temporary directory is removed.
    directory: DataDirectory,
}

/// Use of a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DatabaseKind {
    /// The data directory of a node.
    Lasting,
    /// A folder that is removed when it is closed.
    Temporary,
    /// Reads of a data directory of another run.
    ReadOnly,
}

impl Database {
    pub(crate) fn open(
        directory: DataDirectory,
        identity: &ChainIdentity,
        options: &StoreOptions,
        kind: DatabaseKind,
        base: BaseState,
    ) -> Result<Self, StorageError> {
        let is_temporary = kind == DatabaseKind::Temporary;
        let settings = EngineSettings {
            identity: identity.clone(),
            options: options.clone(),
            is_temporary,
            is_read_only: kind == DatabaseKind::ReadOnly,
            // Look-ups take no lock: an import reads a fifth faster than with the LRU cache and twice as many level-0 files.
            cache: Cache::new_hyper_clock_cache(options.cache_bytes, 0),
            dropped: DroppedBlocks::default(),
        };
        let engine = Engine::open(&directory.dir, &settings)?;
        let mut write_options = WriteOptions::default();
        write_options.disable_wal(is_temporary);
        write_options.set_sync(!is_temporary && options.durability == Durability::Power);
        Ok(Self {
            engine: EngineLock::new(engine),
            settings,
            faults: WriteFaults::default(),
            write_options,
            base,
            read_options: ReadOptions::default(),
            row_readers: RowReaders::default(),
            directory,
        })
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.directory.dir
    }

    /// Whether values of earlier blocks are in the column `history`. Without it they are in the tries of these blocks: at 5 million entries
    /// compacting its rows took 3 ms for a block of 818 new keys. The tries of a fork have written keys only.
    pub(crate) fn has_history(&self) -> bool {
        self.settings.options.node_versions == NodeVersions::Current || self.base.is_fork()
    }

    /// Returns a long value by its Keccak hash, also the root of a state if all versions of nodes are kept.
    pub(crate) fn by_hash(&self, hash: &B256) -> Result<Option<SourceNode>, StorageError> {
        if self.settings.options.node_versions == NodeVersions::Current {
            let copied = |row: Option<&[u8]>| row.map(|row| Bytes::copy_from_slice(row).into());
            return self.with_row(VALUES, hash.as_slice(), copied);
        }
        let engine = self.engine()?;
        let found = engine.journal.by_hash(&engine.files, hash);
        found.map_err(|error| StorageError::from_file_error(self.dir(), error))
    }

    /// Returns a node of a directory with all versions.
    pub(crate) fn node(&self, wanted: &WantedNode<'_>) -> Result<Option<SourceNode>, StorageError> {
        let engine = self.engine()?;
        engine.journal.node(&engine.files, wanted).map_err(|error| StorageError::from_file_error(self.dir(), error))
    }

    /// Reads several nodes at once, like [`Database::node`]. First the nodes that the system has in memory: handing a node over to another
    /// thread takes longer than copying it.
    ///
    /// Measured with all proofs in 512 MB (1,000 blocks of 818 new keys at 5 million entries, AMD EPYC, 2 cores): 33 to 34 s in place of 44
    /// to 47, and 53 s in place of 78 with an empty page cache.
    pub(crate) fn nodes(&self, wanted: &[WantedNode<'_>]) -> Result<Vec<Option<SourceNode>>, StorageError> {
        let engine = self.engine()?;
        let found = engine.journal.nodes_in_memory(&engine.files, wanted);
        let found = found.map_err(|error| StorageError::from_file_error(self.dir(), error))?;
        read_missing(found, wanted, |missing| {
            self.row_readers.read(missing, |part| part.iter().map(|wanted| self.node(wanted)).collect())
        })
    }

    /// Returns the size of the node files in bytes.
    pub(crate) fn node_bytes(&self) -> Result<u64, StorageError> {
        self.engine()?.files.bytes().map_err(|error| StorageError::from_file_error(self.dir(), error))
    }

    pub(crate) fn engine_sum(&self, property: &PropName) -> Result<u64, StorageError> {
        columns::NAMES.iter().try_fold(0_u64, |sum, name| Ok(sum.saturating_add(self.engine_number(name, property)?)))
    }

    pub(crate) fn engine_number(&self, name: &'static str, property: &PropName) -> Result<u64, StorageError> {
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

    /// Reads several rows at once, which costs less than one after another. Fastest if the keys are sorted.
    pub(crate) fn rows(&self, name: &'static str, keys: &[Vec<u8>]) -> Result<Vec<Option<Bytes>>, StorageError> {
        self.row_readers.read(keys, |keys| self.rows_on_this_thread(name, keys))
    }

    fn rows_on_this_thread(&self, name: &'static str, keys: &[Vec<u8>]) -> Result<Vec<Option<Bytes>>, StorageError> {
        let engine = self.engine()?;
        let (column, is_sorted) = (engine.column(name)?, keys.is_sorted());
        let rows = engine.db.batched_multi_get_cf_opt(column, keys, is_sorted, &self.read_options);
        let copied = |row: Option<DBPinnableSlice<'_>>| row.map(|row| Bytes::copy_from_slice(&row));
        let copies = rows.into_iter().map(|row| row.map(copied));
        copies.collect::<Result<_, _>>().map_err(|source| self.engine_error("read", source))
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
            Some(row) => decode(row).map(Some).ok_or_else(|| StorageError::damaged_row(name, key, "cannot be decoded")),
            None => Ok(None),
        })?
    }

    /// Visits the rows from `first` to `last`, both included, or to the end of the column.
    pub(crate) fn visit_range(
        &self,
        name: &'static str,
        first: &[u8],
        last: Option<&[u8]>,
        visit: impl FnMut(&[u8], &[u8]) -> Result<(), StorageError>,
    ) -> Result<(), StorageError> {
        // The smallest key after the last one.
        let end = last.map(|last| [last, &[0]].concat());
        self.visit_until(name, first, end, visit)
    }

    /// Visits the rows from `first` to `end`, which is not included, or to the end of the column.
    pub(crate) fn visit_until(
        &self,
        name: &'static str,
        first: &[u8],
        end: Option<Vec<u8>>,
        mut visit: impl FnMut(&[u8], &[u8]) -> Result<(), StorageError>,
    ) -> Result<(), StorageError> {
        let mut options = ReadOptions::default();
        if let Some(end) = end {
            options.set_iterate_upper_bound(end);
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
            ErrorKind::Corruption => StorageError::Damaged { dir: self.dir().to_path_buf(), source: source.into() },
            _ => StorageError::Engine { operation, source },
        }
    }
}

/// Completes `found`, the nodes of `wanted` as far as they are known: `read` reads the others at once.
pub(crate) fn read_missing<E>(
    mut found: Vec<Option<SourceNode>>,
    wanted: &[WantedNode<'_>],
    read: impl FnOnce(&[WantedNode<'_>]) -> Result<Vec<Option<SourceNode>>, E>,
) -> Result<Vec<Option<SourceNode>>, E> {
    let missing = found.iter().zip(wanted).filter(|(found, _)| found.is_none());
    let missing: Vec<_> = missing.map(|(_, wanted)| *wanted).collect();
    let read = read(&missing)?;
    found.iter_mut().filter(|found| found.is_none()).zip(read).for_each(|(found, read)| *found = read);
    Ok(found)
}
