//! Executions of blocks for traces, cached for the traces of their other transactions.
//!
//! Explorers trace one transaction of a block after another, and each trace needs the preceding transactions.

use crate::error::RpcError;
use lru::LruCache;
use parking_lot::{Mutex, MutexGuard};
use rhizome_evm::{BlockReplay, Deadline, ReplayLog, ReplayedBlock};
use rhizome_primitives::B256;
use rhizome_trie::StateReader;
use std::sync::Arc;
use std::time::Duration;

/// Interval at which a request that waits for a shared execution checks its deadline.
const CHECK_INTERVAL: Duration = Duration::from_millis(5);

/// Bytes of an entry besides its log.
const ENTRY_BYTES: usize = 512;

/// The inputs of an execution that the block hash does not cover, and the block hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct ReplayKey {
    /// Hash of the block.
    pub(crate) block: B256,
    /// Root of the state after its parent, which methods can change on development networks.
    pub(crate) parent_state: B256,
}

/// Returns the state after the parent.
pub(crate) type Open<'o> = dyn Fn() -> Result<Arc<dyn StateReader>, RpcError> + 'o;

/// A bounded store of executed blocks.
pub(crate) struct ReplayCache {
    entries: Mutex<ReplayEntries>,
    /// Bytes.
    limit: usize,
}

struct ReplayEntries {
    /// Unbounded: the sum of bytes is the limit.
    logs: LruCache<ReplayKey, ReplayEntry>,
    bytes: usize,
}

struct ReplayEntry {
    log: Arc<SharedLog>,
    bytes: usize,
}

/// `None` before the first execution. Locked during the execution of a block: other requests for the block wait.
type SharedLog = Mutex<Option<ReplayLog>>;

impl ReplayCache {
    /// Creates a cache of approximately `limit` bytes.
    pub(crate) fn new(limit: usize) -> Self {
        let entries = Mutex::new(ReplayEntries { logs: LruCache::unbounded(), bytes: 0 });
        Self { entries, limit }
    }

    /// Returns a replay positioned before the transaction at `index` of a block. Executes preceding transactions that are not
    /// in the cache.
    pub(crate) fn branch<'e>(
        &self,
        key: ReplayKey,
        replayed: ReplayedBlock<'e>,
        index: usize,
        open: &Open<'_>,
        deadline: &Deadline,
    ) -> Result<BlockReplay<'e>, RpcError> {
        let reader = open()?;
        let shared = self.entry(key);
        let mut held = wait(&shared, deadline)?;
        // The log is taken out during the execution: it is lost after a panic.
        let (mut log, is_new) = match held.take() {
            Some(log) => (log, false),
            None => (ReplayLog::new(replayed, open()?)?, true),
        };
        let grows = log.reached() < index;
        let result = match grows {
            true => log.advance_to(index, replayed, Arc::clone(&reader), deadline),
            false => Ok(()),
        };
        let result = result.and_then(|()| log.branch(index, replayed, reader, deadline));
        if is_new || grows {
            self.weigh(&key, &shared, ENTRY_BYTES + log.memory_size());
        }
        *held = Some(log);
        result.map_err(RpcError::from)
    }

    fn entry(&self, key: ReplayKey) -> Arc<SharedLog> {
        let mut entries = self.entries.lock();
        if let Some(entry) = entries.logs.get(&key) {
            return Arc::clone(&entry.log);
        }
        let log = Arc::<SharedLog>::default();
        entries.logs.put(key, ReplayEntry { log: Arc::clone(&log), bytes: ENTRY_BYTES });
        entries.bytes += ENTRY_BYTES;
        entries.shrink_to(self.limit);
        log
    }

    /// Updates the size of a log. Does nothing if the log was evicted.
    fn weigh(&self, key: &ReplayKey, log: &Arc<SharedLog>, bytes: usize) {
        let mut entries = self.entries.lock();
        let ReplayEntries { logs, bytes: sum } = &mut *entries;
        if let Some(entry) = logs.peek_mut(key).filter(|entry| Arc::ptr_eq(&entry.log, log)) {
            *sum = sum.saturating_sub(entry.bytes).saturating_add(bytes);
            entry.bytes = bytes;
        }
        entries.shrink_to(self.limit);
    }
}

