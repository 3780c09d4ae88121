//! Transactions that wait for a block.
//!
//! Pending ones can be mined now: their nonces follow the account's without a gap. Queued ones wait for a nonce before
//! them. The pool judges against the best block that it was told of last; reading accounts happens outside its lock.

mod admission;
mod content;
mod fee_market;
mod order;
mod placement;
mod quota;
mod rejection;
#[cfg(test)]
mod tests;

pub use admission::{ACCOUNT_SLOTS, MAX_SIZE};
pub use content::SubPool;
pub use order::ByPrice;
pub use quota::Quota;
pub use rejection::PoolRejection;

use crate::mining::block_builder::targets::next_gas_limit;
use crate::{BlockRecord, Clock};
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

/// Settings of a pool.
#[derive(Debug, Clone)]
pub struct PoolOptions {
    /// Blocks after which a transaction is dropped.
    pub outdated_blocks: u64,
    /// Seconds after which a transaction is dropped; none: never.
    pub outdated_seconds: Option<u64>,
    /// Whether accounts that send too much are refused.
    pub has_rate_limiter: bool,
    /// Transactions that the pool holds at most.
    pub max_transactions: usize,
    /// Bytes of transactions that the pool holds at most.
    pub max_bytes: usize,
    /// On development networks, whether a transaction is refused that has too much gas for the next block. The reference
    /// looks at the best block only, so that some wait in vain.
    pub fits_next_block: bool,
}

impl Default for PoolOptions {
    fn default() -> Self {
        Self {
            outdated_blocks: 10,
            outdated_seconds: Some(650),
            has_rate_limiter: true,
            max_transactions: 50_000,
            max_bytes: 128 << 20,
            fits_next_block: true,
        }
    }
}

/// A transaction in the pool.
#[derive(Debug)]
pub struct PooledTransaction {
    /// The transaction.
    pub transaction: Transaction,
    /// Who sent it.
    pub sender: Address,
    /// Its hash.
    pub hash: B256,
    /// Its nonce.
    pub nonce: u64,
    /// Length of its encoding, in bytes.
    pub size: usize,
    /// What it can cost its sender at most, in wei.
    highest_cost: U256,
    /// Whether its receiver is one that the rate limiter leaves alone.
    is_to_contract: bool,
    /// Position among all arrivals.
    sequence: u64,
    arrived_seconds: u64,
    arrived_block: u64,
}

/// What became of a transaction that was admitted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdmittedTransaction {
    /// Its hash.
    pub hash: B256,
    /// Who sent it.
    pub sender: Address,
    /// Whether it can be mined now; otherwise it waits for a nonce before it.
    pub is_pending: bool,
    /// Transactions that became pending through it, itself first.
    pub now_pending: Vec<B256>,
}

/// The best block, as the pool needs it.
#[derive(Clone)]
pub struct PoolHead {
    /// The block.
    pub record: Arc<BlockRecord>,
    /// The state after it.
    pub state: Arc<dyn StateReader>,
}

/// The pool. PipelineState by all threads; every method takes its lock for a short time only.
pub struct TransactionPool {
    spec: Arc<ChainSpec>,
    options: PoolOptions,
    clock: Clock,
    /// Gas limit toward which the next block moves. `None`: the pool judges by the best block alone.
    next_block_target: Option<AtomicU64>,
    /// Held from the choice of a nonce to the admission of the transaction that uses it. Taken before `inner`.
    next_nonces: Mutex<()>,
    inner: Mutex<PoolState>,
    version: AtomicU64,
}

struct PoolState {
    head: PoolHead,
    /// Counts changes of the head.
    head_count: u64,
    content: PoolContent,
    quotas: Quotas,
    market: FeeMarket,
    next_sequence: u64,
}

/// An account at one moment of the pool, read outside the lock.
struct AccountSnapshot {
    head: PoolHead,
    head_count: u64,
    account: SenderAccount,
    next_nonce: u64,
}

/// How much gas a transaction can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransactionGas {
    /// The most gas of one transaction.
    pub limit: U256,
    /// Gas limit of the block that this is a part of.
    pub block_limit: U256,
}

/// A transaction that was judged against a head, outside the lock.
struct PoolCandidate {
    transaction: Transaction,
    sender: Address,
    account: SenderAccount,
    is_to_contract: bool,
}

