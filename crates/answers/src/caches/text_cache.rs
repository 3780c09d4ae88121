//! Finished texts of things that never change: blocks, transactions and receipts under the hash of their block.

use quick_cache::Weighter;
use quick_cache::sync::Cache;
use rhizome_chain::CacheStats;
use rhizome_primitives::B256;
use std::sync::Arc;

/// What a text is assumed to take when the cache is laid out, in bytes.
const TYPICAL_BYTES: usize = 2048;

/// What a text shows of its block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum TextKind {
    /// The block with transaction hashes.
    BlockWithHashes,
    /// The block with transaction objects.
    BlockWithObjects,
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
        // The entry itself takes room, too.
        text.len() as u64 + 128
    }
}

impl TextCache {
    /// A cache that holds about `bytes` of text.
    pub(crate) fn new(bytes: usize) -> Self {
        Self(Cache::with_weighter((bytes / TYPICAL_BYTES).max(1), bytes as u64, TextWeight))
    }

    /// Look-ups since the start.
    pub(crate) fn reads(&self) -> CacheStats {
        CacheStats { hits: self.0.hits(), misses: self.0.misses() }
    }

    /// The stored text, or what `make` writes, which is stored. What is not there may come later: that is not stored.
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
    fn errors_and_absence_are_not_kept() {
        let cache = TextCache::new(1 << 20);
        let key = (B256::ZERO, TextKind::BlockWithHashes);
        assert_eq!(cache.text(key, || Err("no")), Err("no"));
        assert_eq!(cache.text::<&str>(key, || Ok(None)), Ok(None));
        assert_eq!(cache.text::<&str>(key, || Ok(Some(b"yes".to_vec()))), Ok(Some(b"yes".to_vec())));
    }
}
