//! The folder of cache files: one for each chain and block, and the blocks that a URL has led to.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rhizome_primitives::{B256, hex, keccak256};

use crate::error::ForkError;

const EXTENSION: &str = "cache";
/// Folder of the files that name the block of an earlier run.
const TARGETS: &str = "targets";

/// Folder of cache files.
#[derive(Debug, Clone)]
pub struct CacheFolder(PathBuf);

/// A cache file of the folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CachedFork {
    /// Chain id.
    pub chain_id: u64,
    /// Number of the block.
    pub number: u64,
    /// Hash of the block.
    pub hash: B256,
    /// Size of the file.
    pub bytes: u64,
}

impl CacheFolder {
    /// Names a folder. It is made when the first file is.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    /// Returns the path.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Returns the file for a block of a chain, whose folder exists then.
    pub(crate) fn file(&self, chain_id: u64, number: u64, hash: &B256) -> Result<PathBuf, ForkError> {
        fs::create_dir_all(&self.0).map_err(|source| self.failed(source))?;
        Ok(self.0.join(format!("{chain_id}-{number}-{}.{EXTENSION}", hex::encode(hash))))
    }

    /// Returns the file that a URL and a block led to in an earlier run; `None` if there is none any more.
    pub(crate) fn target(&self, url: &str, block: &str) -> Option<PathBuf> {
        let name = fs::read_to_string(self.target_file(url, block)).ok()?;
        read_name(&name)?;
        Some(self.0.join(name)).filter(|file| file.is_file())
    }

    /// Remembers the file that a URL and a block lead to.
    pub(crate) fn set_target(&self, url: &str, block: &str, file: &Path) -> Result<(), ForkError> {
        let Some(name) = file.file_name() else { return Ok(()) };
        let target = self.target_file(url, block);
        let fresh = target.with_extension(format!("{}.new", std::process::id()));
        let write = || {
            fs::create_dir_all(self.0.join(TARGETS))?;
            fs::write(&fresh, name.as_encoded_bytes())?;
            fs::rename(&fresh, &target)
        };
        write().map_err(|source| self.failed(source))
    }

    /// A URL may contain a key, so that only its hash is stored.
    fn target_file(&self, url: &str, block: &str) -> PathBuf {
        self.0.join(TARGETS).join(hex::encode(keccak256(format!("{url} {block}"))))
    }

    /// Returns the cache files, in the order of chains and numbers.
    pub fn list(&self) -> Result<Vec<CachedFork>, ForkError> {
        let entries = match fs::read_dir(&self.0) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(|source| self.failed(source))?,
        };
        let mut found = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|source| self.failed(source))?;
            let Some((chain_id, number, hash)) = entry.file_name().to_str().and_then(read_name) else { continue };
            let bytes = entry.metadata().map_err(|source| self.failed(source))?.len();
            found.push(CachedFork { chain_id, number, hash, bytes });
        }
        found.sort_by_key(|fork| (fork.chain_id, fork.number, fork.hash));
        Ok(found)
    }

    /// Deletes all cache files. Running nodes keep the results that they have read. Other files of the folder stay.
    pub fn clear(&self) -> Result<(), ForkError> {
        for CachedFork { chain_id, number, hash, .. } in self.list()? {
            remove(fs::remove_file(self.file(chain_id, number, &hash)?)).map_err(|source| self.failed(source))?;
        }
        remove(fs::remove_dir_all(self.0.join(TARGETS))).map_err(|source| self.failed(source))
    }

    fn failed(&self, source: io::Error) -> ForkError {
        ForkError::Cache { file: self.0.display().to_string(), source }
    }
}

/// A file that does not exist counts as deleted.
fn remove(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// Returns chain id, number and hash in the name of a cache file.
fn read_name(name: &str) -> Option<(u64, u64, B256)> {
    let mut parts = name.strip_suffix(EXTENSION)?.strip_suffix('.')?.split('-');
    let (chain_id, number, hash) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() || hash.len() != 64 {
        return None;
    }
    Some((chain_id.parse().ok()?, number.parse().ok()?, hash.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_listed_and_deleted() {
        let dir = tempfile::tempdir().unwrap();
        let folder = CacheFolder::new(dir.path().join("fork"));
        assert_eq!(folder.list().unwrap(), []);
        folder.clear().unwrap();
        let hash = B256::repeat_byte(0xab);
        for (chain, number) in [(33, 10), (30, 9), (33, 9)] {
            fs::write(folder.file(chain, number, &hash).unwrap(), "xx").unwrap();
        }
        fs::write(folder.path().join("other.cache"), "").unwrap();
        let listed = folder.list().unwrap();
        assert_eq!(
            listed.iter().map(|fork| (fork.chain_id, fork.number)).collect::<Vec<_>>(),
            [(30, 9), (33, 9), (33, 10)]
        );
        assert_eq!((listed[0].hash, listed[0].bytes), (hash, 2));
        folder.clear().unwrap();
        assert_eq!(folder.list().unwrap(), []);
        assert!(folder.path().join("other.cache").exists());
    }

    #[test]
    fn a_url_leads_to_the_file_of_an_earlier_run() {
        let dir = tempfile::tempdir().unwrap();
        let folder = CacheFolder::new(dir.path());
        let file = folder.file(33, 7, &B256::repeat_byte(1)).unwrap();
        folder.set_target("http://node/secret", "7", &file).unwrap();
        assert_eq!(folder.target("http://node/secret", "7"), None, "no such file");
        fs::write(&file, "").unwrap();
        assert_eq!(folder.target("http://node/secret", "7"), Some(file.clone()));
        assert_eq!(folder.target("http://node/secret", "8"), None);
        fs::write(folder.target_file("http://node/secret", "7"), "../../etc/passwd").unwrap();
        assert_eq!(folder.target("http://node/secret", "7"), None);
    }
}
