//! The folder of a data directory in which a copy of another node's database arrives, and its takeover.
//!
//! The files arrive in `restore/unverified`, which no store opens. When all are verified they become `restore/chain`, and after the
//! check of the head the marker `restore/complete` is written. Only then a start takes them over: it puts them in the place of the
//! database, if there is one, and removes the folder. Each step is one rename, so a kill at any point leaves the database before or
//! after it.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use crate::StorageError;
use crate::directory_lock::lock;
use crate::engine::DATABASE_FOLDER;

const FOLDER: &str = "restore";
const UNVERIFIED: &str = "unverified";
const COMPLETE: &str = "complete";
/// The database that is replaced, until it is removed.
const REPLACED: &str = "replaced";

/// The folder of a data directory for files of another database.
pub struct RestoreFolder {
    dir: PathBuf,
    folder: PathBuf,
    /// The lock of the data directory, unless its node holds it.
    _lock: Option<File>,
}

impl RestoreFolder {
    /// Returns the folder of a data directory without a database, and locks the directory. A directory with a database fails with
    /// [`StorageError::HasChain`].
    pub fn of_new(dir: &Path) -> Result<Self, StorageError> {
        let locked = lock(dir)?;
        adopt(dir, true)?;
        if dir.join(DATABASE_FOLDER).exists() {
            return Err(StorageError::HasChain { dir: dir.to_path_buf() });
        }
        Self::begin(dir, Some(locked))
    }

    /// Returns the folder of the data directory that this process has open. The next start takes it over.
    pub fn of_open(dir: &Path) -> Result<Self, StorageError> {
        Self::begin(dir, None)
    }

    fn begin(dir: &Path, locked: Option<File>) -> Result<Self, StorageError> {
        let begun = Self { dir: dir.to_path_buf(), folder: dir.join(FOLDER), _lock: locked };
        begun.reopen().map_err(|error| StorageError::from_file_error(dir, error))?;
        Ok(begun)
    }

    /// Makes the files of an interrupted run unverified again.
    fn reopen(&self) -> io::Result<()> {
        remove_file(&self.folder.join(COMPLETE))?;
        let (verified, unverified) = (self.folder.join(DATABASE_FOLDER), self.unverified());
        if verified.exists() {
            remove_folder(&unverified)?;
            fs::rename(verified, &unverified)?;
        }
        fs::create_dir_all(unverified)
    }

    /// Returns the folder for the files of the database.
    pub fn unverified(&self) -> PathBuf {
        self.folder.join(UNVERIFIED)
    }

    /// Makes the verified files a data directory and returns it, to be opened for reading only.
    pub fn verified(&self) -> Result<&Path, StorageError> {
        let failed = |error| StorageError::from_file_error(&self.dir, error);
        fs::rename(self.unverified(), self.folder.join(DATABASE_FOLDER)).map_err(failed)?;
        Ok(&self.folder)
    }

    /// Lets the next start take the files over. They are on the disk.
    pub fn complete(&self) -> Result<(), StorageError> {
        let complete = || {
            File::create(self.folder.join(COMPLETE))?.sync_all()?;
            sync_folder(&self.folder)
        };
        complete().map_err(|error| StorageError::from_file_error(&self.dir, error))
    }

    /// Takes the completed files over now. The data directory has no database.
    pub fn take_over(self) -> Result<(), StorageError> {
        adopt(&self.dir, false)
    }
}

/// Takes over a completed restore. Fails for an incomplete one without another database, unless `may_be_unfinished`. The caller holds
/// the lock.
pub(crate) fn adopt(dir: &Path, may_be_unfinished: bool) -> Result<(), StorageError> {
    let folder = dir.join(FOLDER);
    let failed = |error| StorageError::from_file_error(dir, error);
    if folder.join(COMPLETE).exists() {
        return replace(dir, &folder).map_err(failed);
    }
    let has_files = folder.join(UNVERIFIED).exists() || folder.join(DATABASE_FOLDER).exists();
    match has_files {
        // The end of a takeover.
        false => remove_folder(&folder).map_err(failed),
        true if may_be_unfinished || dir.join(DATABASE_FOLDER).exists() => Ok(()),
        true => Err(StorageError::UnfinishedRestore { dir: dir.to_path_buf() }),
    }
}

