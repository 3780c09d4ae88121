//! The thread that feeds the blocks of the log to the importer, children behind their parents, and keeps the place.

use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::iter;
use std::ops::ControlFlow;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use rhizome_chain::{FleetLog, ImportOutcome, InvalidBlock, LogPlace, OrphanBlocks, PreparedBlock};
use rhizome_pow::HeaderRuleError;
use rhizome_primitives::B256;
use tokio::runtime::Handle;
use tokio::sync::mpsc::{Receiver, Sender, channel};

use crate::block_message::MessageFault;
use crate::error::FleetError;
use crate::fleet_state::FleetState;
use crate::receipt_order::ReceiptOrder;

/// Messages that wait for the thread.
const WAITING: usize = 64;
/// Time between two looks for results while no message arrives.
const REPORT_TIME: Duration = Duration::from_millis(2);
/// Time without a message after which the place is written.
const IDLE_TIME: Duration = Duration::from_millis(200);
/// Time that a block may wait for its parent after the end of the log was reached.
const PARENT_TIME: Duration = Duration::from_secs(2);
/// Time after which blocks that could not be imported are read again.
const RETRY_TIME: Duration = Duration::from_secs(3);
/// Blocks below the head that still wait for a parent. Above all branches that can win.
const ORPHAN_DEPTH: u64 = 4_096;
/// Invalid blocks that are remembered.
const MAX_INVALID: usize = 1_024;

/// A message for the thread.
pub(crate) enum ImportMessage {
    /// The log is read from behind this place on. Earlier blocks that were not imported come again.
    Begin(LogPlace),
    Block(DecodedBlock),
    /// All messages of the log were passed on.
    CaughtUp,
}

/// A message of the log.
pub(crate) struct DecodedBlock {
    pub(crate) sequence: u64,
    pub(crate) subject: String,
    pub(crate) block: Result<Box<PreparedBlock>, MessageFault>,
}

/// The way to the thread.
pub(crate) struct ImportInput(Sender<ImportMessage>);

impl ImportInput {
    pub(crate) fn new() -> (Self, Receiver<ImportMessage>) {
        let (sender, receiver) = channel(WAITING);
        (Self(sender), receiver)
    }

    /// Passes a message on, and waits for room. Fails only while the fleet stops.
    pub(crate) async fn send(&self, message: ImportMessage) {
        drop(self.0.send(message).await);
    }
}

/// Note of a block under way through the importer.
#[derive(Clone, Copy)]
struct LogBlock {
    sequence: u64,
    hash: B256,
    number: u64,
}

/// Imports until the fleet stops.
pub(crate) fn run(state: &FleetState, messages: &mut Receiver<ImportMessage>, runtime: &Handle) {
    let import = RefCell::new(LogImport::new(state));
    let is_stopping = || state.is_stopping.load(Ordering::Acquire);
    while !is_stopping() {
        let feed = iter::from_fn(|| {
            loop {
                if is_stopping() || import.borrow().next_place.is_some() {
                    return None;
                }
                if let Some(block) = import.borrow_mut().next_ready() {
                    return Some(Some(block));
                }
                let is_idle = import.borrow().under_way.is_empty();
                let limit = if is_idle { IDLE_TIME } else { REPORT_TIME };
                let received = runtime.block_on(async { tokio::time::timeout(limit, messages.recv()).await });
                match received {
                    Ok(Some(message)) => import.borrow_mut().take(message),
                    // The importer has written all.
                    Ok(None) => return None,
                    Err(_) if is_idle => return None,
                    Err(_) => return Some(None),
                }
            }
        });
        let result = state.chain.import_from_peers(feed, |note, outcome| import.borrow_mut().imported(note, outcome));
        import.borrow_mut().settle(result.err().map(|error| FleetError::Import(error.to_string())));
    }
}

struct LogImport<'a> {
    state: &'a FleetState,
    log: FleetLog,
    place: LogPlace,
    /// Place behind which the log is read from now on, when no block is under way any more.
    next_place: Option<LogPlace>,
    order: ReceiptOrder,
    /// Blocks whose parent is stored or under way.
    ready: VecDeque<(LogBlock, PreparedBlock)>,
    under_way: HashMap<B256, LogBlock>,
    /// Blocks without a parent, by their sequence number.
    orphans: OrphanBlocks<u64>,
    waiting: HashMap<B256, LogBlock>,
    /// Hashes of invalid blocks, the oldest first.
    invalid: VecDeque<B256>,
    has_caught_up: bool,
    /// Whether blocks were dropped that must be read again.
    has_dropped: bool,
    /// Whether a block was stored since the log is read.
    has_progress: bool,
    /// Blocks are dropped until the log is read again.
    must_reread: bool,
    /// Since when blocks wait for a parent that the log does not have.
    gap_since: Option<Instant>,
    /// When the log is read again after a failure.
    retry_at: Option<Instant>,
}

