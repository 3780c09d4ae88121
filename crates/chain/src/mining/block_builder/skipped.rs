//! Why a pending transaction is not in the block that is built.

use std::collections::{HashMap, HashSet};
use std::mem::{Discriminant, discriminant};

use parking_lot::Mutex;
use rhizome_evm::{ExecError, TransactionRefusal};
use rhizome_primitives::{Address, B256, Block, Transaction, U256};

use crate::events::{ChainEvent, ChainListeners};
use crate::txpool::PooledTransaction;

/// Bound on the transactions of one block that are reported: a full pool must not flood the log.
const MAX_REPORTED: usize = 20;

/// A pending transaction that a block does not take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkippedTransaction {
    /// Its hash.
    pub hash: B256,
    /// Its sender.
    pub sender: Address,
    /// Its nonce.
    pub nonce: u64,
    /// Why it is not in the block.
    pub reason: WaitReason,
}

impl SkippedTransaction {
    pub(super) fn new(pooled: &PooledTransaction, reason: WaitReason) -> Self {
        Self { hash: pooled.hash, sender: pooled.sender, nonce: pooled.nonce, reason }
    }
}

/// What keeps a transaction out of the next block. The texts are for people.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WaitReason {
    /// More gas than one transaction can have in the block.
    #[error(
        "its gas limit of {gas} is above {limit}, the most of one transaction in the next block (gas limit {block_limit})"
    )]
    BlockGas {
        /// Of the transaction.
        gas: U256,
        /// The most that a transaction can have.
        limit: U256,
        /// Gas limit of the block.
        block_limit: U256,
    },
    /// Its nonce is not the next one: a transaction before it is missing.
    #[error("its nonce is {nonce}, and a transaction with nonce {next} is missing")]
    NonceGap {
        /// Of the transaction.
        nonce: u64,
        /// The next one of the account.
        next: u64,
    },
    /// A transaction of the same sender before it waits.
    #[error("the transaction with nonce {nonce} of the same sender is before it: {reason}")]
    Behind {
        /// Of the transaction before it.
        nonce: u64,
        /// Why that one waits.
        reason: Box<WaitReason>,
    },
    /// Other transactions take the gas of the block.
    #[error("the next block is full")]
    NoRoom,
    /// A nonce that the account does not have when the transaction is executed.
    #[error("its nonce is {nonce}, the account's is {expected}")]
    Nonce {
        /// Of the transaction.
        nonce: U256,
        /// Of the account.
        expected: U256,
    },
    /// The sender cannot pay value and gas.
    #[error("the balance of its sender does not pay for value and gas")]
    Balance,
    /// It needs a part of the Bridge that is not implemented.
    #[error("it needs a part of the bridge that is not implemented: {part}")]
    BridgePart {
        /// The method, or the cell that has a value of a later stage.
        part: &'static str,
    },
    /// A gas price that the block does not accept.
    #[error("its gas price of {price} does not fit the block's minimum of {minimum}")]
    Price {
        /// Of the transaction.
        price: U256,
        /// Minimum of the block.
        minimum: U256,
    },
    /// Fields that no block accepts.
    #[error("its fields are not valid in a block")]
    Fields,
    /// No valid block can hold it.
    #[error("no block can hold it: {reason}")]
    Unexecutable {
        /// What the execution said.
        reason: String,
    },
}

impl WaitReason {
    /// Whether the transaction leaves the pool when a block is made. Otherwise it may fit into a later one.
    pub fn is_final(&self) -> bool {
        matches!(self, Self::Price { .. } | Self::Fields | Self::Unexecutable { .. })
    }

    /// What the refusal of an execution means for a waiting transaction; failures of the node stay errors.
    pub(super) fn of_refusal(error: ExecError) -> Result<Self, ExecError> {
        match error {
            ExecError::Refused { reason, .. } => Ok(match reason {
                TransactionRefusal::BlockGas { .. } => Self::NoRoom,
                TransactionRefusal::Nonce { nonce, expected } => Self::Nonce { nonce, expected },
                TransactionRefusal::Balance => Self::Balance,
                refusal => Self::Unexecutable { reason: refusal.to_string() },
            }),
            ExecError::Unexecutable { reason, .. } => Ok(Self::Unexecutable { reason: reason.to_string() }),
            ExecError::BridgePart { part, .. } => Ok(Self::BridgePart { part }),
            failure => Err(failure),
        }
    }
}

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

/// Why the transactions of a pool are not in a block that was made of it.
pub struct WaitReasons<'a> {
    taken: HashSet<B256>,
    skipped: HashMap<B256, &'a WaitReason>,
    /// The first transaction of each sender that was left out: those behind it were not looked at.
    first: HashMap<Address, &'a SkippedTransaction>,
}

impl<'a> WaitReasons<'a> {
    /// From what a block holds and what it left out.
    pub fn new(block: &Block, skipped: &'a [SkippedTransaction]) -> Self {
        Self {
            taken: block.transactions.iter().map(Transaction::hash).collect(),
            skipped: skipped.iter().map(|left| (left.hash, &left.reason)).collect(),
            first: skipped.iter().map(|left| (left.sender, left)).collect(),
        }
    }

    /// The reason for which a pending transaction is not in the block. `None` when it is in the block.
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
