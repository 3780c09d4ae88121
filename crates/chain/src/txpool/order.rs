//! Order of the pending transactions for a block.
//!
//! The highest gas price goes first. The order of equal prices follows from the hash tables and the heap of the reference, which are
//! the same on every machine. This order is the same, so pending blocks and mined blocks equal those of the reference.

use super::transaction::PooledTransaction;
use rhizome_primitives::{Address, B256, U256};
use std::cmp::Reverse;
use std::collections::VecDeque;
use std::sync::Arc;

/// Sorts pending transactions like the lists of the reference. `most_pending`: highest number of pending transactions so far.
pub(super) fn list(pending: &mut [Arc<PooledTransaction>], most_pending: usize) {
    let table = HashTable::grown_for(most_pending);
    pending.sort_by_key(|entry| place_in(&table, entry));
}

/// Returns the bucket and, within it, the order of arrival.
fn place_in(table: &HashTable, entry: &PooledTransaction) -> (usize, u64) {
    (table.bucket(hash_code(&entry.hash)), entry.sequence)
}

/// Pending transactions, the highest gas price first. The transactions of one sender are always in the order of nonces.
pub struct ByPrice {
    senders: Vec<Sender>,
    heads: PriceHeap,
    /// Sender of the last taken transaction.
    last: Option<usize>,
}

struct Sender {
    waiting: VecDeque<Arc<PooledTransaction>>,
    /// Whether a transaction of the sender is not in the block, so later ones cannot be.
    is_closed: bool,
}

impl ByPrice {
    /// Orders the transactions of each sender, nonces ascending. `most_pending`: highest number of pending transactions so far.
    pub(super) fn new(senders: impl Iterator<Item = Vec<Arc<PooledTransaction>>>, most_pending: usize) -> Self {
        let mut senders: Vec<_> = senders.collect();
        let (transactions, accounts) = (HashTable::grown_for(most_pending), HashTable::grown_for(senders.len()));
        senders.sort_by_cached_key(|waiting| {
            let account = waiting.first().map(|first| accounts.bucket(address_code(&first.sender)));
            // A later sender precedes the earlier ones of its bucket.
            (account, Reverse(waiting.iter().map(|entry| place_in(&transactions, entry)).min()))
        });
        let senders = senders.into_iter().map(|waiting| Sender { waiting: waiting.into(), is_closed: false }).collect();
        let mut order = Self { senders, heads: PriceHeap::default(), last: None };
        for index in 0..order.senders.len() {
            order.offer(index);
        }
        order
    }

    /// Takes the best remaining transaction.
    pub fn take(&mut self) -> Option<Arc<PooledTransaction>> {
        loop {
            let index = self.heads.pop()?;
            let sender = self.senders.get_mut(index)?;
            let (next, is_closed) = (sender.waiting.pop_front(), sender.is_closed);
            self.offer(index);
            if !is_closed {
                self.last = Some(index);
                return next;
            }
        }
    }

    /// Skips the last taken transaction: later ones of its sender are not offered.
    pub fn pass_over(&mut self) {
        if let Some(sender) = self.last.and_then(|index| self.senders.get_mut(index)) {
            sender.is_closed = true;
        }
    }

    fn offer(&mut self, index: usize) {
        if let Some(next) = self.senders.get(index).and_then(|sender| sender.waiting.front()) {
            self.heads.push(next.transaction.gas_price(), index);
        }
    }
}

/// A hash table with chained buckets, iterated by bucket. It doubles when three quarters full.
struct HashTable {
    buckets: usize,
}

impl HashTable {
    fn grown_for(entries: usize) -> Self {
        let mut buckets: usize = 16;
        while entries > buckets / 4 * 3 {
            buckets *= 2;
        }
        Self { buckets }
    }

    fn bucket(&self, code: u32) -> usize {
        (code ^ (code >> 16)) as usize & (self.buckets - 1)
    }
}

/// Returns the last four bytes.
fn hash_code(hash: &B256) -> u32 {
    hash.iter().skip(28).fold(0, |code, byte| (code << 8) | u32::from(*byte))
}

/// Computes a polynomial in 31 over signed bytes.
fn address_code(address: &Address) -> u32 {
    address.iter().fold(1, |code: u32, byte| code.wrapping_mul(31).wrapping_add_signed(i32::from(byte.cast_signed())))
}

/// A binary heap with the highest price on top. In contrast to the standard library the order of equal prices is defined: no entry
/// passes an equal one on the way up or down.
#[derive(Default)]
struct PriceHeap(Vec<(U256, usize)>);

impl PriceHeap {
    fn push(&mut self, price: U256, index: usize) {
        self.0.push((price, index));
        let mut place = self.0.len() - 1;
        while place > 0 {
            let parent = (place - 1) / 2;
            if !self.is_above(place, parent) {
                break;
            }
            self.0.swap(place, parent);
            place = parent;
        }
    }

    fn pop(&mut self) -> Option<usize> {
        if self.0.is_empty() {
            return None;
        }
        let (_, top) = self.0.swap_remove(0);
        let mut place = 0;
        loop {
            let (left, right) = (2 * place + 1, 2 * place + 2);
            let child = if self.is_above(right, left) { right } else { left };
            if !self.is_above(child, place) {
                return Some(top);
            }
            self.0.swap(place, child);
            place = child;
        }
    }

    /// Whether the entry at the first index has a higher price than the one at the second.
    fn is_above(&self, first: usize, second: usize) -> bool {
        matches!((self.0.get(first), self.0.get(second)), (Some((first, _)), Some((second, _))) if first > second)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rhizome_primitives::{address, b256};

    #[test]
    fn codes_and_buckets() {
        let cow = address!("cd2a3d9f938e13cd947ec05abc7fe734df8dd826");
        let hash = b256!("6e05277124b4a99b98f82ea435363728011f38c9e22eb99486d5199bb00f11ac");
        assert_eq!(address_code(&Address::ZERO), 31u32.wrapping_pow(20));
        assert_eq!(address_code(&cow), 0xb21b_4905);
        assert_eq!(hash_code(&hash), 0xb00f_11ac);
        assert_eq!([12, 13, 24, 25].map(|entries| HashTable::grown_for(entries).buckets), [16, 32, 32, 64]);
        assert_eq!(HashTable::grown_for(5).bucket(0x0003_0005), 6);
    }

    #[test]
    fn equal_prices_leave_the_heap_as_defined() {
        let mut heap = PriceHeap::default();
        for (index, price) in [5u64, 5, 5, 9, 5].into_iter().enumerate() {
            heap.push(U256::from(price), index);
        }
        assert_eq!(std::iter::from_fn(|| heap.pop()).collect::<Vec<_>>(), [3, 4, 1, 2, 0]);
    }
}
