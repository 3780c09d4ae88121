use rhizome_primitives::B256;
use std::collections::{HashSet, VecDeque};

/// The hashes that were added last.
pub(super) struct RecentHashes {
    hashes: HashSet<B256>,
    order: VecDeque<B256>,
    capacity: usize,
}

impl RecentHashes {
    pub(super) fn new(capacity: usize) -> RecentHashes {
        RecentHashes { hashes: HashSet::new(), order: VecDeque::new(), capacity }
    }

    /// Adds a hash. Returns false if it is there already.
    pub(super) fn insert(&mut self, hash: B256) -> bool {
        let is_new = self.hashes.insert(hash);
        if is_new {
            self.order.push_back(hash);
            if self.order.len() > self.capacity
                && let Some(oldest) = self.order.pop_front()
            {
                self.hashes.remove(&oldest);
            }
        }
        is_new
    }

    pub(super) fn contains(&self, hash: &B256) -> bool {
        self.hashes.contains(hash)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_hash_is_forgotten() {
        let mut recent = RecentHashes::new(2);
        let hash = B256::repeat_byte;
        assert!(recent.insert(hash(1)) && recent.insert(hash(2)) && !recent.insert(hash(1)));
        assert!(recent.insert(hash(3)));
        assert!(!recent.contains(&hash(1)) && recent.contains(&hash(2)) && recent.contains(&hash(3)));
    }
}
