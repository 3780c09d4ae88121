use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use arc_swap::ArcSwap;

use crate::archive::Archive;
use crate::archive::derived_trie::TrieSnapshot;
use crate::archive::record::BlockRecord;
use crate::events::{ChainEvent, ChainListeners, TransactionOrigin};
use crate::head::Head;
use crate::head::branch_change::{self, BranchChange};
use crate::txpool::{PoolHead, TransactionPool};

/// The published head with everything that follows it: the pool and the listeners. Only the importer publishes.
pub(crate) struct HeadPublisher {
    archive: Arc<Archive>,
    head: ArcSwap<Head>,
    pool: TransactionPool,
    listeners: ChainListeners,
    /// Number of changes to the blocks beside the best chain. Each may be another uncle of the next block.
    side_changes: AtomicU64,
    /// Number of replacements of the state after a block.
    state_changes: AtomicU64,
    is_provisional: AtomicBool,
}

/// A command that moves the head several times, and may put it back.
pub(crate) struct ProvisionalHeads<'a>(&'a HeadPublisher);

impl Drop for ProvisionalHeads<'_> {
    fn drop(&mut self) {
        self.0.is_provisional.store(false, Ordering::Release);
        let (enacted, retracted, head) = (Vec::new(), Vec::new(), self.0.head());
        self.0.listeners.emit(&ChainEvent::NewHead { number: head.number(), hash: head.hash(), enacted, retracted });
    }
}

impl HeadPublisher {
    pub(crate) fn new(archive: Arc<Archive>, head: Head, pool: TransactionPool) -> Self {
        Self {
            archive,
            head: ArcSwap::from_pointee(head),
            pool,
            listeners: ChainListeners::default(),
            side_changes: AtomicU64::new(0),
            state_changes: AtomicU64::new(0),
            is_provisional: AtomicBool::new(false),
        }
    }

    /// Begins a command whose heads are provisional. The end of the returned guard is reported like a new head without blocks.
    pub(crate) fn begin_provisional(&self) -> ProvisionalHeads<'_> {
        self.is_provisional.store(true, Ordering::Release);
        ProvisionalHeads(self)
    }

    /// Whether a command may still put back the head of before.
    pub(crate) fn is_provisional(&self) -> bool {
        self.is_provisional.load(Ordering::Acquire)
    }

    /// Returns the best block. Never blocks.
    pub(crate) fn head(&self) -> Arc<Head> {
        self.head.load_full()
    }

    pub(crate) fn pool(&self) -> &TransactionPool {
        &self.pool
    }

    pub(crate) fn listeners(&self) -> &ChainListeners {
        &self.listeners
    }

    /// Makes another best block visible: first the head, then the pool, then the listeners. The pool takes back the
    /// transactions of the `returned` blocks.
    pub(crate) fn publish(
        &self,
        record: Arc<BlockRecord>,
        generation: u64,
        snapshot: Arc<TrieSnapshot>,
        change: &BranchChange,
        returned: &[Arc<BlockRecord>],
    ) {
        let (number, hash) = (record.number(), record.hash);
        let pool_head = self.replace_head(record, generation, snapshot);
        let now_pending = self.pool.follow(pool_head, &change.enacted, returned);
        self.listeners.emit(&ChainEvent::NewHead {
            number,
            hash,
            enacted: branch_change::hashes(&change.enacted),
            retracted: branch_change::hashes(&change.retracted),
        });
        for hash in now_pending {
            self.listeners.emit(&ChainEvent::PendingTransaction { hash, origin: TransactionOrigin::HeadChange });
        }
    }

    /// Makes another state after the best block visible. The block stays the same.
    pub(crate) fn publish_state(&self, record: Arc<BlockRecord>, generation: u64, snapshot: Arc<TrieSnapshot>) {
        let pool_head = self.replace_head(record, generation, snapshot);
        for hash in self.pool.follow_state(pool_head) {
            self.listeners.emit(&ChainEvent::PendingTransaction { hash, origin: TransactionOrigin::HeadChange });
        }
    }

    /// Returns the head in the form that the pool takes.
    fn replace_head(&self, record: Arc<BlockRecord>, generation: u64, snapshot: Arc<TrieSnapshot>) -> PoolHead {
        let head = Arc::new(Head::new(Arc::clone(&record), generation, &self.archive, snapshot));
        let pool_head = PoolHead { record, state: head.state() };
        self.head.store(head);
        pool_head
    }

    /// Outdates pending blocks: the set of possible uncles has changed.
    pub(crate) fn note_side_change(&self) {
        self.side_changes.fetch_add(1, Ordering::AcqRel);
    }

    /// Outdates block templates: their state is no longer that of their parent.
    pub(crate) fn note_state_change(&self) {
        self.state_changes.fetch_add(1, Ordering::AcqRel);
    }

    /// Changes with each block stored beside the best chain.
    pub(crate) fn side_version(&self) -> u64 {
        self.side_changes.load(Ordering::Acquire)
    }

    /// Changes with each replacement of the state after a block.
    pub(crate) fn state_version(&self) -> u64 {
        self.state_changes.load(Ordering::Acquire)
    }
}
