//! Lock of a data directory: exclusive for its node, shared for readers.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::ErrorKind;
use std::path::Path;

use crate::StorageError;

/// Locked by the process that has the directory open. RocksDB has its own lock, but reports it only as text.
pub(crate) const LOCK_FILE: &str = "rhizome.lock";

/// Creates a data directory if it is absent, and takes its lock.
pub(crate) fn lock(dir: &Path) -> Result<File, StorageError> {
    let not_writable = |source| StorageError::NotWritable { dir: dir.to_path_buf(), source };
    fs::create_dir_all(dir).map_err(not_writable)?;
    let lock = OpenOptions::new().create(true).truncate(false).write(true).open(dir.join(LOCK_FILE));
    let lock = lock.map_err(not_writable)?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(TryLockError::WouldBlock) => Err(StorageError::Locked { dir: dir.to_path_buf() }),
        Err(TryLockError::Error(source)) => Err(not_writable(source)),
    }
}

/// Takes the lock that a node would take exclusively. A directory that was copied without it has none.
pub(crate) fn shared_lock(dir: &Path) -> Result<Option<File>, StorageError> {
    let not_readable = |source| StorageError::NotWritable { dir: dir.to_path_buf(), source };
    let lock = match File::open(dir.join(LOCK_FILE)) {
        Ok(lock) => lock,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(not_readable(error)),
    };
    match lock.try_lock_shared() {
        Ok(()) => Ok(Some(lock)),
        Err(TryLockError::WouldBlock) => Err(StorageError::Locked { dir: dir.to_path_buf() }),
        Err(TryLockError::Error(error)) => Err(not_readable(error)),
    }
}
