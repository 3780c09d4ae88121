//! Which calls were too long to be brief, lately.

use crate::call_object::CallObject;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

const PLACES: usize = 1024;
/// So many calls of the same function go elsewhere before one is tried again. Fits into the low bits of a place.
const SKIPPED: u64 = 31;

/// A table that forgets: functions with the same place drive each other out. A place holds the upper bits of the hash of
/// contract and selector, and in the lower ones how many calls are still to be skipped.
pub(crate) struct LongCalls {
    places: [AtomicU64; PLACES],
    hasher: RandomState,
}

impl Default for LongCalls {
    fn default() -> Self {
        Self { places: [const { AtomicU64::new(0) }; PLACES], hasher: RandomState::new() }
    }
}

impl LongCalls {
    /// Whether a call like this one was too long and another attempt is not worth while yet.
    pub(crate) fn skips(&self, call: &CallObject) -> bool {
        let (place, hash) = self.place(call);
        let held = place.load(Ordering::Relaxed);
        let is_skipped = held & !SKIPPED == hash && held & SKIPPED > 0;
        if is_skipped {
            // Two threads may count one call: it does not matter when the next attempt comes.
            place.store(held - 1, Ordering::Relaxed);
        }
        is_skipped
    }

    /// Remembers a call that was too long.
    pub(crate) fn note(&self, call: &CallObject) {
        let (place, hash) = self.place(call);
        place.store(hash | SKIPPED, Ordering::Relaxed);
    }

    fn place(&self, call: &CallObject) -> (&AtomicU64, u64) {
        let selector = call.data.get(..4).unwrap_or(&call.data);
        let hash = self.hasher.hash_one((call.to, selector)) & !SKIPPED;
        // The product of the length and a fraction is below the length.
        let place = ((hash >> 32) as usize * PLACES) >> 32;
        (&self.places[place], hash)
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
    fn skips_the_same_function_for_a_while() {
        let calls = LongCalls::default();
        assert!(!calls.skips(&call(1, &[1, 2, 3, 4])));
        calls.note(&call(1, &[1, 2, 3, 4, 5]));
        assert!(!calls.skips(&call(1, &[1, 2, 3, 5])) && !calls.skips(&call(2, &[1, 2, 3, 4])));
        for _ in 0..SKIPPED {
            assert!(calls.skips(&call(1, &[1, 2, 3, 4])));
        }
        assert!(!calls.skips(&call(1, &[1, 2, 3, 4])));
    }

    #[test]
    fn short_data_and_creations_have_a_place_too() {
        for (noted, other) in [(CallObject::default(), call(1, &[])), (call(1, &[1]), call(1, &[]))] {
            let calls = LongCalls::default();
            calls.note(&noted);
            assert!(calls.skips(&noted) && !calls.skips(&other));
        }
    }
}
