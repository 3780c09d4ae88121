//! The rate limiter: each account has virtual gas, which refills with time and pays for its transactions.

use lru::LruCache;
use rhizome_primitives::{Address, U256};

/// Maximum number of accounts. The least recently used is evicted.
const MAX_ACCOUNTS: usize = 400_000;

/// Seconds after which an empty account is full again.
const SECONDS_TO_FULL: u64 = 2000;

/// Virtual gas of one account.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quota {
    /// Time of the last refill, in milliseconds since 1970.
    pub timestamp_ms: u64,
    /// Available virtual gas.
    pub available_virtual_gas: f64,
}

impl Quota {
    /// Adds the virtual gas for the time since the last refill. A clock that went back reduces it, as in the reference.
    fn refresh(&mut self, now_ms: u64, per_second: u64) {
        let seconds = (now_ms as f64 - self.timestamp_ms as f64) / 1000.0;
        self.timestamp_ms = now_ms;
        let full = maximum(per_second) as f64;
        self.available_virtual_gas = full.min(self.available_virtual_gas + seconds * per_second as f64);
    }
}

/// A transaction, for the rate limiter.
pub(super) struct Spending {
    pub(super) sender: Address,
    /// The next nonce of the sender, pending transactions included.
    pub(super) account_nonce: u64,
    pub(super) nonce: u64,
    pub(super) size: usize,
    pub(super) gas_limit: u64,
    pub(super) gas_price: U256,
    /// Gas price of the pending transaction that this one replaces.
    pub(super) replaced_price: Option<U256>,
    /// Gas limit of the best block.
    pub(super) block_gas_limit: u64,
    /// Its minimum gas price.
    pub(super) block_minimum: U256,
    /// Usual gas price, while blocks are nearly full.
    pub(super) market_price: Option<U256>,
}

/// Virtual gas of recently used accounts.
pub(super) struct Quotas(LruCache<Address, Quota>);

impl Quotas {
    pub(super) fn new() -> Self {
        Self(LruCache::unbounded())
    }

    pub(super) fn get(&self, address: &Address) -> Option<Quota> {
        self.0.peek(address).copied()
    }

    /// Adds an account that received a transaction: its virtual gas starts to refill.
    pub(super) fn notice_receiver(&mut self, address: &Address, is_contract: bool, now_ms: u64, block_gas_limit: u64) {
        if self.0.contains(address) || !is_contract {
            let per_second = per_second(block_gas_limit);
            self.refreshed(address, now_ms, per_second, per_second);
        }
    }

    /// Pays for a transaction. Returns false if the sender has too little virtual gas. The first transaction of an unknown account
    /// always passes and uses up its virtual gas.
    pub(super) fn spend(&mut self, spending: &Spending, now_ms: u64) -> bool {
        let is_first = !self.0.contains(&spending.sender) && spending.account_nonce == 0 && spending.nonce == 0;
        let per_second = per_second(spending.block_gas_limit);
        let initial = if spending.account_nonce == 0 { per_second } else { maximum(per_second) };
        let quota = self.refreshed(&spending.sender, now_ms, per_second, initial);
        let cost = spending.cost();
        if quota.available_virtual_gas >= cost {
            quota.available_virtual_gas -= cost;
            return true;
        }
        if is_first {
            quota.available_virtual_gas = 0.0;
        }
        is_first
    }

    fn refreshed(&mut self, address: &Address, now_ms: u64, per_second: u64, initial: u64) -> &mut Quota {
        if self.0.len() >= MAX_ACCOUNTS && !self.0.contains(address) {
            self.0.pop_lru();
        }
        let fresh = Quota { timestamp_ms: now_ms, available_virtual_gas: initial as f64 };
        let quota = self.0.get_or_insert_mut(*address, || fresh);
        quota.refresh(now_ms, per_second);
        quota
    }
}

/// Returns the virtual gas that an account gets each second: nine tenths of a block's gas limit.
fn per_second(block_gas_limit: u64) -> u64 {
    (block_gas_limit as f64 * 0.9).round() as u64
}

fn maximum(per_second: u64) -> u64 {
    per_second.saturating_mul(SECONDS_TO_FULL)
}

impl Spending {
    /// Returns the virtual gas of the transaction: its gas limit times factors for its load on the pool.
    fn cost(&self) -> f64 {
        let future_nonce = if self.nonce == self.account_nonce { 1.0 } else { 2.0 };
        let nonce = 1.0 + 4.0 / (self.account_nonce as f64 + 1.0);
        let size = 1.0 + self.size as f64 / 25_000.0;
        let gas_limit = 1.0 + 4.0 * self.gas_limit as f64 / self.block_gas_limit as f64;
        let factors = future_nonce * self.low_price_factor() * nonce * size * self.replacement_factor() * gas_limit;
        self.gas_limit as f64 * factors
    }

    fn low_price_factor(&self) -> f64 {
        let Some(market) = self.market_price.filter(|market| self.gas_price < *market) else { return 1.0 };
        let (market, minimum) = (f64::from(market), f64::from(self.block_minimum));
        let below = (market - f64::from(self.gas_price)) / (market - minimum);
        if below.is_finite() { 1.0 + 3.0 * below } else { 1.0 }
    }

    fn replacement_factor(&self) -> f64 {
        let Some(replaced) = self.replaced_price else { return 1.0 };
        let ratio = f64::from(self.gas_price) / f64::from(replaced);
        if ratio > 0.0 { 1.0 + 1.0 / ratio } else { 1.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(account_nonce: u64, gas_limit: u64) -> Spending {
        Spending {
            sender: Address::ZERO,
            account_nonce,
            nonce: account_nonce,
            size: 0,
            gas_limit,
            gas_price: U256::ONE,
            replaced_price: None,
            block_gas_limit: 10_000_000,
            block_minimum: U256::ZERO,
            market_price: None,
        }
    }

    #[test]
    fn the_first_transaction_passes_and_takes_all() {
        let mut quotas = Quotas::new();
        assert!(quotas.spend(&plain(0, 6_000_000), 1000));
        assert_eq!(quotas.get(&Address::ZERO).unwrap().available_virtual_gas, 0.0);
        assert!(!quotas.spend(&plain(1, 6_000_000), 1500));
        assert_eq!(quotas.get(&Address::ZERO).unwrap().available_virtual_gas, 4_500_000.0);
        assert!(quotas.spend(&plain(1, 6_000_000), 60_000));
    }

    #[test]
    fn an_account_with_history_begins_full() {
        let mut quotas = Quotas::new();
        assert!(quotas.spend(&plain(9, 1_000_000), 0));
        let spent = 1_000_000.0 * 1.4 * 1.4;
        assert_eq!(quotas.get(&Address::ZERO).unwrap().available_virtual_gas, 18_000_000_000.0 - spent);
    }

    #[test]
    fn burdens_cost_more() {
        let base = plain(0, 21_000).cost();
        let future = Spending { nonce: 3, ..plain(0, 21_000) };
        assert_eq!(future.cost(), base * 2.0);
        let replacing = Spending { gas_price: U256::from(2), replaced_price: Some(U256::ONE), ..plain(0, 21_000) };
        assert_eq!(replacing.cost(), base * 1.5);
        let cheap = Spending { gas_price: U256::from(5), market_price: Some(U256::from(10)), ..plain(0, 21_000) };
        assert_eq!(cheap.cost(), base * 2.5);
    }
}