fn replace(dir: &Path, folder: &Path) -> io::Result<()> {
    let (current, restored) = (dir.join(DATABASE_FOLDER), folder.join(DATABASE_FOLDER));
    if restored.exists() {
        if current.exists() {
            let replaced = folder.join(REPLACED);
            remove_folder(&replaced)?;
            fs::rename(&current, replaced)?;
        }
        fs::rename(restored, &current)?;
        sync_folder(dir)?;
    }
    remove_file(&folder.join(COMPLETE))?;
    remove_folder(folder)
}

fn remove_folder(path: &Path) -> io::Result<()> {
    ignore_missing(fs::remove_dir_all(path))
}

fn remove_file(path: &Path) -> io::Result<()> {
    ignore_missing(fs::remove_file(path))
}

fn ignore_missing(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// Waits until the names in a folder are on the disk. Windows cannot open folders, and journals names itself.
fn sync_folder(path: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(path)?.sync_all() } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use rhizome_primitives::B256;

    use super::*;
    use crate::Store;
    use crate::options::{ChainIdentity, StoreOptions};

    fn identity() -> ChainIdentity {
        ChainIdentity { chain_id: 33, genesis: B256::repeat_byte(1) }
    }

    fn open(dir: &Path) -> Result<Store, StorageError> {
        Store::open(dir, &identity(), &StoreOptions::default())
    }

    /// Writes bans: a mark of the database.
    fn write(dir: &Path, bans: &str) {
        open(dir).unwrap().write_bans(bans).unwrap();
    }

    /// Puts a database into the folder.
    fn fill(folder: &RestoreFolder, bans: &str) {
        let other = tempfile::tempdir().unwrap();
        write(other.path(), bans);
        fs::remove_dir(folder.unverified()).unwrap();
        open(other.path()).unwrap().checkpoint(&folder.unverified()).unwrap();
    }

    #[test]
    fn a_verified_database_is_taken_over_by_the_next_start() {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), "old");
        assert!(matches!(RestoreFolder::of_new(dir.path()), Err(StorageError::HasChain { .. })));
        let folder = RestoreFolder::of_open(dir.path()).unwrap();
        fill(&folder, "new");
        // Not complete: the database stays.
        assert_eq!(open(dir.path()).unwrap().bans().unwrap(), "old");
        folder.verified().unwrap();
        assert_eq!(open(dir.path()).unwrap().bans().unwrap(), "old");
        folder.complete().unwrap();
        assert_eq!(open(dir.path()).unwrap().bans().unwrap(), "new");
        assert!(!dir.path().join(FOLDER).exists());
    }

    #[test]
    fn an_unfinished_restore_is_not_opened() {
        let dir = tempfile::tempdir().unwrap();
        let folder = RestoreFolder::of_new(dir.path()).unwrap();
        assert!(matches!(open(dir.path()), Err(StorageError::Locked { .. })));
        fill(&folder, "new");
        drop(folder);
        assert!(matches!(open(dir.path()), Err(StorageError::UnfinishedRestore { .. })));
        let folder = RestoreFolder::of_new(dir.path()).unwrap();
        folder.verified().unwrap();
        drop(folder);
        assert!(matches!(open(dir.path()), Err(StorageError::UnfinishedRestore { .. })));
        // The next run continues with the same files.
        let folder = RestoreFolder::of_new(dir.path()).unwrap();
        assert!(folder.unverified().join("CURRENT").exists());
        folder.verified().unwrap();
        folder.complete().unwrap();
        folder.take_over().unwrap();
        assert_eq!(open(dir.path()).unwrap().bans().unwrap(), "new");
    }

    #[test]
    fn a_takeover_that_was_killed_is_finished_by_the_next_start() {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), "old");
        let folder = RestoreFolder::of_open(dir.path()).unwrap();
        fill(&folder, "new");
        folder.verified().unwrap();
        folder.complete().unwrap();
        // Killed between the two renames.
        fs::rename(dir.path().join(DATABASE_FOLDER), dir.path().join(FOLDER).join(REPLACED)).unwrap();
        assert_eq!(open(dir.path()).unwrap().bans().unwrap(), "new");
        // Killed while the folder was removed.
        fs::create_dir_all(dir.path().join(FOLDER).join(REPLACED)).unwrap();
        assert_eq!(open(dir.path()).unwrap().bans().unwrap(), "new");
        assert!(!dir.path().join(FOLDER).exists());
    }
}