impl TransactionPool {
    /// An empty pool on a best block. `recent` are the last blocks up to it, oldest first, for the fee market: up to 50.
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
        // On other networks the next block is usually made elsewhere.
        let next_block_target =
            (options.fits_next_block && spec.is_development()).then_some(AtomicU64::new(target_gas_limit));
        Self { spec, options, clock, next_block_target, next_nonces, inner, version: AtomicU64::new(0) }
    }

    /// Changes with every change of the content.
    pub fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    /// Admits a transaction or says which rule it breaks. Queued successors that it makes executable become pending.
    pub fn add(&self, transaction: Transaction) -> Result<AdmittedTransaction, PoolRejection> {
        self.refuse_known(&transaction.hash())?;
        let sender = transaction.recover_sender()?;
        if !transaction.accepts_signature(self.spec.chain_id) {
            return Err(PoolRejection::SignatureNotAccepted);
        }
        loop {
            let seen = self.look(&sender)?;
            let candidate = self.judge(transaction.clone(), sender, &seen)?;
            let mut inner = self.inner.lock();
            // Another head means another account; judge again.
            if inner.head_count == seen.head_count {
                return self.admit(&mut inner, candidate);
            }
        }
    }

    /// Admits the transaction that `sign` makes of the next nonce of an account. Two calls at the same time use two
    /// nonces. `sign` is called again when a block or another transaction of the account has used the nonce meanwhile.
    pub fn add_next<E: From<PoolRejection>>(
        &self,
        sender: &Address,
        mut sign: impl FnMut(u64) -> Result<Transaction, E>,
    ) -> Result<AdmittedTransaction, E> {
        let _turn = self.next_nonces.lock();
        loop {
            let seen = self.look(sender).map_err(PoolRejection::from)?;
            let candidate = self.judge(sign(seen.next_nonce)?, *sender, &seen)?;
            let mut inner = self.inner.lock();
            self.drop_outdated(&mut inner);
            if inner.head_count == seen.head_count && inner.next_nonce(sender, &seen.account) == seen.next_nonce {
                return Ok(self.admit(&mut inner, candidate)?);
            }
        }
    }

    /// Reads the account of a sender at the pool's head, and its next nonce at the same moment.
    fn look(&self, sender: &Address) -> Result<AccountSnapshot, StateError> {
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

    /// Checks all rules that need no look at the other transactions of the pool.
    fn judge(
        &self,
        transaction: Transaction,
        sender: Address,
        seen: &AccountSnapshot,
    ) -> Result<PoolCandidate, PoolRejection> {
        let AccountSnapshot { head, account, .. } = seen;
        let is_to_contract = match transaction.to() {
            Some(receiver) if self.options.has_rate_limiter => admission::is_contract(head.state.as_ref(), &receiver)?,
            _ => true,
        };
        let gas = self.transaction_gas(&head.record);
        admission::check(&transaction, &sender, account, &head.record.block.header, gas, &self.spec)?;
        Ok(PoolCandidate { transaction, sender, account: *account, is_to_contract })
    }

    /// The most gas that a transaction can have on top of a block: what the reference compares with, and where this node
    /// knows the gas limit of the next block no more than fits into that.
    pub fn transaction_gas(&self, head: &BlockRecord) -> TransactionGas {
        let (best, limit) = (head.number(), head.block.header.gas_limit_value());
        let of_best = TransactionGas { limit: largest_transaction_gas(&self.spec, best, limit), block_limit: limit };
        let Some(target) = &self.next_block_target else { return of_best };
        let next_limit = next_gas_limit(limit, target.load(Ordering::Acquire), &self.spec);
        let next = largest_transaction_gas(&self.spec, best.saturating_add(1), next_limit);
        if next < of_best.limit { TransactionGas { limit: next, block_limit: next_limit } } else { of_best }
    }

    /// Tells the pool of a new best block: `enacted` blocks joined the best chain (lowest first), `retracted` ones left
    /// it. Included transactions go, those of abandoned blocks come back if they are still good. Hashes of
    /// transactions that became pending.
    pub fn follow(&self, head: PoolHead, enacted: &[Arc<BlockRecord>], retracted: &[Arc<BlockRecord>]) -> Vec<B256> {
        let touched = self.known_senders(enacted.iter().chain(retracted));
        let mut now_pending = self.move_to(head, touched, enacted);
        if retracted.is_empty() {
            return now_pending;
        }
        let included: HashSet<B256> = transactions_of(enacted).map(Transaction::hash).collect();
        // Lowest block first, so that the nonces come in order.
        for transaction in retracted.iter().rev().flat_map(|record| &record.block.transactions) {
            if included.contains(&transaction.hash()) {
                continue;
            }
            // What is no longer good is forgotten, as it would be if it came from outside.
            if let Ok(admitted) = self.add(transaction.clone()) {
                now_pending.extend(admitted.now_pending);
            }
        }
        now_pending
    }

    /// Tells the pool that the state after the best block was changed by hand. Hashes of transactions that became pending.
    pub(crate) fn follow_state(&self, head: PoolHead) -> Vec<B256> {
        let senders = self.pending().into_iter().chain(self.queued()).map(|entry| entry.sender).collect();
        self.move_to(head, senders, &[])
    }

    /// Another best block, or another state of it, from which the nonces of the `touched` senders are read again.
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
            // An account that cannot be read sends nothing: all its nonces count as used.
            let nonce = account.map_or(u64::MAX, |account| account.nonce);
            now_pending.extend(inner.content.rebalance(&sender, nonce));
        }
        self.drop_outdated(&mut inner);
        self.changed();
        now_pending
    }

    /// Senders in these blocks that have something in the pool.
    fn known_senders<'a>(&self, records: impl Iterator<Item = &'a Arc<BlockRecord>>) -> HashSet<Address> {
        let inner = self.inner.lock();
        let senders = records.flat_map(|record| record.senders());
        senders.filter(|sender| inner.content.contains_sender(sender)).copied().collect()
    }

    /// Forgets transactions that turned out to be impossible, for example while a block was built.
    pub fn remove(&self, hashes: &[B256]) {
        let mut inner = self.inner.lock();
        if hashes.iter().filter(|hash| inner.content.give_up(hash)).count() > 0 {
            self.changed();
        }
    }

    /// Blocks of this node move toward another gas limit.
    pub(crate) fn follow_target(&self, gas_limit: u64) {
        if let Some(target) = &self.next_block_target {
            target.store(gas_limit, Ordering::Release);
        }
    }

    /// Forgets everything.
    pub fn clear(&self) {
        self.inner.lock().content.clear();
        self.changed();
    }

    /// A transaction of either kind.
    pub fn get(&self, hash: &B256) -> Option<Arc<PooledTransaction>> {
        let mut inner = self.inner.lock();
        self.drop_outdated(&mut inner);
        inner.content.get(hash).map(|(entry, _)| Arc::clone(entry))
    }

    /// All pending transactions: senders in no order, nonces ascending.
    pub fn pending(&self) -> Vec<Arc<PooledTransaction>> {
        self.all(SubPool::Pending)
    }

    /// All pending transactions in the order in which the reference lists them.
    pub fn pending_listed(&self) -> Vec<Arc<PooledTransaction>> {
        let mut inner = self.inner.lock();
        self.drop_outdated(&mut inner);
        let mut pending: Vec<_> = inner.content.all(SubPool::Pending).cloned().collect();
        order::list(&mut pending, inner.content.most_pending());
        pending
    }

    /// All queued transactions: senders in no order, nonces ascending.
    pub fn queued(&self) -> Vec<Arc<PooledTransaction>> {
        self.all(SubPool::Queued)
    }

    fn all(&self, kind: SubPool) -> Vec<Arc<PooledTransaction>> {
        let mut inner = self.inner.lock();
        self.drop_outdated(&mut inner);
        inner.content.all(kind).cloned().collect()
    }

    /// How many transactions there are of a kind.
    pub fn count(&self, kind: SubPool) -> usize {
        let mut inner = self.inner.lock();
        self.drop_outdated(&mut inner);
        inner.content.count(kind)
    }

    /// The nonce that the next transaction of an account should have: the first that neither the best block nor a pending
    /// transaction has used.
    pub fn next_nonce(&self, sender: &Address) -> Result<u64, StateError> {
        Ok(self.look(sender)?.next_nonce)
    }

    /// The pending transactions in the order for a block, and the version that they are of.
    pub fn by_price(&self) -> (ByPrice, u64) {
        let mut inner = self.inner.lock();
        self.drop_outdated(&mut inner);
        (ByPrice::new(inner.content.pending_by_sender(), inner.content.most_pending()), self.version())
    }

    /// Virtual gas of an account that the rate limiter knows.
    pub fn quota(&self, address: &Address) -> Option<Quota> {
        self.inner.lock().quotas.get(address)
    }

    /// The price that transactions usually pay, while there is competition for the gas of blocks.
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
