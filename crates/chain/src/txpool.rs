//! The transaction pool: transactions that wait for a block.
//!
//! Pending ones can be mined now: their nonces follow the account's without a gap. Queued ones wait for a lower nonce. The pool
//! checks transactions against the last best block that it received. It reads accounts outside its lock.

mod admission;
mod content;
mod fee_market;
pub(crate) mod options;
mod order;
mod placement;
mod quota;
mod rejection;
#[cfg(test)]
mod tests;
mod transaction;

pub use admission::{ACCOUNT_SLOTS, MAX_SIZE};
pub use content::SubPool;
pub use options::PoolOptions;
pub use order::ByPrice;
pub use quota::Quota;
pub use rejection::PoolRejection;
pub use transaction::{AdmittedTransaction, PooledTransaction, TransactionGas};

use crate::archive::record::BlockRecord;
use crate::config::Clock;
use crate::mining::block_builder::targets::next_gas_limit;
use admission::SenderAccount;
use content::PoolContent;
use fee_market::FeeMarket;
use parking_lot::Mutex;
use quota::Quotas;
use rhizome_primitives::{Address, B256, ChainSpec, Transaction, U256, largest_transaction_gas};
use rhizome_trie::{StateError, StateReader};
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The best block and its state, for the pool.
#[derive(Clone)]
pub struct PoolHead {
    /// The block.
    pub record: Arc<BlockRecord>,
    /// The state after it.
    pub state: Arc<dyn StateReader>,
}

/// The pool. Shared by all threads. Every method holds its lock for a short time only.
pub struct TransactionPool {
    spec: Arc<ChainSpec>,
    options: PoolOptions,
    clock: Clock,
    /// Gas limit toward which the next block moves. `None`: the pool compares with the best block only.
    next_block_target: Option<AtomicU64>,
    /// Locked from the choice of a nonce to the admission of its transaction. Locked before `inner`.
    next_nonces: Mutex<()>,
    inner: Mutex<PoolState>,
    version: AtomicU64,
}

struct PoolState {
    head: PoolHead,
    /// Number of changes of the head.
    head_count: u64,
    content: PoolContent,
    quotas: Quotas,
    market: FeeMarket,
    next_sequence: u64,
}

/// An account at one moment of the pool. Read outside the lock.
struct AccountSnapshot {
    head: PoolHead,
    head_count: u64,
    account: SenderAccount,
    next_nonce: u64,
}

/// A transaction that was checked against a head, outside the lock.
struct PoolCandidate {
    transaction: Transaction,
    sender: Address,
    account: SenderAccount,
    is_to_contract: bool,
}

impl TransactionPool {
    /// Creates an empty pool on a best block. `recent` are the last blocks up to it, at most 50, oldest first, for the fee market.
    /// Blocks of this node move toward `target_gas_limit`.
    pub fn new(
        spec: Arc<ChainSpec>,
        options: PoolOptions,
        clock: Clock,
        head: PoolHead,
        recent: &[Arc<BlockRecord>],
        target_gas_limit: u64,
    ) -> Self {
        let mut market = FeeMarket::default();
        recent.iter().for_each(|record| market.add(record));
        let inner = PoolState {
            head,
            head_count: 0,
            content: PoolContent::default(),
            quotas: Quotas::new(),
            market,
            next_sequence: 0,
        };
        let (next_nonces, inner) = (Mutex::new(()), Mutex::new(inner));
        // On other networks another node usually makes the next block.
        let next_block_target =
            (options.fits_next_block && spec.is_development()).then_some(AtomicU64::new(target_gas_limit));
        Self { spec, options, clock, next_block_target, next_nonces, inner, version: AtomicU64::new(0) }
    }

    /// Returns a number that changes with every change of the content.
    pub fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    /// Admits a transaction. Fails with the rule that it breaks. Queued successors that can be mined now become pending.
    pub fn add(&self, transaction: Transaction) -> Result<AdmittedTransaction, PoolRejection> {
        self.refuse_known(&transaction.hash())?;
        let sender = transaction.recover_sender()?;
        if !transaction.accepts_signature(self.spec.chain_id) {
            return Err(PoolRejection::SignatureNotAccepted);
        }
        loop {
            let snapshot = self.read_account(&sender)?;
            let candidate = self.check(transaction.clone(), sender, &snapshot)?;
            let mut inner = self.inner.lock();
            // The account may have changed with the head.
            if inner.head_count == snapshot.head_count {
                return self.admit(&mut inner, candidate);
            }
        }
    }

    /// Admits the transaction that `sign` makes of the next nonce of an account. Concurrent calls use different nonces. `sign` is
    /// called again if a block or another transaction of the account used the nonce meanwhile.
    pub fn add_next<E: From<PoolRejection>>(
        &self,
        sender: &Address,
        mut sign: impl FnMut(u64) -> Result<Transaction, E>,
    ) -> Result<AdmittedTransaction, E> {
        let _guard = self.next_nonces.lock();
        loop {
            let snapshot = self.read_account(sender).map_err(PoolRejection::from)?;
            let candidate = self.check(sign(snapshot.next_nonce)?, *sender, &snapshot)?;
            let mut inner = self.inner.lock();
            self.drop_outdated(&mut inner);
            if inner.head_count == snapshot.head_count
                && inner.next_nonce(sender, &snapshot.account) == snapshot.next_nonce
            {
                return Ok(self.admit(&mut inner, candidate)?);
            }
        }
    }

