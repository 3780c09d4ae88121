//! Cache of the block hashes of the best chain by height.

use std::sync::atomic::{AtomicU64, Ordering};

use quick_cache::sync::Cache;
use rhizome_primitives::B256;

use crate::StorageError;

/// Number of cached heights: about a megabyte.
const HEIGHTS: usize = 8192;

/// Block hashes by height, each with the number of the branch that it was read from.
///
/// Entries stay valid as long as no block leaves the best chain. A reorganisation increments the branch number before
/// and after its write, which invalidates all entries, also those read during the write.
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
    /// Returns the cached hash at a height, or the result of `read`. The absence of a block is not cached.
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

    /// Returns the branch number. It is odd while blocks leave the best chain.
    pub(crate) fn branch(&self) -> u64 {
        self.branch.load(Ordering::SeqCst)
    }

    /// Performs a write that removes blocks from the best chain.
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
    fn a_hash_is_cached_until_the_branch_changes() {
        let hashes = MainHashes::default();
        let (old, new) = (B256::with_last_byte(1), B256::with_last_byte(2));
        let ask = |answer: Option<B256>| hashes.get(7, || Ok(answer)).unwrap();
        assert_eq!(ask(None), None);
        assert_eq!(ask(Some(old)), Some(old));
        assert_eq!(ask(Some(new)), Some(old));
        hashes.change(|| {
            // During the change the old hash may be returned, but it is not cached.
            assert_eq!(ask(Some(old)), Some(old));
        });
        assert_eq!(ask(Some(new)), Some(new));
        assert_eq!(ask(None), Some(new));
    }

    #[test]
    fn a_read_that_began_before_a_change_is_not_cached() {
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
