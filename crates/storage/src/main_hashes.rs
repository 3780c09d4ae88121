//! Hashes of the best chain by height, as far as they were asked for lately.

use std::sync::atomic::{AtomicU64, Ordering};

use quick_cache::sync::Cache;
use rhizome_primitives::B256;

use crate::StorageError;

/// Heights that are cached: about a megabyte.
const HEIGHTS: usize = 8192;

/// What is cached holds as long as no block leaves the best chain. Each time one does, the number of the branch changes
/// before and after: what was read meanwhile counts for neither.
pub(crate) struct MainHashes {
    branch: AtomicU64,
    cached: Cache<u64, (u64, B256)>,
}

impl Default for MainHashes {
    fn default() -> Self {
        Self { branch: AtomicU64::new(0), cached: Cache::new(HEIGHTS) }
    }
}

impl MainHashes {
    /// The hash at a height, or what `read` says. Heights without a block are asked again.
    pub(crate) fn get(
        &self,
        number: u64,
        read: impl FnOnce() -> Result<Option<B256>, StorageError>,
    ) -> Result<Option<B256>, StorageError> {
        let branch = self.branch.load(Ordering::SeqCst);
        if let Some((_, hash)) = self.cached.get(&number).filter(|(cached, _)| *cached == branch) {
            return Ok(Some(hash));
        }
        let found = read()?;
        if let Some(hash) = found {
            self.cached.insert(number, (branch, hash));
        }
        Ok(found)
    }

    /// Does a write that takes blocks off the best chain.
    pub(crate) fn change<T>(&self, write: impl FnOnce() -> T) -> T {
        self.branch.fetch_add(1, Ordering::SeqCst);
        let written = write();
        self.branch.fetch_add(1, Ordering::SeqCst);
        written
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_read_once_until_the_branch_changes() {
        let hashes = MainHashes::default();
        let (old, new) = (B256::with_last_byte(1), B256::with_last_byte(2));
        let ask = |answer: Option<B256>| hashes.get(7, || Ok(answer)).unwrap();
        assert_eq!(ask(None), None);
        assert_eq!(ask(Some(old)), Some(old));
        assert_eq!(ask(Some(new)), Some(old));
        hashes.change(|| {
            // Read while it changes: the old one may come, but it is not cached.
            assert_eq!(ask(Some(old)), Some(old));
        });
        assert_eq!(ask(Some(new)), Some(new));
        assert_eq!(ask(None), Some(new));
    }

    #[test]
    fn what_began_before_a_change_is_not_kept() {
        let hashes = MainHashes::default();
        let (old, new) = (B256::with_last_byte(1), B256::with_last_byte(2));
        let read = || {
            hashes.change(|| ());
            Ok(Some(old))
        };
        assert_eq!(hashes.get(7, read).unwrap(), Some(old));
        assert_eq!(hashes.get(7, || Ok(Some(new))).unwrap(), Some(new));
    }
}