    /// Reads the account of a sender at the pool's head, and its next nonce at the same moment.
    fn read_account(&self, sender: &Address) -> Result<AccountSnapshot, StateError> {
        loop {
            let (head, head_count) = {
                let inner = self.inner.lock();
                (inner.head.clone(), inner.head_count)
            };
            let account = SenderAccount::read(head.state.as_ref(), sender)?;
            let mut inner = self.inner.lock();
            self.drop_outdated(&mut inner);
            if inner.head_count == head_count {
                let next_nonce = inner.next_nonce(sender, &account);
                return Ok(AccountSnapshot { head, head_count, account, next_nonce });
            }
        }
    }

    /// Checks all rules that do not depend on other transactions of the pool.
    fn check(
        &self,
        transaction: Transaction,
        sender: Address,
        snapshot: &AccountSnapshot,
    ) -> Result<PoolCandidate, PoolRejection> {
        let AccountSnapshot { head, account, .. } = snapshot;
        let is_to_contract = match transaction.to() {
            Some(receiver) if self.options.has_rate_limiter => admission::is_contract(head.state.as_ref(), &receiver)?,
            _ => true,
        };
        let gas = self.transaction_gas(&head.record);
        admission::check(&transaction, &sender, account, &head.record.block.header, gas, &self.spec)?;
        Ok(PoolCandidate { transaction, sender, account: *account, is_to_contract })
    }

    /// Returns the maximum gas of a transaction on top of a block: the limit of the reference and, if this node knows the gas limit
    /// of the next block, at most that.
    pub fn transaction_gas(&self, head: &BlockRecord) -> TransactionGas {
        let (best, limit) = (head.number(), head.block.header.gas_limit_value());
        let of_best = TransactionGas { limit: largest_transaction_gas(&self.spec, best, limit), block_limit: limit };
        let Some(target) = &self.next_block_target else { return of_best };
        let next_limit = next_gas_limit(limit, target.load(Ordering::Acquire), &self.spec);
        let next = largest_transaction_gas(&self.spec, best.saturating_add(1), next_limit);
        if next < of_best.limit { TransactionGas { limit: next, block_limit: next_limit } } else { of_best }
    }

    /// Moves the pool to a new best block: `enacted` blocks joined the best chain (lowest first), `retracted` ones left it. Removes
    /// included transactions and adds transactions of retracted blocks again if they are still valid. Returns the hashes of
    /// transactions that became pending.
    pub fn follow(&self, head: PoolHead, enacted: &[Arc<BlockRecord>], retracted: &[Arc<BlockRecord>]) -> Vec<B256> {
        let touched = self.known_senders(enacted.iter().chain(retracted));
        let mut now_pending = self.move_to(head, touched, enacted);
        if retracted.is_empty() {
            return now_pending;
        }
        let included: HashSet<B256> = transactions_of(enacted).map(Transaction::hash).collect();
        // Lowest block first: the nonces are in order.
        for transaction in retracted.iter().rev().flat_map(|record| &record.block.transactions) {
            if included.contains(&transaction.hash()) {
                continue;
            }
            // A transaction that is no longer valid is dropped.
            if let Ok(admitted) = self.add(transaction.clone()) {
                now_pending.extend(admitted.now_pending);
            }
        }
        now_pending
    }

    /// Moves the pool to another state after the best block. Returns the hashes of transactions that became pending.
    pub(crate) fn follow_state(&self, head: PoolHead) -> Vec<B256> {
        let senders = self.pending().into_iter().chain(self.queued()).map(|entry| entry.sender).collect();
        self.move_to(head, senders, &[])
    }

    /// Moves to another best block, or to another state of it, and reads the nonces of the `touched` senders again.
    fn move_to(&self, head: PoolHead, touched: HashSet<Address>, enacted: &[Arc<BlockRecord>]) -> Vec<B256> {
        let read = |sender: &Address| SenderAccount::read(head.state.as_ref(), sender);
        let accounts: Vec<_> = touched.into_iter().map(|sender| (sender, read(&sender))).collect();
        let mut now_pending = Vec::new();
        let mut inner = self.inner.lock();
        inner.head = head;
        inner.head_count += 1;
        enacted.iter().for_each(|record| inner.market.add(record));
        if inner.content.len() > 0 {
            transactions_of(enacted).for_each(|transaction| drop(inner.content.take(&transaction.hash())));
        }
        for (sender, account) in accounts {
            // If an account cannot be read, all its nonces count as used.
            let nonce = account.map_or(u64::MAX, |account| account.nonce);
            now_pending.extend(inner.content.rebalance(&sender, nonce));
        }
        self.drop_outdated(&mut inner);
        self.changed();
        now_pending
    }