impl ReplayEntries {
    /// Evicts the least recently used logs.
    fn shrink_to(&mut self, limit: usize) {
        while self.bytes > limit
            && let Some((_, dropped)) = self.logs.pop_lru()
        {
            self.bytes = self.bytes.saturating_sub(dropped.bytes);
        }
    }
}

fn wait<'s>(shared: &'s SharedLog, deadline: &Deadline) -> Result<MutexGuard<'s, Option<ReplayLog>>, RpcError> {
    loop {
        if let Some(held) = shared.try_lock_for(CHECK_INTERVAL) {
            return Ok(held);
        }
        if deadline.has_passed() {
            return Err(RpcError::timed_out());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rhizome_evm::tracing::Inspection;
    use rhizome_evm::{AncestorBlock, Ancestry, AncestryError, State};
    use rhizome_primitives::{
        Address, Block, Bytes, ChainSpec, Header, I256, Transaction, U256, UnsignedTransaction, hex, keccak256,
    };
    use rhizome_trie::{MemoryNodes, StateError, Trie};
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    /// Adds one to slot 0 and returns the sum.
    const COUNT: [u8; 19] = hex!("6001600054018060005560005260206000f300");
    const COUNTER: Address = Address::repeat_byte(1);

    struct Alone;

    impl Ancestry for Alone {
        fn ancestor(&self, _number: u64) -> Result<Option<Arc<AncestorBlock>>, AncestryError> {
            Ok(None)
        }
    }

    /// A slow state that counts reads.
    struct Counted(Trie, Arc<AtomicUsize>);

    impl StateReader for Counted {
        fn get(&self, key: &[u8]) -> Result<Option<Bytes>, StateError> {
            self.1.fetch_add(1, Ordering::Relaxed);
            thread::sleep(Duration::from_micros(200));
            Ok(self.0.get(key)?)
        }
    }

    /// A block with calls of the counter contract, and a state with a value of the counter.
    struct World {
        spec: ChainSpec,
        block: Block,
        senders: Vec<Address>,
        state: Trie,
        reads: Arc<AtomicUsize>,
        key: ReplayKey,
    }

    impl World {
        fn new(count: u64) -> Self {
            let spec = ChainSpec::regtest();
            let call = |nonce: u64| {
                let unsigned = UnsignedTransaction {
                    nonce: U256::from(nonce),
                    gas_price: U256::ONE,
                    gas_limit: 100_000,
                    to: Some(COUNTER),
                    value: U256::ZERO,
                    data: Bytes::new(),
                };
                Transaction::sign(unsigned, spec.chain_id, &keccak256("cow")).unwrap()
            };
            let transactions: Vec<Transaction> = (0..8).map(call).collect();
            let sender = transactions[0].recover_sender().unwrap();
            let mut header = Header::new(1, &spec);
            header.gas_limit = hex!("989680").to_vec().into();
            let mut trie = Trie::empty(Arc::new(MemoryNodes::default()));
            let mut state = State::new(Arc::new(trie.clone()));
            state.add_balance(sender, I256::try_from(1_000_000_000_u64).unwrap()).unwrap();
            state.setup_contract(COUNTER).unwrap();
            state.save_code(COUNTER, Bytes::copy_from_slice(&COUNT)).unwrap();
            state.set_storage_word(COUNTER, U256::ZERO, U256::from(count)).unwrap();
            trie.apply(&state.into_delta()).unwrap();
            let key = ReplayKey { block: B256::ZERO, parent_state: trie.root_hash() };
            let senders = vec![sender; transactions.len()];
            let block = Block { header, transactions, uncles: Vec::new() };
            Self { spec, block, senders, state: trie, reads: Arc::default(), key }
        }

        /// Returns the key of the block under a different hash.
        fn numbered(&self, number: u8) -> ReplayKey {
            ReplayKey { block: B256::repeat_byte(number), ..self.key }
        }

        /// Returns the output of the transaction at an index.
        fn ask(
            &self,
            cache: &ReplayCache,
            key: ReplayKey,
            index: usize,
            deadline: &Deadline,
        ) -> Result<U256, RpcError> {
            let (spec, block, senders) = (&self.spec, &self.block, self.senders.as_slice());
            let replayed = ReplayedBlock { spec, block, senders, ancestry: &Alone };
            let open = || Ok(Arc::new(Counted(self.state.clone(), Arc::clone(&self.reads))) as _);
            let mut replay = cache.branch(key, replayed, index, &open, deadline)?;
            let inspected = replay.step(Inspection::default()).unwrap().unwrap();
            Ok(U256::from_be_slice(&inspected.outcome.output))
        }

        fn count(&self, cache: &ReplayCache, index: usize) -> u64 {
            self.ask(cache, self.key, index, &Deadline::none()).unwrap().to()
        }

        fn reads(&self) -> usize {
            self.reads.load(Ordering::Relaxed)
        }
    }

    #[test]
    fn executes_transactions_once_for_all_requests() {
        let (world, cache) = (World::new(10), ReplayCache::new(1 << 20));
        assert_eq!(world.count(&cache, 5), 16);
        let reads = world.reads();
        for index in [5, 0, 3, 4, 1] {
            assert_eq!(world.count(&cache, index), 11 + index as u64);
        }
        assert_eq!(world.reads(), reads);
        assert_eq!(world.count(&cache, 7), 18);
    }

    #[test]
    fn concurrent_requests_share_an_execution() {
        let (alone, shared) = (World::new(10), World::new(10));
        alone.count(&ReplayCache::new(1 << 20), 6);
        let cache = ReplayCache::new(1 << 20);
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| assert_eq!(shared.count(&cache, 6), 17));
            }
        });
        assert_eq!(shared.reads(), alone.reads());
    }

    #[test]
    fn waiting_ends_at_the_deadline() {
        let (world, cache) = (World::new(10), ReplayCache::new(1 << 20));
        let shared = cache.entry(world.key);
        let held = shared.lock();
        let refused = world.ask(&cache, world.key, 2, &Deadline::at(std::time::Instant::now())).unwrap_err();
        assert_eq!(refused.code, RpcError::timed_out().code);
        drop(held);
        assert_eq!(world.count(&cache, 2), 13);
    }

    #[test]
    fn a_different_parent_state_is_a_different_entry() {
        let cache = ReplayCache::new(1 << 20);
        let (one, other) = (World::new(10), World::new(50));
        assert_eq!((one.count(&cache, 3), other.count(&cache, 3), one.count(&cache, 2)), (14, 54, 13));
    }

    #[test]
    fn stays_within_the_limit() {
        let world = World::new(10);
        let ask = |cache: &ReplayCache, number: u8, index| {
            let found = world.ask(cache, world.numbered(number), index, &Deadline::none()).unwrap();
            assert_eq!(found, U256::from(11 + index));
        };
        let one = ReplayCache::new(1 << 20);
        assert_eq!(one.entries.lock().bytes, 0);
        ask(&one, 0, 7);
        let needed = one.entries.lock().bytes;
        let cache = ReplayCache::new(needed * 3);
        for number in 0..20 {
            ask(&cache, number, 7);
            ask(&cache, number / 2, 3);
            let entries = cache.entries.lock();
            let sum: usize = entries.logs.iter().map(|(_, entry)| entry.bytes).sum();
            assert!(sum == entries.bytes && sum <= needed * 3, "{sum} bytes, {} known", entries.bytes);
        }
        let entries = cache.entries.lock();
        assert!(entries.logs.len() >= 2 && entries.logs.contains(&world.numbered(19)));
        // Without room the results are the same and nothing is cached.
        for limit in [0, needed / 2] {
            let small = ReplayCache::new(limit);
            [7, 2, 7].into_iter().for_each(|index| ask(&small, 1, index));
            assert!(small.entries.lock().bytes <= limit);
        }
    }
}
