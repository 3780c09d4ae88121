//! The order in which pending transactions are offered for a block.

use super::Pooled;
use rhizome_primitives::U256;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;

/// Pending transactions, the highest gas price first, but those of one sender always by nonce; of equal prices the one
/// that arrived first.
pub struct ByPrice {
    senders: Vec<VecDeque<Arc<Pooled>>>,
    heads: BinaryHeap<(U256, Reverse<u64>, usize)>,
    open: Option<usize>,
}

impl ByPrice {
    /// From the transactions of each sender, nonces ascending.
    pub(super) fn new(senders: impl Iterator<Item = Vec<Arc<Pooled>>>) -> Self {
        let senders = senders.map(VecDeque::from).collect();
        let mut order = Self { senders, heads: BinaryHeap::new(), open: None };
        for index in 0..order.senders.len() {
            order.offer(index);
        }
        order
    }

    /// The best transaction left. Those of its sender that follow it are offered only after [`Self::accept`].
    pub fn take(&mut self) -> Option<Arc<Pooled>> {
        let (_, _, index) = self.heads.pop()?;
        self.open = Some(index);
        self.senders.get_mut(index)?.pop_front()
    }

    /// The transaction taken last is in the block: the next one of its sender may follow.
    pub fn accept(&mut self) {
        if let Some(index) = self.open.take() {
            self.offer(index);
        }
    }

    fn offer(&mut self, index: usize) {
        if let Some(next) = self.senders.get(index).and_then(VecDeque::front) {
            self.heads.push((next.transaction.gas_price(), Reverse(next.sequence), index));
        }
    }
}
