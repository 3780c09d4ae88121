//! Remembers the calls that were recently too slow for an inline call.

use crate::call_object::CallObject;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

const ENTRIES: usize = 1024;
/// Calls of a slow function that go to the pool before one is tried inline again. Fits into the low bits of an entry.
const SKIPPED: u64 = 31;

/// A lossy table: functions with the same entry evict each other. An entry holds the upper bits of the hash of contract and
/// function selector, and in its lower bits the number of calls that are still to be skipped.
pub(crate) struct SlowCallFilter {
    entries: [AtomicU64; ENTRIES],
    hasher: RandomState,
}

impl Default for SlowCallFilter {
    fn default() -> Self {
        Self { entries: [const { AtomicU64::new(0) }; ENTRIES], hasher: RandomState::new() }
    }
}

impl SlowCallFilter {
    /// Returns whether the function of a call was too slow, and counts the call.
    pub(crate) fn skips(&self, call: &CallObject) -> bool {
        let (entry, hash) = self.entry(call);
        let held = entry.load(Ordering::Relaxed);
        let is_skipped = held & !SKIPPED == hash && held & SKIPPED > 0;
        if is_skipped {
            // Two threads may count one call: the exact time of the next attempt does not matter.
            entry.store(held - 1, Ordering::Relaxed);
        }
        is_skipped
    }

    /// Remembers a call that was too slow.
    pub(crate) fn note(&self, call: &CallObject) {
        let (entry, hash) = self.entry(call);
        entry.store(hash | SKIPPED, Ordering::Relaxed);
    }

    fn entry(&self, call: &CallObject) -> (&AtomicU64, u64) {
        let selector = call.data.get(..4).unwrap_or(&call.data);
        let hash = self.hasher.hash_one((call.to, selector)) & !SKIPPED;
        // The product of the length and a fraction is below the length.
        let index = ((hash >> 32) as usize * ENTRIES) >> 32;
        (&self.entries[index], hash)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rhizome_primitives::Address;

    fn call(to: u8, data: &[u8]) -> CallObject {
        CallObject { to: Some(Address::repeat_byte(to)), data: data.to_vec().into(), ..CallObject::default() }
    }

    #[test]
    fn skips_calls_of_the_same_function() {
        let calls = SlowCallFilter::default();
        assert!(!calls.skips(&call(1, &[1, 2, 3, 4])));
        calls.note(&call(1, &[1, 2, 3, 4, 5]));
        assert!(!calls.skips(&call(1, &[1, 2, 3, 5])) && !calls.skips(&call(2, &[1, 2, 3, 4])));
        for _ in 0..SKIPPED {
            assert!(calls.skips(&call(1, &[1, 2, 3, 4])));
        }
        assert!(!calls.skips(&call(1, &[1, 2, 3, 4])));
    }

    #[test]
    fn short_data_and_creations_have_an_entry() {
        for (noted, other) in [(CallObject::default(), call(1, &[])), (call(1, &[1]), call(1, &[]))] {
            let calls = SlowCallFilter::default();
            calls.note(&noted);
            assert!(calls.skips(&noted) && !calls.skips(&other));
        }
    }
}
