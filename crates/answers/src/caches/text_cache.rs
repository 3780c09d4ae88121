//! Finished texts of immutable objects: blocks, transactions and receipts by block hash.

use quick_cache::Weighter;
use quick_cache::sync::Cache;
use rhizome_chain::CacheStats;
use rhizome_primitives::{B256, U256};
use std::sync::Arc;

/// Assumed size of a text, in bytes: determines the capacity of the cache.
const TYPICAL_BYTES: usize = 2048;

/// Content of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum TextKind {
    /// The block with transaction hashes, and with a total difficulty, which can be corrected once.
    BlockWithHashes(U256),
    /// The block with transaction objects, and with a total difficulty.
    BlockWithObjects(U256),
    /// The transaction at an index.
    Transaction(usize),
    /// The receipt at an index.
    Receipt(usize),
    /// All receipts.
    Receipts,
}

type Key = (B256, TextKind);

/// A bounded store of finished texts.
pub(crate) struct TextCache(Cache<Key, Arc<[u8]>, TextWeight>);

#[derive(Clone)]
struct TextWeight;

impl Weighter<Key, Arc<[u8]>> for TextWeight {
    fn weight(&self, _key: &Key, text: &Arc<[u8]>) -> u64 {
        // The entry itself has 160 bytes.
        text.len() as u64 + 160
    }
}

impl TextCache {
    /// Creates a cache of approximately `bytes` of text.
    pub(crate) fn new(bytes: usize) -> Self {
        Self(Cache::with_weighter((bytes / TYPICAL_BYTES).max(1), bytes as u64, TextWeight))
    }

    /// Returns hits and misses since the start.
    pub(crate) fn reads(&self) -> CacheStats {
        CacheStats { hits: self.0.hits(), misses: self.0.misses() }
    }

    /// Returns the cached text, otherwise the text that `make` returns, which is cached. `None` is not cached: the object may
    /// be stored later.
    pub(crate) fn text<E>(
        &self,
        key: Key,
        make: impl FnOnce() -> Result<Option<Vec<u8>>, E>,
    ) -> Result<Option<Vec<u8>>, E> {
        if let Some(text) = self.0.get(&key) {
            return Ok(Some(text.to_vec()));
        }
        let made = make()?;
        if let Some(text) = &made {
            self.0.insert(key, Arc::from(text.as_slice()));
        }
        Ok(made)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    fn read(cache: &TextCache, hash: u8, made: &[u8]) -> Vec<u8> {
        let key = (B256::repeat_byte(hash), TextKind::Receipt(0));
        cache.text::<Infallible>(key, || Ok(Some(made.to_vec()))).unwrap().unwrap()
    }

    #[test]
    fn keeps_the_first_text() {
        let cache = TextCache::new(1 << 20);
        assert_eq!(read(&cache, 1, b"a"), b"a");
        assert_eq!(read(&cache, 1, b"b"), b"a");
        assert_eq!(read(&cache, 2, b"c"), b"c");
        assert_eq!(cache.reads(), CacheStats { hits: 1, misses: 2 });
    }

    #[test]
    fn does_not_cache_errors_and_absent_objects() {
        let cache = TextCache::new(1 << 20);
        let key = (B256::ZERO, TextKind::Receipts);
        assert_eq!(cache.text(key, || Err("no")), Err("no"));
        assert_eq!(cache.text::<&str>(key, || Ok(None)), Ok(None));
        assert_eq!(cache.text::<&str>(key, || Ok(Some(b"yes".to_vec()))), Ok(Some(b"yes".to_vec())));
    }
}
