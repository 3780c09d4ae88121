//! What becomes of a disk that refuses to be written: a full one, or one that fails.
//!
//! The first write that fails makes the store refuse all others; reads go on. The engine may keep part of what failed in its
//! log, so nothing is repaired in place: when the disk takes writes again, the database is opened again like at a start,
//! and what it holds then counts.

use std::fs::{self, File};
use std::io::{self, ErrorKind as IoErrorKind, Write};
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::Ordering;

use parking_lot::RwLock;
use rocksdb::{ErrorKind, WriteBatch, WriteOptions, properties};

use crate::columns::META;
use crate::engine::Engine;
use crate::node_files::NodeFileError;
use crate::{StorageError, Store};

/// What a write of unknown size needs, and room besides that without which a database is not opened again.
pub(crate) const PROBE_BYTES: usize = 1 << 20;
/// A row that never is.
const PROBE_KEY: &[u8] = b"probe";

/// Why nothing is written at the moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WriteFault {
    /// Whether there is no room. Otherwise the disk fails.
    pub is_full: bool,
    /// What the engine or the operating system said.
    pub reason: String,
}

#[derive(Default)]
pub(crate) struct WriteFaults {
    current: RwLock<Option<WriteFault>>,
    listener: OnceLock<Box<dyn Fn() + Send + Sync>>,
}

impl Store {
    /// Why nothing is written at the moment; none while writes are taken.
    pub fn write_fault(&self) -> Option<WriteFault> {
        self.faults.current.read().clone()
    }

    /// Sets what is called for each write that fails or is refusal. Once.
    pub fn on_write_fault(&self, listener: Box<dyn Fn() + Send + Sync>) {
        // A second one would mean two that open the database again.
        let _ = self.faults.listener.set(listener);
    }

    /// Opens the database again after a write failed, if the disk takes writes now. Readers wait meanwhile. What it holds may
    /// be what was there before the write that failed, or after it. Writes are refusal until [`Store::clear_write_fault`].
    pub fn reopen(&self) -> Result<(), StorageError> {
        let dir = self.dir();
        probe(dir, self.unwritten_bytes().saturating_add(PROBE_BYTES))
            .map_err(|error| StorageError::from_file_error(dir, error))?;
        // What was in memory of a temporary database is nowhere else; its engine tries again by itself.
        if !self.settings.is_temporary {
            let open = || {
                self.generation.fetch_add(1, Ordering::SeqCst);
                Engine::open(dir, &self.settings)
            };
            self.main_hashes.change(|| self.engine.replace(open))?;
        }
        let mut options = WriteOptions::default();
        options.disable_wal(self.settings.is_temporary);
        options.set_sync(!self.settings.is_temporary);
        let engine = self.engine()?;
        let mut batch = WriteBatch::default();
        batch.delete_cf(engine.column(META)?, PROBE_KEY);
        engine
            .db
            .write_opt(batch, &options)
            .map_err(|source| self.write_error(NodeFileError::Engine(source), PROBE_BYTES))
    }

    /// Takes writes again.
    pub fn clear_write_fault(&self) {
        *self.faults.current.write() = None;
    }

    /// An error while the disk refuses writes.
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

    /// The typed form of a write that failed. All further ones are refusal, unless it is damage that no waiting heals. `bytes`
    /// is what was being written.
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

    /// The error of an engine that could not be opened again.
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
                // An earlier write in the background may be what failed.
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

    /// What the engine has in memory and must write at some time.
    fn unwritten_bytes(&self) -> usize {
        let bytes = self.engine_sum(properties::CUR_SIZE_ALL_MEM_TABLES).unwrap_or_default();
        usize::try_from(bytes).unwrap_or(self.settings.options.write_buffer_bytes)
    }
}

/// Whether the disk refuses as many bytes as could not be written. The engine reports a full disk in words only, so the
/// operating system is asked again.
pub(crate) fn is_disk_full(dir: &Path, bytes: usize) -> bool {
    let full = [IoErrorKind::StorageFull, IoErrorKind::QuotaExceeded];
    probe(dir, bytes).is_err_and(|error| full.contains(&error.kind()))
}

/// Writes a probe file of this many bytes and removes it.
fn probe(dir: &Path, bytes: usize) -> io::Result<()> {
    let path = dir.join("space.probe");
    let written = File::create(&path).and_then(|mut file| {
        let block = vec![0; 64 * 1024];
        for _ in 0..bytes / block.len() + 1 {
            file.write_all(&block)?;
        }
        file.sync_data()
    });
    let removed = fs::remove_file(&path);
    written.and(removed)
}
