use std::fs::File;
use std::io::ErrorKind;
use std::path::Path;

use crate::error::RskjError;

/// Shared lock of a table, which a running node does not grant. While it is held, no node can open the table.
#[derive(Debug)]
pub(crate) struct TableLock {
    _file: Option<File>,
}

impl TableLock {
    /// Takes the lock of the table in a folder. A folder that was copied without its file `LOCK` has none.
    pub(crate) fn take(dir: &Path) -> Result<Self, RskjError> {
        let path = dir.join("LOCK");
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Self { _file: None }),
            // On Windows a running node has the file open exclusively.
            Err(error) if cfg!(windows) && error.raw_os_error() == Some(SHARING_VIOLATION) => {
                return Err(RskjError::InUse { dir: dir.to_owned() });
            }
            Err(error) => return Err(RskjError::read(&path)(error)),
        };
        lock(&file, dir, &path)?;
        Ok(Self { _file: Some(file) })
    }
}

/// Error of Windows for a file that another process has open exclusively.
const SHARING_VIOLATION: i32 = 32;

/// RocksDB and LevelDB take a write lock of the whole file by `fcntl`.
#[cfg(unix)]
fn lock(file: &File, dir: &Path, path: &Path) -> Result<(), RskjError> {
    use rustix::fs::{FlockOperation, fcntl_lock};
    use rustix::io::Errno;
    match fcntl_lock(file, FlockOperation::NonBlockingLockShared) {
        Ok(()) => Ok(()),
        Err(Errno::AGAIN | Errno::ACCESS) => Err(RskjError::InUse { dir: dir.to_owned() }),
        Err(error) => Err(RskjError::read(path)(error.into())),
    }
}

#[cfg(not(unix))]
fn lock(_file: &File, _dir: &Path, _path: &Path) -> Result<(), RskjError> {
    Ok(())
}
