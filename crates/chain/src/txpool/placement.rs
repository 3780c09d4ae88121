//! The last rules of admission, under the lock: replacement, quota, funds for all transactions, and room.

use super::admission::{self, SenderAccount};
use super::content::SubPool;
use super::quota::Spending;
use super::{
    AdmittedTransaction, PoolCandidate, PoolRejection, PoolState, PooledTransaction, TransactionPool, refuse_known,
};
use rhizome_primitives::{Address, B256, U256};
use std::sync::Arc;

impl TransactionPool {
    /// Checks rules 16 to 19 and inserts the transaction. The other rules were checked against the same head.
    pub(super) fn admit(
        &self,
        inner: &mut PoolState,
        candidate: PoolCandidate,
    ) -> Result<AdmittedTransaction, PoolRejection> {
        self.drop_outdated(inner);
        let (hash, sender, account) = (candidate.transaction.hash(), candidate.sender, candidate.account);
        refuse_known(&inner.content, &hash)?;
        let is_pending = self.place(inner, candidate)?;
        let mut now_pending = Vec::new();
        if is_pending {
            now_pending.push(hash);
            self.promote_successors(inner, &sender, account, &mut now_pending);
        }
        self.changed();
        Ok(AdmittedTransaction { hash, sender, is_pending, now_pending })
    }

    /// Promotes queued transactions that can be mined now. Checks them again; the first that fails is dropped, and later ones stay.
    fn promote_successors(
        &self,
        inner: &mut PoolState,
        sender: &Address,
        account: SenderAccount,
        promoted: &mut Vec<B256>,
    ) {
        while let Some(next) = inner.content.nonce_after_pending(sender) {
            let Some(entry) = inner.content.take_queued(sender, next) else { return };
            let best = Arc::clone(&inner.head.record);
            let transaction = entry.transaction.clone();
            let gas = self.transaction_gas(&best);
            let judged = admission::check(&transaction, sender, &account, &best.block.header, gas, &self.spec);
            let is_to_contract = entry.is_to_contract;
            let candidate = PoolCandidate { transaction, sender: *sender, account, is_to_contract };
            match judged.and_then(|()| self.place(inner, candidate)) {
                Ok(true) => promoted.push(entry.hash),
                Ok(false) | Err(_) => return,
            }
        }
    }

    /// Inserts a candidate as pending (true) or queued.
    fn place(&self, inner: &mut PoolState, candidate: PoolCandidate) -> Result<bool, PoolRejection> {
        let PoolCandidate { transaction, sender, account, is_to_contract } = candidate;
        let nonce: u64 = transaction.nonce().saturating_to();
        let replaced = inner.content.pending_at(&sender, nonce).map(|old| old.transaction.gas_price());
        if replaced.is_some_and(|old| !admission::may_replace(transaction.gas_price(), old)) {
            return Err(PoolRejection::Underpriced);
        }
        let rules = self.spec.rules(inner.head.record.number());
        let entry = PooledTransaction {
            hash: transaction.hash(),
            size: transaction.encoded().len(),
            highest_cost: admission::highest_cost(&transaction, &sender, &self.spec, &rules),
            transaction,
            sender,
            nonce,
            is_to_contract,
            sequence: inner.next_sequence,
            arrived_seconds: self.clock.now(),
            arrived_block: inner.head.record.number(),
        };
        let next = inner.next_nonce(&sender, &account);
        let is_pending = nonce <= next;
        if is_pending {
            if self.options.has_rate_limiter && !inner.spend_quota(&entry, next, replaced) {
                return Err(PoolRejection::QuotaExceeded);
            }
            let others = inner.content.pending_of(&sender).filter(|other| other.nonce != nonce);
            let total = others.fold(entry.highest_cost, |sum, other| sum.saturating_add(other.highest_cost));
            if !account.covers(total) {
                return Err(PoolRejection::InsufficientFundsForAll);
            }
        }
        let kind = |is_pending: bool| if is_pending { SubPool::Pending } else { SubPool::Queued };
        self.make_room(inner, &entry, kind(is_pending))?;
        // A transaction with a lower nonce may just have been evicted.
        let is_pending = nonce <= inner.next_nonce(&sender, &account);
        inner.next_sequence += 1;
        inner.content.insert(Arc::new(entry), kind(is_pending));
        Ok(is_pending)
    }

    /// Evicts transactions until there is room. The new transaction must be worth more than each of them.
    fn make_room(&self, inner: &mut PoolState, entry: &PooledTransaction, kind: SubPool) -> Result<(), PoolRejection> {
        while inner.content.len() >= self.options.max_transactions
            || inner.content.bytes().saturating_add(entry.size) > self.options.max_bytes
        {
            let (least, least_kind) = inner.content.least_wanted().ok_or(PoolRejection::Full)?;
            let is_wanted_more = match (kind, least_kind) {
                (SubPool::Pending, SubPool::Queued) => true,
                (SubPool::Queued, SubPool::Pending) => false,
                _ => entry.transaction.gas_price() > least.transaction.gas_price(),
            };
            if !is_wanted_more {
                return Err(PoolRejection::Full);
            }
            let hash = least.hash;
            inner.content.give_up(&hash);
        }
        Ok(())
    }
}

impl PoolState {
    fn spend_quota(&mut self, entry: &PooledTransaction, account_nonce: u64, replaced_price: Option<U256>) -> bool {
        let best = &self.head.record.block.header;
        let block_gas_limit = best.gas_limit_value().saturating_to();
        // The limiter counts thousands of seconds, so whole seconds are exact enough.
        let now_ms = entry.arrived_seconds.saturating_mul(1000);
        let spending = Spending {
            sender: entry.sender,
            account_nonce,
            nonce: entry.nonce,
            size: entry.size,
            gas_limit: entry.transaction.gas_limit().saturating_to(),
            gas_price: entry.transaction.gas_price(),
            replaced_price,
            block_gas_limit,
            block_minimum: best.min_gas_price(),
            market_price: self.market.price(),
        };
        if let Some(receiver) = entry.transaction.to().filter(|receiver| *receiver != entry.sender) {
            self.quotas.notice_receiver(&receiver, entry.is_to_contract, now_ms, block_gas_limit);
        }
        self.quotas.spend(&spending, now_ms)
    }
}
