//! State that all tasks of a fleet share: settings, chain, counters, and the failure that is reported.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rhizome_chain::Chain;
use rhizome_primitives::{B256, Transaction};
use tokio::sync::Notify;

use crate::block_import::ImportInput;
use crate::changes::{ChangeSource, ChangeStatus};
use crate::error::FleetError;
use crate::head_table::{FleetNode, HeadTable};
use crate::names::ChainNames;
use crate::options::{FleetOptions, FleetRole};
use crate::transactions::AcceptedTransactions;

/// Takes a transaction of another node into the pool. Returns whether the pool took it.
pub(crate) type TransactionSink = Box<dyn Fn(Transaction) -> bool + Send + Sync>;

/// Counters of the block log. They start with the node.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct LogCounts {
    /// Blocks that this node added.
    pub published: u64,
    /// Blocks that were in the log already.
    pub refused: u64,
    /// Messages that this node read.
    pub received: u64,
    /// Messages that are not a block.
    pub damaged: u64,
    /// Blocks that break a rule.
    pub invalid: u64,
    /// Blocks that wait for their parent.
    pub waiting: u64,
    /// Sequence number up to which all messages are handled.
    pub place: u64,
    /// Sequence number of the last message that arrived.
    pub last: u64,
    /// Logs that were created again while this node knew an earlier one.
    pub renewed: u64,
}

/// Counters of transactions. They start with the node.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct TransactionCounts {
    /// Transactions that this node sent to the others.
    pub sent: u64,
    /// Transactions of other nodes that the pool took.
    pub taken: u64,
    /// Transactions of other nodes that the pool rejected, known ones included.
    pub rejected: u64,
    /// Messages that are not a transaction.
    pub damaged: u64,
}

/// Restores of a replica that the block log has passed by.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct RestoreStatus {
    /// Restores since the start of the node.
    pub completed: u64,
    /// Bytes of the checkpoint that are there; 0 while none is restored.
    pub done: u64,
    /// Bytes of the checkpoint.
    pub total: u64,
    /// Why the last attempt failed.
    pub failure: Option<String>,
}

/// The fleet as this node sees it.
#[derive(Debug, Clone)]
pub struct FleetStatus {
    /// Part of this node.
    pub role: FleetRole,
    /// Whether the connection is up and its streams are there.
    pub is_connected: bool,
    /// Why the node is not fully part of the fleet.
    pub failure: Option<String>,
    /// Time for which there has been a failure.
    pub failing: Option<Duration>,
    /// Fault of the last damaged or invalid message.
    pub last_fault: Option<String>,
    /// Whether this node lacks the best head of the fleet for more than a second, or has not had it since its start.
    pub is_behind: bool,
    /// Whether the log has lost blocks that this node needs.
    pub has_gap: bool,
    /// Restores of checkpoints.
    pub restore: RestoreStatus,
    /// The block log.
    pub log: LogCounts,
    /// Transactions.
    pub transactions: TransactionCounts,
    /// The stream of changes; `None` if this node does not publish it.
    pub changes: Option<ChangeStatus>,
    /// All nodes that announced a head, by name; this one included.
    pub nodes: Vec<FleetNode>,
}

/// Why the node is not fully part of the fleet.
#[derive(Default)]
struct Failures {
    session: Option<String>,
    import: Option<String>,
    since: Option<Instant>,
}

impl Failures {
    fn set(&mut self, change: impl FnOnce(&mut Self)) {
        change(self);
        let is_failing = self.session.is_some() || self.import.is_some();
        self.since = if is_failing { self.since.or_else(|| Some(Instant::now())) } else { None };
    }

    /// Returns the failure that matters more, and the time for which there has been one.
    fn current(&self) -> (Option<String>, Option<Duration>) {
        (self.session.clone().or_else(|| self.import.clone()), self.since.map(|since| since.elapsed()))
    }
}

