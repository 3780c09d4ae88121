//! Pending transactions that a block skips, and the reasons.

use std::collections::{HashMap, HashSet};
use std::mem::{Discriminant, discriminant};

use parking_lot::Mutex;
use rhizome_primitives::{Address, B256, Block, Transaction};

use crate::events::{ChainEvent, ChainListeners};
use crate::mining::skipped_transaction::{SkippedTransaction, WaitReason};

/// Bound on the transactions of one block that are reported: a full pool must not flood the log.
const MAX_REPORTED: usize = 20;

/// Reasons reported for the last block. A reason that stays the same is reported once.
#[derive(Default)]
pub(crate) struct ReportedReasons(Mutex<HashMap<B256, Discriminant<WaitReason>>>);

impl ReportedReasons {
    /// Reports to the listeners which transactions were skipped by a block that was mined or given to miners.
    pub(crate) fn report(&self, skipped: &[SkippedTransaction], listeners: &ChainListeners) {
        let mut reported = self.0.lock();
        let of_block = skipped.iter().take(MAX_REPORTED);
        let now: HashMap<B256, Discriminant<WaitReason>> =
            of_block.clone().map(|skipped| (skipped.hash, discriminant(&skipped.reason))).collect();
        for skipped in of_block.filter(|skipped| reported.get(&skipped.hash) != now.get(&skipped.hash)) {
            listeners.emit(&ChainEvent::TransactionSkipped(skipped.clone()));
        }
        *reported = now;
    }
}

/// Reasons why transactions of the pool are not in a block built from it.
pub struct WaitReasons<'a> {
    taken: HashSet<B256>,
    skipped: HashMap<B256, &'a WaitReason>,
    /// The first skipped transaction of each sender. The later ones were not tried.
    first: HashMap<Address, &'a SkippedTransaction>,
}

impl<'a> WaitReasons<'a> {
    /// Collects the reasons of a block and its skipped transactions.
    pub fn new(block: &Block, skipped: &'a [SkippedTransaction]) -> Self {
        Self {
            taken: block.transactions.iter().map(Transaction::hash).collect(),
            skipped: skipped.iter().map(|left| (left.hash, &left.reason)).collect(),
            first: skipped.iter().map(|left| (left.sender, left)).collect(),
        }
    }

    /// Returns the reason why a pending transaction is not in the block. `None` if the block contains it.
    pub fn of(&self, hash: &B256, sender: &Address, nonce: u64) -> Option<WaitReason> {
        if self.taken.contains(hash) {
            return None;
        }
        let own = self.skipped.get(hash).map(|reason| WaitReason::clone(reason));
        let before = self
            .first
            .get(sender)
            .filter(|first| first.nonce < nonce)
            .map(|first| WaitReason::Behind { nonce: first.nonce, reason: Box::new(first.reason.clone()) });
        Some(own.or(before).unwrap_or(WaitReason::NoRoom))
    }
}
