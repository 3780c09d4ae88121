//! The transactions in the pool, pending and queued, by sender and nonce.

use super::transaction::PooledTransaction;
use rhizome_primitives::{Address, B256, U256};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// Pending and queued transactions. A nonce of a sender is in at most one of both, and pending nonces have no gap.
#[derive(Default)]
pub(super) struct PoolContent {
    by_hash: HashMap<B256, PoolPosition>,
    senders: HashMap<Address, SenderTransactions>,
    /// By price, then most recent first: the first is evicted first.
    pending_by_price: BTreeSet<PriceKey>,
    queued_by_price: BTreeSet<PriceKey>,
    by_arrival: BTreeMap<u64, B256>,
    bytes: usize,
    most_pending: usize,
}

type PriceKey = (U256, Reverse<u64>, B256);

/// Position of a transaction.
#[derive(Clone)]
struct PoolPosition {
    sender: Address,
    nonce: u64,
}

#[derive(Default)]
struct SenderTransactions {
    pending: BTreeMap<u64, Arc<PooledTransaction>>,
    queued: BTreeMap<u64, Arc<PooledTransaction>>,
}

/// Part of the pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SubPool {
    /// Can be mined now.
    Pending,
    /// Waits for a lower nonce.
    Queued,
}

impl PoolContent {
    pub(super) fn get(&self, hash: &B256) -> Option<(&Arc<PooledTransaction>, SubPool)> {
        let position = self.by_hash.get(hash)?;
        let account = self.senders.get(&position.sender)?;
        let pending = account.pending.get(&position.nonce).map(|entry| (entry, SubPool::Pending));
        pending.or_else(|| account.queued.get(&position.nonce).map(|entry| (entry, SubPool::Queued)))
    }

    pub(super) fn pending_at(&self, sender: &Address, nonce: u64) -> Option<&Arc<PooledTransaction>> {
        self.senders.get(sender)?.pending.get(&nonce)
    }

    /// Returns the pending transactions of a sender, by nonce.
    pub(super) fn pending_of(&self, sender: &Address) -> impl Iterator<Item = &Arc<PooledTransaction>> {
        self.senders.get(sender).into_iter().flat_map(|account| account.pending.values())
    }

    /// Returns the nonce after the last pending one.
    pub(super) fn nonce_after_pending(&self, sender: &Address) -> Option<u64> {
        let (last, _) = self.senders.get(sender)?.pending.last_key_value()?;
        Some(last.saturating_add(1))
    }

    /// Returns all transactions of a kind: senders in no order, nonces ascending.
    pub(super) fn all(&self, kind: SubPool) -> impl Iterator<Item = &Arc<PooledTransaction>> {
        self.senders.values().flat_map(move |account| account.of(kind).values())
    }

