//! Write faults: a disk that is full or fails.
//!
//! After the first failed write the store refuses all others; reads continue. RocksDB may keep part of the failed
//! write in its log, so nothing is repaired in place: once the disk takes writes again, the database is reopened as at
//! start, and its contents are authoritative.

use std::sync::OnceLock;

use parking_lot::RwLock;
use rocksdb::{ErrorKind, WriteBatch, WriteOptions, properties};

use crate::StorageError;
use crate::columns::META;
use crate::database::Database;
use crate::disk_probe::{PROBE_BYTES, is_disk_full, probe};
use crate::engine::Engine;
use crate::node_files::NodeFileError;
use crate::restored;

/// Key that is never written, only deleted.
const PROBE_KEY: &[u8] = b"probe";

/// Reason why writes are refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WriteFault {
    /// True if the disk is full, false if it fails for another reason.
    pub is_full: bool,
    /// Error of the engine or of the operating system.
    pub reason: String,
}

#[derive(Default)]
pub(crate) struct WriteFaults {
    current: RwLock<Option<WriteFault>>,
    listener: OnceLock<Box<dyn Fn() + Send + Sync>>,
}

impl Database {
    /// Returns the reason why writes are refused; `None` while they are accepted.
    pub(crate) fn write_fault(&self) -> Option<WriteFault> {
        self.faults.current.read().clone()
    }

    /// Sets the callback for writes that fail or are refused. Only the first call has an effect.
    pub(crate) fn on_write_fault(&self, listener: Box<dyn Fn() + Send + Sync>) {
        // A second listener would reopen the database a second time.
        let _ = self.faults.listener.set(listener);
    }

    /// Fails if the disk has no room for the memtables and a small write.
    pub(crate) fn probe_space(&self) -> Result<(), StorageError> {
        let bytes = self.unwritten_bytes().saturating_add(PROBE_BYTES);
        probe(self.dir(), bytes).map_err(|error| StorageError::from_file_error(self.dir(), error))
    }

    /// Closes the engine, calls `before_open` and opens the engine again. A completed restore takes the place of the database.
    pub(crate) fn reopen_engine(&self, before_open: impl FnOnce()) -> Result<(), StorageError> {
        self.engine.replace(|| {
            before_open();
            restored::adopt(self.dir(), true)?;
            Engine::open(self.dir(), &self.settings)
        })
    }

    /// Refuses writes until the engine was opened again. The next refused write leads to an attempt.
    pub(crate) fn refuse_writes(&self, reason: &str) {
        *self.faults.current.write() = Some(WriteFault { is_full: false, reason: reason.to_owned() });
    }

    /// Writes to the disk once, although writes are refused.
    pub(crate) fn write_probe(&self) -> Result<(), StorageError> {
        let mut options = WriteOptions::default();
        options.disable_wal(self.settings.is_temporary);
        options.set_sync(!self.settings.is_temporary);
        let engine = self.engine()?;
        let mut batch = WriteBatch::default();
        batch.delete_cf(engine.column(META)?, PROBE_KEY);
        let written = engine.db.write_opt(batch, &options);
        written.map_err(|source| self.write_error(NodeFileError::Engine(source), PROBE_BYTES))
    }

    /// Accepts writes again.
    pub(crate) fn clear_write_fault(&self) {
        *self.faults.current.write() = None;
    }

    /// Fails while writes are refused.
    pub(crate) fn check_writable(&self) -> Result<(), StorageError> {
        let refusal = self.faults.current.read().as_ref().map(|fault| self.refusal(fault));
        refusal.map_or(Ok(()), |error| {
            self.notify_listener();
            Err(error)
        })
    }

    pub(crate) fn write_batch(&self, batch: WriteBatch) -> Result<(), StorageError> {
        self.check_writable()?;
        let bytes = batch.size_in_bytes();
        let written = self.engine()?.db.write_opt(batch, &self.write_options);
        written.map_err(|source| self.begin_fault(NodeFileError::Engine(source), bytes))
    }

    /// Classifies a failed write. All further writes are refused, unless the error is permanent damage. `bytes` is the
    /// size of the failed write.
    pub(crate) fn begin_fault(&self, error: NodeFileError, bytes: usize) -> StorageError {
        let error = self.write_error(error, bytes);
        let (is_full, reason) = match &error {
            StorageError::DiskFull { source, .. } => (true, source.to_string()),
            StorageError::WriteFailed { source, .. } => (false, source.to_string()),
            _ => return error,
        };
        *self.faults.current.write() = Some(WriteFault { is_full, reason });
        self.notify_listener();
        error
    }

    /// Returns the error of reads and writes after a failed reopening.
    pub(crate) fn closed_error(&self) -> StorageError {
        let fault = self.write_fault();
        let fault = fault.unwrap_or(WriteFault { is_full: false, reason: "the database is closed".into() });
        self.refusal(&fault)
    }

    fn refusal(&self, WriteFault { is_full, reason }: &WriteFault) -> StorageError {
        let (dir, source) = (self.dir().to_path_buf(), reason.clone().into());
        if *is_full { StorageError::DiskFull { dir, source } } else { StorageError::WriteFailed { dir, source } }
    }

    fn notify_listener(&self) {
        if let Some(listener) = self.faults.listener.get() {
            listener();
        }
    }

    fn write_error(&self, error: NodeFileError, bytes: usize) -> StorageError {
        let dir = self.dir().to_path_buf();
        match error {
            NodeFileError::Engine(source) => match source.kind() {
                ErrorKind::Corruption => StorageError::Damaged { dir, source: source.into() },
                // The failure may be that of an earlier background write.
                _ if is_disk_full(&dir, bytes.saturating_add(self.unwritten_bytes())) => {
                    StorageError::DiskFull { dir, source: source.into() }
                }
                _ => StorageError::WriteFailed { dir, source: source.into() },
            },
            NodeFileError::File(source) => match StorageError::from_file_error(&dir, source) {
                StorageError::NotWritable { dir, source } => StorageError::WriteFailed { dir, source: source.into() },
                typed => typed,
            },
        }
    }

    /// Returns the size of the memtables, which have to be written eventually.
    fn unwritten_bytes(&self) -> usize {
        let bytes = self.engine_sum(properties::CUR_SIZE_ALL_MEM_TABLES).unwrap_or_default();
        usize::try_from(bytes).unwrap_or(self.settings.options.write_buffer_bytes)
    }
}
