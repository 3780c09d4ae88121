//! Cache of long values (code) and trie nodes by their hashes.

use std::sync::atomic::{AtomicU32, Ordering};

use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{DefaultHashBuilder, OptionsBuilder, Weighter};
use rhizome_primitives::B256;
use rhizome_trie::SourceNode;

use crate::store::CacheStats;

/// Size assumed for one entry when the cache is allocated: code has at most 24 KB, a node about 100 bytes.
const TYPICAL_ENTRY_BYTES: usize = 1024;
/// Memory of an entry besides its bytes, estimated.
const ENTRY_BYTES: u64 = 112;
/// Hashes whose last read is remembered.
const NOTED_READS: usize = 1 << 14;

/// Long values, and nodes from their second read on.
pub(crate) struct NodeCache {
    entries: Cache<B256, SourceNode, EntryWeight>,
    reads: NotedReads,
}

impl NodeCache {
    /// Creates a cache for a number of bytes. It keeps no keys of evicted entries: nodes of old states are hardly read again, and a call
    /// that reads 100 storage slots of one takes 4 % less time.
    pub(crate) fn new(bytes: usize) -> Self {
        let (items, bytes) = (bytes / TYPICAL_ENTRY_BYTES + 1, bytes as u64);
        let mut options = OptionsBuilder::new();
        options.estimated_items_capacity(items).weight_capacity(bytes).ghost_allocation(0.0);
        // Fails only without one of the two sizes.
        let entries = match options.build() {
            Ok(options) => {
                Cache::with_options(options, EntryWeight, DefaultHashBuilder::default(), DefaultLifecycle::default())
            }
            Err(_) => Cache::with_weighter(items, bytes, EntryWeight),
        };
        Self { entries, reads: NotedReads::default() }
    }

    pub(crate) fn get(&self, hash: &B256) -> Option<SourceNode> {
        self.entries.get(hash)
    }

    pub(crate) fn insert(&self, hash: B256, value: &SourceNode) {
        self.entries.insert(hash, value.clone());
    }

    /// Inserts a node that was read before: most nodes of old states are read once, and an insertion takes a fifth of the time of such a
    /// read.
    pub(crate) fn insert_read_again(&self, hash: B256, node: &SourceNode) {
        if self.reads.note(&hash) {
            self.insert(hash, node);
        }
    }

    pub(crate) fn clear(&self) {
        self.entries.clear();
    }

    /// Returns the size in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.entries.weight()
    }

    pub(crate) fn reads(&self) -> CacheStats {
        CacheStats { hits: self.entries.hits(), misses: self.entries.misses() }
    }
}

#[derive(Clone)]
struct EntryWeight;

impl Weighter<B256, SourceNode> for EntryWeight {
    fn weight(&self, _hash: &B256, value: &SourceNode) -> u64 {
        value.message.len() as u64 + ENTRY_BYTES
    }
}

/// Parts of the hashes of the last reads. A hash replaces an earlier hash at the same place.
struct NotedReads(Box<[AtomicU32]>);

impl Default for NotedReads {
    fn default() -> Self {
        Self((0..NOTED_READS).map(|_| AtomicU32::default()).collect())
    }
}

impl NotedReads {
    /// Notes a read. Returns true if the last one at its place was of the same hash.
    fn note(&self, hash: &B256) -> bool {
        let [a, b, c, d, e, f, g, h, ..] = hash.0;
        let (place, part) = (u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h]));
        self.0.get(place as usize % NOTED_READS).is_some_and(|noted| noted.swap(part, Ordering::Relaxed) == part)
    }
}

#[cfg(test)]
mod tests {
    use rhizome_primitives::{Bytes, keccak256};

    use super::*;

    #[test]
    fn nodes_are_cached_by_their_second_read() {
        let cache = NodeCache::new(1 << 20);
        let node = SourceNode::from(Bytes::from_static(b"node"));
        let hashes: Vec<B256> = (0..200_u8).map(|number| keccak256([number])).collect();
        for read in 1..=2 {
            hashes.iter().for_each(|hash| cache.insert_read_again(*hash, &node));
            let found = hashes.iter().filter(|hash| cache.get(hash).is_some()).count();
            // Few of them share a place.
            let expected = if read == 1 { 0..=0 } else { 195..=200 };
            assert!(expected.contains(&found), "{found} after {read}");
        }
    }

    #[test]
    fn values_are_cached_at_once() {
        let cache = NodeCache::new(1 << 20);
        let value = SourceNode::from(Bytes::from_static(b"value"));
        cache.insert(B256::ZERO, &value);
        assert_eq!(cache.get(&B256::ZERO), Some(value));
        assert_eq!((cache.bytes(), cache.reads()), (5 + ENTRY_BYTES, CacheStats { hits: 1, misses: 0 }));
        cache.clear();
        assert_eq!(cache.get(&B256::ZERO), None);
    }
}