    /// Returns the pending transactions of each sender, nonces ascending.
    pub(super) fn pending_by_sender(&self) -> impl Iterator<Item = Vec<Arc<PooledTransaction>>> + '_ {
        let senders = self.senders.values().filter(|account| !account.pending.is_empty());
        senders.map(|account| account.pending.values().cloned().collect())
    }

    pub(super) fn count(&self, kind: SubPool) -> usize {
        self.prices(kind).len()
    }

    pub(super) fn len(&self) -> usize {
        self.by_hash.len()
    }

    /// Returns the sum of the sizes, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn contains_sender(&self, sender: &Address) -> bool {
        self.senders.contains_key(sender)
    }

    /// Inserts a transaction. Replaces one of the same sender and nonce.
    pub(super) fn insert(&mut self, entry: Arc<PooledTransaction>, kind: SubPool) {
        let (sender, nonce, hash) = (entry.sender, entry.nonce, entry.hash);
        self.remove_at(&sender, nonce);
        self.by_hash.insert(hash, PoolPosition { sender, nonce });
        self.by_arrival.insert(entry.sequence, hash);
        self.bytes += entry.size;
        self.prices_mut(kind).insert(price_key(&entry));
        let account = self.senders.entry(sender).or_default();
        account.of_mut(kind).insert(nonce, entry);
        self.most_pending = self.most_pending.max(self.pending_by_price.len());
    }

    /// Removes an included transaction. Its followers stay pending or queued.
    pub(super) fn take(&mut self, hash: &B256) -> Option<Arc<PooledTransaction>> {
        let position = self.by_hash.get(hash)?.clone();
        self.remove_at(&position.sender, position.nonce)
    }

    /// Evicts a transaction: pending followers wait for its nonce now. Returns false if it is unknown.
    pub(super) fn give_up(&mut self, hash: &B256) -> bool {
        let Some((entry, kind)) = self.get(hash) else { return false };
        let (sender, nonce) = (entry.sender, entry.nonce);
        let first_pending = self.pending_of(&sender).next().map_or(nonce, |first| first.nonce);
        self.remove_at(&sender, nonce);
        if kind == SubPool::Pending {
            self.rebalance(&sender, first_pending);
        }
        true
    }

    /// Returns the highest number of pending transactions so far.
    pub(super) fn most_pending(&self) -> usize {
        self.most_pending
    }

    fn remove_at(&mut self, sender: &Address, nonce: u64) -> Option<Arc<PooledTransaction>> {
        let account = self.senders.get_mut(sender)?;
        let pending = account.pending.remove(&nonce);
        let entry = pending.or_else(|| account.queued.remove(&nonce))?;
        if account.pending.is_empty() && account.queued.is_empty() {
            self.senders.remove(sender);
        }
        self.by_hash.remove(&entry.hash);
        self.by_arrival.remove(&entry.sequence);
        self.bytes -= entry.size;
        let key = price_key(&entry);
        self.pending_by_price.remove(&key);
        self.queued_by_price.remove(&key);
        Some(entry)
    }

    /// Removes the queued transaction of a nonce.
    pub(super) fn take_queued(&mut self, sender: &Address, nonce: u64) -> Option<Arc<PooledTransaction>> {
        if !self.senders.get(sender)?.queued.contains_key(&nonce) {
            return None;
        }
        self.remove_at(sender, nonce)
    }

    /// Drops nonces that the account has used and sorts the rest into pending (without a gap from `account_nonce` on) and queued.
    /// Returns the hashes of transactions that became pending.
    pub(super) fn rebalance(&mut self, sender: &Address, account_nonce: u64) -> Vec<B256> {
        let Some(account) = self.senders.get(sender) else { return Vec::new() };
        let mut entries: BTreeMap<u64, (Arc<PooledTransaction>, SubPool)> = BTreeMap::new();
        for kind in [SubPool::Pending, SubPool::Queued] {
            entries.extend(account.of(kind).iter().map(|(nonce, entry)| (*nonce, (Arc::clone(entry), kind))));
        }
        let mut promoted = Vec::new();
        let mut next = account_nonce;
        for (nonce, (entry, was)) in entries {
            self.remove_at(sender, nonce);
            if nonce < account_nonce {
                continue;
            }
            let is = if nonce == next { SubPool::Pending } else { SubPool::Queued };
            next = next.saturating_add(u64::from(is == SubPool::Pending));
            if (was, is) == (SubPool::Queued, SubPool::Pending) {
                promoted.push(entry.hash);
            }
            self.insert(entry, is);
        }
        promoted
    }

    /// Returns the transactions that arrived at `before_seconds` or earlier, or at a block below `below_block`.
    pub(super) fn outdated(&self, before_seconds: Option<u64>, below_block: u64) -> Vec<B256> {
        // Arrival order is time order and, except for reorganisations, block order.
        let oldest = self.by_arrival.values().filter_map(|hash| self.get(hash).map(|(entry, _)| entry));
        oldest
            .take_while(|entry| {
                before_seconds.is_some_and(|limit| entry.arrived_seconds <= limit) || entry.arrived_block < below_block
            })
            .map(|entry| entry.hash)
            .collect()
    }

    /// Returns the transaction to evict first: queued before pending, then the cheapest, then the most recent.
    pub(super) fn least_wanted(&self) -> Option<(&Arc<PooledTransaction>, SubPool)> {
        let (_, _, hash) = self.queued_by_price.first().or_else(|| self.pending_by_price.first())?;
        self.get(hash)
    }

    fn prices(&self, kind: SubPool) -> &BTreeSet<PriceKey> {
        match kind {
            SubPool::Pending => &self.pending_by_price,
            SubPool::Queued => &self.queued_by_price,
        }
    }

    fn prices_mut(&mut self, kind: SubPool) -> &mut BTreeSet<PriceKey> {
        match kind {
            SubPool::Pending => &mut self.pending_by_price,
            SubPool::Queued => &mut self.queued_by_price,
        }
    }

    pub(super) fn clear(&mut self) {
        *self = Self { most_pending: self.most_pending, ..Self::default() };
    }
}

impl SenderTransactions {
    fn of(&self, kind: SubPool) -> &BTreeMap<u64, Arc<PooledTransaction>> {
        match kind {
            SubPool::Pending => &self.pending,
            SubPool::Queued => &self.queued,
        }
    }

    fn of_mut(&mut self, kind: SubPool) -> &mut BTreeMap<u64, Arc<PooledTransaction>> {
        match kind {
            SubPool::Pending => &mut self.pending,
            SubPool::Queued => &mut self.queued,
        }
    }
}

fn price_key(entry: &PooledTransaction) -> PriceKey {
    (entry.transaction.gas_price(), Reverse(entry.sequence), entry.hash)
}
