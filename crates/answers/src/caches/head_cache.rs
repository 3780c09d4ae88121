//! Recent reads of the head: most callers read a few accounts, contracts, blocks and transactions repeatedly.

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

/// Maximum number of values of each kind: a few megabytes.
const VALUES: usize = 8192;
/// Longer slots are not cached.
const MAX_SLOT_BYTES: usize = 128;
/// Bytes of cached state values, including code.
const VALUE_BYTES: u64 = 4 << 20;
/// Estimated bytes of an entry besides key and value.
const ENTRY_BYTES: usize = 64;

/// The cache of the current head. The first read of a new head replaces it.
#[derive(Default)]
pub(crate) struct LatestHeadCache(ArcSwapOption<HeadCache>);

impl LatestHeadCache {
    /// Returns the cache of a head.
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

/// Position of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TransactionPosition {
    /// Hash of its block.
    pub(crate) block: B256,
    /// Index in the block.
    pub(crate) index: usize,
}

/// A head, its state, and recent reads: accounts and slots by address, so that no trie key has to be computed.
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

    /// Returns the state after the head.
    pub(crate) fn state(&self) -> Arc<dyn StateReader> {
        Arc::clone(&self.state) as _
    }

    /// Returns the account at an address; an absent account is empty.
    pub(crate) fn account(&self, address: &Address) -> Result<AccountState, RpcError> {
        if let Some(account) = self.accounts.get(address) {
            return Ok(account);
        }
        let account = state::account(&*self.state.state, address)?;
        self.accounts.insert(*address, account);
        Ok(account)
    }

    /// Returns the stored bytes of a slot.
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

    /// Returns the position of a transaction on the best chain.
    pub(crate) fn transaction(&self, chain: &Chain, hash: &B256) -> Result<Option<TransactionPosition>, RpcError> {
        if let Some(position) = self.transactions.get(hash) {
            return Ok(Some(position));
        }
        let Some(mined) = chain.transaction(hash)? else { return Ok(None) };
        let position = TransactionPosition { block: mined.record.hash, index: mined.index };
        // The head may have changed: then the position belongs to a different head.
        if self.head.is_current() {
            self.transactions.insert(*hash, position);
        }
        Ok(Some(position))
    }
}

/// An immutable state and its recent reads.
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

    /// The first byte of a key is the length of its value; zero: no value. Counts reads.
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
    fn caches_values_and_absent_keys() {
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
    fn evicts_values_above_the_limit_in_bytes() {
        let state = CachedState::new(Arc::new(Counted::default()));
        for number in 0..50_000_u32 {
            state.get(&[&[250], &number.to_be_bytes()[..]].concat()).unwrap();
        }
        assert!((VALUE_BYTES / 2..=VALUE_BYTES).contains(&state.values.weight()));
    }
}
