//! A copy of the database of a data directory, with hard links, beside it.
//!
//! The directory may be that of a running node: then a request file in `DATA/copies`, locked by the caller, asks the node for the
//! copy. It appears under its final name when it is complete. The lock shows that the caller lives: the node, or the next caller,
//! removes copies whose caller has ended.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rhizome_chain::ChainError;
use rhizome_storage::{StorageError, Store, StoreOptions, directory_chain};

use crate::error::CheckpointError;

/// Folder of the database in a data directory.
pub(crate) const DATABASE: &str = "chain";
const COPIES: &str = "copies";
const REQUEST: &str = "request";
const FAILED: &str = "failed";
const PARTIAL: &str = "partial";
/// Time between two looks for the copy.
const LOOK: Duration = Duration::from_millis(100);

/// A copy of a database. Removed when it is dropped.
pub struct DataCopy {
    copies: PathBuf,
    name: String,
    /// Locked.
    _request: File,
}

impl DataCopy {
    /// Copies the database of a data directory: itself, or through the node that has it open, within a time.
    pub fn make(dir: &Path, limit: Duration) -> Result<Self, CheckpointError> {
        if !dir.join(DATABASE).join("CURRENT").is_file() {
            return Err(StorageError::NoChain { dir: dir.to_path_buf() }.into());
        }
        let copies = dir.join(COPIES);
        remove_abandoned(&copies);
        let request = Self::request(copies.clone()).map_err(|error| CheckpointError::file(&copies, error))?;
        let started = Instant::now();
        loop {
            if request.folder().is_dir() {
                return Ok(request);
            }
            if let Ok(reason) = fs::read_to_string(request.path(FAILED)) {
                return Err(CheckpointError::Copy { dir: dir.display().to_string(), reason });
            }
            match copy_closed(dir, &request) {
                Err(StorageError::Locked { .. }) => {}
                copied => return copied.map(|()| request).map_err(Into::into),
            }
            if started.elapsed() >= limit {
                let (dir, seconds) = (dir.display().to_string(), limit.as_secs());
                return Err(CheckpointError::NoAnswer { dir, seconds });
            }
            thread::sleep(LOOK);
        }
    }

    /// Returns the folder of the copy: a data directory.
    pub(crate) fn folder(&self) -> PathBuf {
        self.copies.join(&self.name)
    }

    fn request(copies: PathBuf) -> io::Result<Self> {
        fs::create_dir_all(&copies)?;
        let mut bytes = [0; 8];
        getrandom::fill(&mut bytes).map_err(io::Error::other)?;
        let name = hex::encode(bytes);
        // Visible with its lock only.
        let hidden = copies.join(format!("{name}.new"));
        let file = File::create_new(&hidden)?;
        file.lock()?;
        fs::rename(hidden, copies.join(format!("{name}.{REQUEST}")))?;
        Ok(Self { copies, name, _request: file })
    }

    fn path(&self, kind: &str) -> PathBuf {
        self.copies.join(format!("{}.{kind}", self.name))
    }
}

impl Drop for DataCopy {
    fn drop(&mut self) {
        remove(&self.copies, &self.name);
        // Only an empty one is removed.
        drop(fs::remove_dir(&self.copies));
    }
}

/// Copies the database of a directory that no program has open.
fn copy_closed(dir: &Path, copy: &DataCopy) -> Result<(), StorageError> {
    let (identity, node_versions) = directory_chain(dir)?;
    let store = Store::open(dir, &identity, &StoreOptions { node_versions, ..StoreOptions::default() })?;
    let partial = copy.path(PARTIAL);
    let failed = |source| StorageError::NotWritable { dir: copy.copies.clone(), source };
    fs::create_dir_all(&partial).map_err(failed)?;
    store.checkpoint(&partial.join(DATABASE))?;
    fs::rename(partial, copy.folder()).map_err(failed)
}

/// Makes the copies that are requested in a data directory, with `copy`, and removes copies whose caller has ended.
pub(crate) fn serve(dir: &Path, copy: &mut dyn FnMut(&Path) -> Result<(), ChainError>) {
    let copies = dir.join(COPIES);
    for name in remove_abandoned(&copies) {
        let path = |kind: &str| copies.join(format!("{name}.{kind}"));
        if copies.join(&name).exists() || path(FAILED).exists() {
            continue;
        }
        let partial = path(PARTIAL);
        let mut make = || -> Result<(), ChainError> {
            // That of a run that was killed.
            ignore_missing(fs::remove_dir_all(&partial))?;
            fs::create_dir_all(&partial)?;
            copy(&partial.join(DATABASE))?;
            Ok(fs::rename(&partial, copies.join(&name))?)
        };
        if let Err(error) = make() {
            drop(fs::remove_dir_all(&partial));
            // Without the file the caller gives up after its limit.
            drop(fs::write(path(FAILED), error.to_string()));
        }
    }
}

/// Removes copies whose caller has ended. Returns the names of the others.
fn remove_abandoned(copies: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(copies) else { return Vec::new() };
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let names: Vec<String> = names.filter(|name| !name.ends_with(".new")).collect();
    let names: HashSet<&str> =
        names.iter().map(|name| name.split_once('.').map_or(&**name, |(name, _)| name)).collect();
    let is_held = |name: &&str| match File::open(copies.join(format!("{name}.{REQUEST}"))) {
        Ok(request) => request.try_lock_shared().is_err(),
        Err(error) => error.kind() != io::ErrorKind::NotFound,
    };
    let (held, abandoned): (Vec<&str>, Vec<&str>) = names.into_iter().partition(is_held);
    abandoned.iter().for_each(|name| remove(copies, name));
    held.into_iter().map(str::to_owned).collect()
}

/// Removes a copy, and at last its request. The next caller removes the rest after a failure.
fn remove(copies: &Path, name: &str) {
    drop(fs::remove_dir_all(copies.join(name)));
    drop(fs::remove_dir_all(copies.join(format!("{name}.{PARTIAL}"))));
    drop(fs::remove_file(copies.join(format!("{name}.{FAILED}"))));
    drop(fs::remove_file(copies.join(format!("{name}.{REQUEST}"))));
}

fn ignore_missing(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}
