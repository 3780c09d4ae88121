//! The hash of a node, which is computed once, by any of the threads that share the node.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use rhizome_primitives::B256;

/// A Keccak hash, perhaps not known yet. Threads that set it at the same time set equal hashes. A `OnceLock` does the same, but is set by
/// a call of some 20 ns, which a block with 818 new keys makes 10,000 times.
#[derive(Debug, Default)]
pub(crate) struct HashCell {
    words: [AtomicU32; 8],
    is_known: AtomicBool,
}

impl HashCell {
    pub(crate) fn known(hash: B256) -> Self {
        let cell = Self::default();
        cell.set(hash);
        cell
    }

    pub(crate) fn get(&self) -> Option<B256> {
        // Acquire and release: the words of a known hash are complete.
        if !self.is_known.load(Ordering::Acquire) {
            return None;
        }
        let mut hash = B256::ZERO;
        let (bytes, _) = hash.0.as_chunks_mut::<4>();
        bytes.iter_mut().zip(&self.words).for_each(|(bytes, word)| *bytes = word.load(Ordering::Relaxed).to_ne_bytes());
        Some(hash)
    }

    pub(crate) fn set(&self, hash: B256) {
        let (bytes, _) = hash.0.as_chunks::<4>();
        bytes
            .iter()
            .zip(&self.words)
            .for_each(|(bytes, word)| word.store(u32::from_ne_bytes(*bytes), Ordering::Relaxed));
        self.is_known.store(true, Ordering::Release);
    }
}

impl Clone for HashCell {
    fn clone(&self) -> Self {
        self.get().map_or_else(Self::default, Self::known)
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use rhizome_primitives::keccak256;

    use super::*;

    #[test]
    fn a_hash_is_unknown_until_it_is_set() {
        let (cell, hash) = (HashCell::default(), keccak256("node"));
        assert_eq!((cell.get(), cell.clone().get()), (None, None));
        cell.set(hash);
        assert_eq!((cell.get(), cell.clone().get(), HashCell::known(hash).get()), (Some(hash), Some(hash), Some(hash)));
    }

    #[test]
    fn readers_see_no_part_of_a_hash() {
        let hash = keccak256("node");
        for _ in 0..2_000 {
            let cell = HashCell::default();
            thread::scope(|scope| {
                scope.spawn(|| cell.set(hash));
                assert!(cell.get().is_none_or(|found| found == hash));
                cell.set(hash);
                assert_eq!(cell.get(), Some(hash));
            });
        }
    }
}
