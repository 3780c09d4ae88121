//! What was read of the head lately: most callers ask a few accounts, contracts, blocks and transactions again and again.

use crate::error::RpcError;
use crate::state;
use arc_swap::ArcSwapOption;
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use rhizome_chain::{Chain, Head};
use rhizome_primitives::{Address, B256, Bytes, U256};
use rhizome_trie::account::AccountState;
use rhizome_trie::{StateError, StateReader};
use std::ops::ControlFlow;
use std::sync::Arc;

/// Values of each kind that are kept of a head: some megabytes at the most.
const VALUES: usize = 8192;
/// Longer cells are not kept.
const MAX_SLOT_BYTES: usize = 128;
/// Bytes of values that are kept by their keys, code among them.
const VALUE_BYTES: u64 = 4 << 20;
/// What an entry takes beside its key and its value, about.
const ENTRY_BYTES: usize = 64;

/// What is kept of the latest head. That of another head takes its place with the first question.
#[derive(Default)]
pub(crate) struct LatestHeadCache(ArcSwapOption<HeadCache>);

impl LatestHeadCache {
    /// What is kept of this head.
    pub(crate) fn of(&self, head: &Arc<Head>) -> Arc<HeadCache> {
        if let Some(kept) = &*self.0.load()
            && Arc::ptr_eq(&kept.head, head)
        {
            return Arc::clone(kept);
        }
        let fresh = Arc::new(HeadCache::new(Arc::clone(head)));
        self.0.store(Some(Arc::clone(&fresh)));
        fresh
    }
}

/// Where a transaction lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TransactionPosition {
    /// Hash of its block.
    pub(crate) block: B256,
    /// Its position there.
    pub(crate) index: usize,
}

/// A head, its state, and what was read of them: accounts and cells by their names, so that no key has to be made.
pub(crate) struct HeadCache {
    head: Arc<Head>,
    state: Arc<CachedState>,
    accounts: Cache<Address, AccountState>,
    slots: Cache<(Address, U256), Bytes>,
    transactions: Cache<B256, TransactionPosition>,
}

impl HeadCache {
    fn new(head: Arc<Head>) -> Self {
        Self {
            state: Arc::new(CachedState::new(head.state())),
            head,
            accounts: Cache::new(VALUES),
            slots: Cache::new(VALUES),
            transactions: Cache::new(VALUES),
        }
    }

    /// The state after the head.
    pub(crate) fn state(&self) -> Arc<dyn StateReader> {
        Arc::clone(&self.state) as _
    }

    /// The account at an address; an unknown one is empty.
    pub(crate) fn account(&self, address: &Address) -> Result<AccountState, RpcError> {
        if let Some(account) = self.accounts.get(address) {
            return Ok(account);
        }
        let account = state::account(&*self.state.state, address)?;
        self.accounts.insert(*address, account);
        Ok(account)
    }

    /// The stored bytes of a cell.
    pub(crate) fn slot(&self, address: &Address, position: &U256) -> Result<Bytes, RpcError> {
        let name = (*address, *position);
        if let Some(slot) = self.slots.get(&name) {
            return Ok(slot);
        }
        let slot = state::slot(&*self.state.state, address, position)?;
        if slot.len() <= MAX_SLOT_BYTES {
            self.slots.insert(name, slot.clone());
        }
        Ok(slot)
    }

    /// Where a transaction lies on the best chain.
    pub(crate) fn transaction(&self, chain: &Chain, hash: &B256) -> Result<Option<TransactionPosition>, RpcError> {
        if let Some(place) = self.transactions.get(hash) {
            return Ok(Some(place));
        }
        let Some(mined) = chain.transaction(hash)? else { return Ok(None) };
        let place = TransactionPosition { block: mined.record.hash, index: mined.index };
        // Another head may have come meanwhile: then this is not of ours.
        if self.head.is_current() {
            self.transactions.insert(*hash, place);
        }
        Ok(Some(place))
    }
}

/// A state that never changes, and what was read of it.
struct CachedState {
    state: Arc<dyn StateReader>,
    values: Cache<Vec<u8>, Option<Bytes>, ValueWeight>,
    lengths: Cache<Vec<u8>, Option<(usize, B256)>>,
}

impl CachedState {
    fn new(state: Arc<dyn StateReader>) -> Self {
        let values = Cache::with_weighter(VALUES, VALUE_BYTES, ValueWeight);
        Self { state, values, lengths: Cache::new(VALUES) }
    }
}

#[derive(Clone)]
struct ValueWeight;

impl Weighter<Vec<u8>, Option<Bytes>> for ValueWeight {
    fn weight(&self, key: &Vec<u8>, value: &Option<Bytes>) -> u64 {
        (key.len() + value.as_ref().map_or(0, |bytes| bytes.len()) + ENTRY_BYTES) as u64
    }
}

impl StateReader for CachedState {
    fn get(&self, key: &[u8]) -> Result<Option<Bytes>, StateError> {
        if let Some(value) = self.values.get(key) {
            return Ok(value);
        }
        let value = self.state.get(key)?;
        self.values.insert(key.to_vec(), value.clone());
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
    fn values_and_absence_are_read_once() {
        let counted = Arc::new(Counted::default());
        let state = CachedState::new(Arc::clone(&counted) as _);
        let reads = |key: &[u8]| {
            let before = counted.0.load(Ordering::Relaxed);
            assert_eq!(state.get(key).unwrap(), counted.get(key).unwrap());
            assert_eq!(state.get(key).unwrap(), state.get(key).unwrap());
            counted.0.load(Ordering::Relaxed) - before - 1
        };
        assert_eq!((reads(&[0]), reads(&[32]), reads(&[200])), (1, 1, 1));
        let (length, _hash) = state.length_and_hash(&[200]).unwrap().unwrap();
        assert_eq!((length, state.length_and_hash(&[0]).unwrap()), (200, None));
        let before = counted.0.load(Ordering::Relaxed);
        assert!(state.length_and_hash(&[200]).unwrap().is_some() && state.length_and_hash(&[0]).unwrap().is_none());
        assert_eq!(counted.0.load(Ordering::Relaxed), before);
    }

    #[test]
    fn no_more_bytes_are_kept_than_there_is_room_for() {
        let state = CachedState::new(Arc::new(Counted::default()));
        for number in 0..50_000_u32 {
            state.get(&[&[250], &number.to_be_bytes()[..]].concat()).unwrap();
        }
        assert!((VALUE_BYTES / 2..=VALUE_BYTES).contains(&state.values.weight()));
    }
}
