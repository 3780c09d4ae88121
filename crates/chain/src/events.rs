use std::sync::Arc;

use parking_lot::RwLock;
use rhizome_primitives::B256;

use crate::mining::skipped_transaction::SkippedTransaction;

/// Change of the chain or of the pool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChainEvent {
    /// The best block has changed.
    NewHead {
        /// Its number.
        number: u64,
        /// Its hash.
        hash: B256,
        /// Blocks that joined the best chain, lowest first. Empty when the chain went back.
        enacted: Vec<B256>,
        /// Blocks that left it, highest first.
        retracted: Vec<B256>,
    },
    /// The pool took a transaction, pending or queued.
    TransactionAdmitted {
        /// Its hash.
        hash: B256,
        /// Its source.
        origin: TransactionOrigin,
    },
    /// A transaction can be mined now.
    PendingTransaction {
        /// Its hash.
        hash: B256,
        /// Its source, or that of the transaction that unlocked it.
        origin: TransactionOrigin,
    },
    /// A block was mined without a transaction that waits. ReportedReasons once for each reason.
    TransactionSkipped(SkippedTransaction),
}

/// Source of a pending transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransactionOrigin {
    /// A caller of this node.
    Caller,
    /// A change of the head: its block left the best chain, or another block unlocked it.
    HeadChange,
    /// A peer, by the key of its connection.
    Peer(usize),
    /// Another node of the fleet.
    Fleet,
}

type ChainListener = Arc<dyn Fn(&ChainEvent) + Send + Sync>;

/// The listeners of a chain.
#[derive(Default)]
pub(crate) struct ChainListeners(RwLock<Vec<ChainListener>>);

impl ChainListeners {
    pub(crate) fn add(&self, listener: Box<dyn Fn(&ChainEvent) + Send + Sync>) {
        self.0.write().push(listener.into());
    }

    /// Calls every listener on this thread. The importer calls it after publication, in the order of the events. A listener must
    /// neither block nor write.
    pub(crate) fn emit(&self, event: &ChainEvent) {
        // A copy, so that a listener may add a listener.
        let listeners = self.0.read().clone();
        for listener in listeners {
            listener(event);
        }
    }
}