impl<'a> LogImport<'a> {
    fn new(state: &'a FleetState) -> Self {
        Self {
            state,
            log: state.chain.block_log(),
            place: LogPlace { log: 0, sequence: 0 },
            next_place: None,
            order: ReceiptOrder::default(),
            ready: VecDeque::new(),
            under_way: HashMap::new(),
            orphans: OrphanBlocks::default(),
            waiting: HashMap::new(),
            invalid: VecDeque::new(),
            has_caught_up: false,
            has_dropped: false,
            has_progress: false,
            must_reread: true,
            gap_since: None,
            retry_at: None,
        }
    }

    fn take(&mut self, message: ImportMessage) {
        match message {
            ImportMessage::Begin(place) => self.next_place = Some(place),
            ImportMessage::CaughtUp => self.has_caught_up = true,
            ImportMessage::Block(_) if self.must_reread => {}
            ImportMessage::Block(DecodedBlock { sequence, subject, block }) => {
                self.order.received(sequence);
                self.state.count(|counts| {
                    counts.received += 1;
                    counts.last = sequence;
                });
                match block {
                    Ok(block) => self.sort(sequence, *block),
                    Err(fault) => {
                        self.state.count(|counts| counts.damaged += 1);
                        self.state.report_fault(format!("message {sequence} of the block log ({subject}): {fault}"));
                        self.finish(sequence);
                    }
                }
            }
        }
    }

    fn begin(&mut self, place: LogPlace) {
        self.place = place;
        self.log.set_place(place);
        self.state.count(|counts| counts.place = place.sequence);
        self.order.begin(place.sequence);
        self.ready.clear();
        self.orphans = OrphanBlocks::default();
        self.waiting.clear();
        (self.has_caught_up, self.has_dropped, self.has_progress, self.must_reread) = (false, false, false, false);
        (self.gap_since, self.retry_at) = (None, None);
        self.state.has_gap.store(false, Ordering::Release);
        self.state.set_import_failure(None);
    }

    /// Puts a block behind its parent.
    fn sort(&mut self, sequence: u64, block: PreparedBlock) {
        let header = &block.block().header;
        let note = LogBlock { sequence, hash: block.hash(), number: header.number };
        let Some(parent) = header.parent() else { return self.finish(sequence) };
        if self.invalid.contains(&note.hash) || self.waiting.contains_key(&note.hash) {
            return self.finish(sequence);
        }
        let is_coming =
            |hash: &B256| self.under_way.contains_key(hash) || self.ready.iter().any(|(one, _)| one.hash == *hash);
        let stored = self.log.has_block(&note.hash).and_then(|known| Ok((known, self.log.has_block(&parent)?)));
        match stored {
            Err(error) => self.fail(&error.into()),
            Ok((true, _)) => {
                self.finish(sequence);
                self.release_descendants(note.hash);
            }
            Ok(_) if is_coming(&note.hash) => self.finish(sequence),
            Ok((_, true)) => self.make_ready(note, block),
            Ok(_) if is_coming(&parent) => self.make_ready(note, block),
            Ok(_) if self.invalid.contains(&parent) => self.reject(note, "its parent is invalid"),
            Ok(_) => self.wait(note, block),
        }
    }

    fn wait(&mut self, note: LogBlock, block: PreparedBlock) {
        self.waiting.insert(note.hash, note);
        self.orphans.insert(block, note.sequence, self.state.chain.head().number());
        let orphans = &self.orphans;
        let before = self.waiting.len();
        // Those without room stay unfinished: they are read again later.
        self.waiting.retain(|hash, _| orphans.contains(hash));
        self.has_dropped |= self.waiting.len() < before;
        self.count_waiting();
    }

    /// Queues a block whose parent is stored or under way.
    fn make_ready(&mut self, note: LogBlock, block: PreparedBlock) {
        self.ready.push_back((note, block));
        self.release_descendants(note.hash);
    }

    /// Queues the blocks that wait for a block, each behind its parent. If they waited until that block is stored, all blocks that come
    /// meanwhile would wait, too, and would be imported one by one.
    fn release_descendants(&mut self, hash: B256) {
        let mut parents = vec![hash];
        while let Some(parent) = parents.pop() {
            for (block, sequence) in self.orphans.take_children(&parent) {
                let child = LogBlock { sequence, hash: block.hash(), number: block.block().header.number };
                self.waiting.remove(&child.hash);
                parents.push(child.hash);
                self.ready.push_back((child, block));
            }
        }
        self.count_waiting();
    }