    /// Returns the senders in these blocks that have transactions in the pool.
    fn known_senders<'a>(&self, records: impl Iterator<Item = &'a Arc<BlockRecord>>) -> HashSet<Address> {
        let inner = self.inner.lock();
        let senders = records.flat_map(|record| record.senders());
        senders.filter(|sender| inner.content.contains_sender(sender)).copied().collect()
    }

    /// Removes transactions that can never be mined, as found while a block was built.
    pub fn remove(&self, hashes: &[B256]) {
        let mut inner = self.inner.lock();
        if hashes.iter().filter(|hash| inner.content.give_up(hash)).count() > 0 {
            self.changed();
        }
    }

    /// Changes the gas limit that blocks of this node move toward.
    pub(crate) fn follow_target(&self, gas_limit: u64) {
        if let Some(target) = &self.next_block_target {
            target.store(gas_limit, Ordering::Release);
        }
    }

    /// Removes all transactions.
    pub fn clear(&self) {
        self.inner.lock().content.clear();
        self.changed();
    }

    /// Returns a transaction, pending or queued.
    pub fn get(&self, hash: &B256) -> Option<Arc<PooledTransaction>> {
        let mut inner = self.inner.lock();
        self.drop_outdated(&mut inner);
        inner.content.get(hash).map(|(entry, _)| Arc::clone(entry))
    }

    /// Returns all pending transactions: senders in no order, nonces ascending.
    pub fn pending(&self) -> Vec<Arc<PooledTransaction>> {
        self.all(SubPool::Pending)
    }

    /// Returns all pending transactions in the order of the reference's lists.
    pub fn pending_listed(&self) -> Vec<Arc<PooledTransaction>> {
        let mut inner = self.inner.lock();
        self.drop_outdated(&mut inner);
        let mut pending: Vec<_> = inner.content.all(SubPool::Pending).cloned().collect();
        order::list(&mut pending, inner.content.most_pending());
        pending
    }

    /// Returns all queued transactions: senders in no order, nonces ascending.
    pub fn queued(&self) -> Vec<Arc<PooledTransaction>> {
        self.all(SubPool::Queued)
    }

    fn all(&self, kind: SubPool) -> Vec<Arc<PooledTransaction>> {
        let mut inner = self.inner.lock();
        self.drop_outdated(&mut inner);
        inner.content.all(kind).cloned().collect()
    }

    /// Returns the number of transactions of a kind.
    pub fn count(&self, kind: SubPool) -> usize {
        let mut inner = self.inner.lock();
        self.drop_outdated(&mut inner);
        inner.content.count(kind)
    }

    /// Returns the nonce of the next transaction of an account: the first that neither the best block nor a pending transaction uses.
    pub fn next_nonce(&self, sender: &Address) -> Result<u64, StateError> {
        Ok(self.read_account(sender)?.next_nonce)
    }

    /// Returns the pending transactions in the order for a block, and their version.
    pub fn by_price(&self) -> (ByPrice, u64) {
        let mut inner = self.inner.lock();
        self.drop_outdated(&mut inner);
        (ByPrice::new(inner.content.pending_by_sender(), inner.content.most_pending()), self.version())
    }

    /// Returns the virtual gas of an account, if the rate limiter knows it.
    pub fn quota(&self, address: &Address) -> Option<Quota> {
        self.inner.lock().quotas.get(address)
    }

    /// Returns the usual gas price, while there is competition for the gas of blocks.
    pub fn market_price(&self) -> Option<U256> {
        self.inner.lock().market.price()
    }

    fn drop_outdated(&self, inner: &mut PoolState) {
        let before = self.options.outdated_seconds.and_then(|seconds| self.clock.now().checked_sub(seconds));
        let below = inner.head.record.number().saturating_sub(self.options.outdated_blocks);
        let outdated = inner.content.outdated(before, below);
        if outdated.is_empty() {
            return;
        }
        for hash in outdated {
            inner.content.give_up(&hash);
        }
        self.changed();
    }

    fn refuse_known(&self, hash: &B256) -> Result<(), PoolRejection> {
        let mut inner = self.inner.lock();
        self.drop_outdated(&mut inner);
        refuse_known(&inner.content, hash)
    }

    /// Called while the content is locked.
    fn changed(&self) {
        self.version.fetch_add(1, Ordering::Release);
    }
}

impl PoolState {
    fn next_nonce(&self, sender: &Address, account: &SenderAccount) -> u64 {
        self.content.nonce_after_pending(sender).unwrap_or_default().max(account.nonce)
    }
}

fn transactions_of(records: &[Arc<BlockRecord>]) -> impl Iterator<Item = &Transaction> {
    records.iter().flat_map(|record| &record.block.transactions)
}

/// Rules 1 and 2.
fn refuse_known(content: &PoolContent, hash: &B256) -> Result<(), PoolRejection> {
    match content.get(hash) {
        Some((_, SubPool::Pending)) => Err(PoolRejection::AlreadyPending),
        Some((_, SubPool::Queued)) => Err(PoolRejection::AlreadyQueued),
        None => Ok(()),
    }
}
