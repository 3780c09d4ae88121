//! What was read of the head's state lately: most callers ask a few accounts and contracts again and again.

use arc_swap::ArcSwapOption;
use quick_cache::sync::Cache;
use rhizome_chain::Head;
use rhizome_primitives::{B256, Bytes};
use rhizome_trie::{StateError, StateReader};
use std::ops::ControlFlow;
use std::sync::Arc;

/// Values that are kept of a head: some megabytes at the most.
const VALUES: usize = 8192;
/// Longer values, such as code, are not kept: code that ran is kept where it was made ready to run.
const LONGEST_VALUE: usize = 128;

/// The reads of the latest head. Those of another head, or of another state that was put in its place by hand, take their
/// place with the first question.
#[derive(Default)]
pub(crate) struct HeadReads(ArcSwapOption<KeptState>);

impl HeadReads {
    /// The state after the head.
    pub(crate) fn state(&self, head: &Head) -> Arc<dyn StateReader> {
        let place = (head.record.hash, head.record.state_root);
        if let Some(kept) = &*self.0.load()
            && kept.place == place
        {
            return Arc::clone(kept) as _;
        }
        let fresh = Arc::new(KeptState::new(place, head.state()));
        self.0.store(Some(Arc::clone(&fresh)));
        fresh
    }
}

/// A state that never changes, and what was read of it.
struct KeptState {
    /// Block and root.
    place: (B256, B256),
    state: Arc<dyn StateReader>,
    values: Cache<Vec<u8>, Option<Bytes>>,
    lengths: Cache<Vec<u8>, Option<(usize, B256)>>,
}

impl KeptState {
    fn new(place: (B256, B256), state: Arc<dyn StateReader>) -> Self {
        Self { place, state, values: Cache::new(VALUES), lengths: Cache::new(VALUES) }
    }
}

impl StateReader for KeptState {
    fn get(&self, key: &[u8]) -> Result<Option<Bytes>, StateError> {
        if let Some(value) = self.values.get(key) {
            return Ok(value);
        }
        let value = self.state.get(key)?;
        if value.as_ref().is_none_or(|bytes| bytes.len() <= LONGEST_VALUE) {
            self.values.insert(key.to_vec(), value.clone());
        }
        Ok(value)
    }

    fn length_and_hash(&self, key: &[u8]) -> Result<Option<(usize, B256)>, StateError> {
        if let Some(found) = self.lengths.get(key) {
            return Ok(found);
        }
        let found = self.state.length_and_hash(key)?;
        self.lengths.insert(key.to_vec(), found);
        Ok(found)
    }

    fn visit_keys(&self, prefix: &[u8], visit: &mut dyn FnMut(&[u8]) -> ControlFlow<()>) -> Result<(), StateError> {
        self.state.visit_keys(prefix, visit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Every value has as many bytes as the first byte of its key says; zero: there is none.
    #[derive(Default)]
    struct Counted(AtomicUsize);

    impl StateReader for Counted {
        fn get(&self, key: &[u8]) -> Result<Option<Bytes>, StateError> {
            self.0.fetch_add(1, Ordering::Relaxed);
            let length = usize::from(key[0]);
            Ok((length > 0).then(|| vec![7; length].into()))
        }
    }

    #[test]
    fn short_values_and_absence_are_read_once() {
        let counted = Arc::new(Counted::default());
        let state = KeptState::new((B256::ZERO, B256::ZERO), Arc::clone(&counted) as _);
        let reads = |key: &[u8]| {
            let before = counted.0.load(Ordering::Relaxed);
            assert_eq!(state.get(key).unwrap(), counted.get(key).unwrap());
            assert_eq!(state.get(key).unwrap(), state.get(key).unwrap());
            counted.0.load(Ordering::Relaxed) - before - 1
        };
        assert_eq!((reads(&[0]), reads(&[32]), reads(&[200])), (1, 1, 3));
        let (length, _hash) = state.length_and_hash(&[200]).unwrap().unwrap();
        assert_eq!((length, state.length_and_hash(&[0]).unwrap()), (200, None));
        let before = counted.0.load(Ordering::Relaxed);
        assert!(state.length_and_hash(&[200]).unwrap().is_some() && state.length_and_hash(&[0]).unwrap().is_none());
        assert_eq!(counted.0.load(Ordering::Relaxed), before);
    }
}