/// State of a fleet.
pub(crate) struct FleetState {
    pub(crate) options: FleetOptions,
    pub(crate) chain: Arc<Chain>,
    pub(crate) names: ChainNames,
    pub(crate) heads: HeadTable,
    pub(crate) sink: TransactionSink,
    /// Notified when a block was stored.
    pub(crate) stored: Notify,
    /// Notified when the head has changed.
    pub(crate) moved: Notify,
    /// Notified when the blocks behind the place must be read again.
    pub(crate) reread: Notify,
    /// Notified when the head has changed, for the stream of changes.
    pub(crate) changed: Notify,
    /// `None`: this node does not publish changes.
    pub(crate) changes: Option<Arc<ChangeSource>>,
    pub(crate) input: ImportInput,
    pub(crate) accepted: AcceptedTransactions,
    pub(crate) is_stopping: AtomicBool,
    pub(crate) has_gap: AtomicBool,
    pub(crate) restore: Mutex<RestoreStatus>,
    is_connected: AtomicBool,
    failures: Mutex<Failures>,
    last_fault: Mutex<Option<String>>,
    change_status: Mutex<ChangeStatus>,
    pub(crate) log: Mutex<LogCounts>,
    pub(crate) transactions: Mutex<TransactionCounts>,
}

impl FleetState {
    pub(crate) fn new(
        options: FleetOptions,
        chain: Arc<Chain>,
        genesis: &B256,
        sink: TransactionSink,
        changes: Option<ChangeSource>,
        input: ImportInput,
    ) -> Self {
        Self {
            heads: HeadTable::new(options.name.clone()),
            options,
            chain,
            names: ChainNames::new(genesis),
            sink,
            stored: Notify::new(),
            moved: Notify::new(),
            reread: Notify::new(),
            changed: Notify::new(),
            changes: changes.map(Arc::new),
            input,
            accepted: AcceptedTransactions::default(),
            is_stopping: AtomicBool::new(false),
            has_gap: AtomicBool::new(false),
            restore: Mutex::default(),
            is_connected: AtomicBool::new(false),
            failures: Mutex::default(),
            last_fault: Mutex::default(),
            change_status: Mutex::default(),
            log: Mutex::default(),
            transactions: Mutex::default(),
        }
    }

    /// Reports that the session is up, or why it is not.
    pub(crate) fn set_session(&self, result: Result<(), &FleetError>) {
        self.is_connected.store(result.is_ok(), Ordering::Release);
        self.failures.lock().set(|failures| failures.session = result.err().map(ToString::to_string));
    }

    /// Reports why the import has stopped; `None` while it runs.
    pub(crate) fn set_import_failure(&self, failure: Option<&FleetError>) {
        self.failures.lock().set(|failures| failures.import = failure.map(ToString::to_string));
    }

    /// Reports a damaged or invalid message.
    pub(crate) fn report_fault(&self, text: String) {
        *self.last_fault.lock() = Some(text);
    }

    pub(crate) fn count(&self, change: impl FnOnce(&mut LogCounts)) {
        change(&mut self.log.lock());
    }

    pub(crate) fn count_transactions(&self, change: impl FnOnce(&mut TransactionCounts)) {
        change(&mut self.transactions.lock());
    }

    pub(crate) fn count_changes(&self, change: impl FnOnce(&mut ChangeStatus)) {
        change(&mut self.change_status.lock());
    }

    pub(crate) fn status(&self) -> FleetStatus {
        let (failure, failing) = self.failures.lock().current();
        FleetStatus {
            role: self.options.role,
            is_connected: self.is_connected.load(Ordering::Acquire),
            failure,
            failing,
            last_fault: self.last_fault.lock().clone(),
            is_behind: self.heads.is_behind(&self.chain),
            has_gap: self.has_gap.load(Ordering::Acquire),
            restore: self.restore.lock().clone(),
            log: *self.log.lock(),
            transactions: *self.transactions.lock(),
            changes: self.changes.is_some().then(|| self.change_status.lock().clone()),
            nodes: self.heads.nodes(&self.chain, &self.options),
        }
    }
}