    fn next_ready(&mut self) -> Option<(LogBlock, PreparedBlock)> {
        let (note, block) = self.ready.pop_front()?;
        self.under_way.insert(note.hash, note);
        Some((note, block))
    }

    fn imported(&mut self, note: LogBlock, outcome: ImportOutcome) -> ControlFlow<()> {
        self.under_way.remove(&note.hash);
        match outcome {
            ImportOutcome::ImportedBest | ImportOutcome::ImportedNotBest | ImportOutcome::Exists => {
                (self.has_progress, self.gap_since) = (true, None);
                self.finish(note.sequence);
                return ControlFlow::Continue(());
            }
            ImportOutcome::NoParent => self.retry(),
            ImportOutcome::Invalid(InvalidBlock::Header(HeaderRuleError::InTheFuture { .. })) => {
                self.fail(&FleetError::Future { number: note.number, hash: note.hash.to_string() });
            }
            ImportOutcome::Invalid(reason) => self.reject(note, &reason.to_string()),
        }
        ControlFlow::Break(())
    }

    /// Remembers an invalid block, and drops its waiting descendants.
    fn reject(&mut self, note: LogBlock, reason: &str) {
        let LogBlock { sequence, hash, number } = note;
        self.state.count(|counts| counts.invalid += 1);
        self.state.report_fault(format!("message {sequence} of the block log: block {number} ({hash}): {reason}"));
        if self.invalid.len() >= MAX_INVALID {
            self.invalid.pop_front();
        }
        self.invalid.push_back(hash);
        self.finish(sequence);
        for (block, sequence) in self.orphans.take_children(&hash) {
            let child = LogBlock { sequence, hash: block.hash(), number: block.block().header.number };
            self.waiting.remove(&child.hash);
            self.reject(child, "its parent is invalid");
        }
        self.count_waiting();
    }

    fn finish(&mut self, sequence: u64) {
        self.order.finished(sequence);
        let place = LogPlace { sequence: self.order.place(), ..self.place };
        if place != self.place {
            self.place = place;
            self.log.set_place(place);
            self.state.count(|counts| counts.place = place.sequence);
        }
    }

    /// Reports a failure of this node, and plans another attempt.
    fn fail(&mut self, error: &FleetError) {
        self.state.set_import_failure(Some(error));
        self.retry();
    }

    fn retry(&mut self) {
        self.retry_at.get_or_insert_with(|| Instant::now() + RETRY_TIME);
    }

    /// Looks after blocks that were not imported, when none is under way any more.
    fn settle(&mut self, failure: Option<FleetError>) {
        if let Some(failure) = failure {
            self.fail(&failure);
        }
        // Those behind a block that was not imported.
        let was_broken = !self.under_way.is_empty();
        self.under_way.clear();
        if let Err(error) = self.log.write_place() {
            self.fail(&error.into());
        }
        if let Some(place) = self.next_place.take() {
            return self.begin(place);
        }
        if self.must_reread {
            return;
        }
        let now = Instant::now();
        let is_due = self.retry_at.is_some_and(|at| at <= now);
        if is_due || (was_broken && self.retry_at.is_none()) {
            return self.reread();
        }
        if self.retry_at.is_none() && self.has_caught_up && self.ready.is_empty() {
            self.find_gap(now);
        }
    }

    /// Reports blocks that wait for a parent although all of the log was read.
    fn find_gap(&mut self, now: Instant) {
        if self.has_dropped && self.has_progress {
            return self.reread();
        }
        let depth = self.state.chain.head().number().saturating_sub(ORPHAN_DEPTH);
        let late: Vec<LogBlock> = self.waiting.values().filter(|block| block.number < depth).copied().collect();
        for block in late {
            self.waiting.remove(&block.hash);
            self.finish(block.sequence);
        }
        self.orphans.drop_below(depth);
        self.count_waiting();
        let Some(lowest) = self.waiting.values().min_by_key(|block| block.number) else {
            self.gap_since = None;
            self.state.has_gap.store(false, Ordering::Release);
            return self.state.set_import_failure(None);
        };
        let since = *self.gap_since.get_or_insert(now);
        if now.duration_since(since) >= PARENT_TIME {
            let parent = self.orphans.missing_ancestor(&lowest.hash).unwrap_or_default().to_string();
            let gap = FleetError::Gap { number: lowest.number, hash: lowest.hash.to_string(), parent };
            self.state.set_import_failure(Some(&gap));
            self.state.has_gap.store(true, Ordering::Release);
        }
    }

    fn reread(&mut self) {
        self.must_reread = true;
        self.state.reread.notify_one();
    }

    fn count_waiting(&self) {
        self.state.count(|counts| counts.waiting = self.waiting.len() as u64);
    }
}
