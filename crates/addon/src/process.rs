//! Node of the process, shared by all its threads.

use crate::cancellation::CancellationTokens;
use crate::changes::{self, Listeners};
use crate::config::NodeConfig;
use crate::memory_purge::MemoryPurge;
use crate::miner::TimedMiner;
use crate::pool::Pool;
use crate::sending::SendQueue;
use arc_swap::{ArcSwap, ArcSwapOption};
use parking_lot::Mutex;
use rhizome_answers::replica_restore::ReplicaRestore;
use rhizome_answers::{ForkedChain, Node, RpcError};
use rhizome_checkpoints::CopyRequests;
use rhizome_fork::without_requests;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

/// Maximum time that closing waits for running answers.
const CLOSING_SECONDS: u64 = 60;

/// State that outlives a node.
#[derive(Default)]
pub(crate) struct Process {
    running: ArcSwapOption<Running>,
    /// Held while a node opens or closes.
    changing: Mutex<()>,
    /// Listeners for new heads. Listeners stay when the node is closed and opened again.
    pub(crate) heads: Arc<Listeners>,
    /// Listeners for transactions that became executable.
    pub(crate) pending: Arc<Listeners>,
    /// Listeners for transactions that a block left out.
    pub(crate) left_out: Arc<Listeners>,
}

impl Process {
    /// Reports a change of the head, after it is visible, to workers that read the count and to listeners.
    pub(crate) fn notify_heads(&self) {
        changes::count_head_change();
        self.heads.notify();
    }
}

thread_local! {
    /// Whether this thread asks the node over the directory that a fork continues.
    static READS_OLDER_BLOCKS: Cell<bool> = const { Cell::new(false) };
}

/// Directs the requests of this thread to the node over the directory that a fork continues, or back.
pub(crate) fn read_older_blocks(is_on: bool) {
    READS_OLDER_BLOCKS.set(is_on);
}

static PROCESS: LazyLock<Process> = LazyLock::new(Process::default);

/// Open node with its threads.
pub(crate) struct Running {
    pub(crate) config: NodeConfig,
    /// The answering node. A reset may replace it; a request keeps its node.
    pub(crate) current: Arc<ArcSwap<Node>>,
    /// The node of the start, which stays open while a fork answers; `None` if it was a fork itself.
    pub(crate) home: Option<Arc<Node>>,
    /// Held during a reset. Resets wait for the importer of a chain, which never waits for this lock.
    pub(crate) resetting: Mutex<()>,
    pub(crate) pool: Pool,
    /// Separate threads for sent transactions, each of which is short: they never wait behind calls.
    pub(crate) sends: Pool,
    /// Separate threads for traces, which need more time and memory.
    pub(crate) traces: Pool,
    pub(crate) tokens: Arc<CancellationTokens>,
    pub(crate) send_queue: Arc<SendQueue>,
    /// Set when the node closes: long operations end.
    pub(crate) is_closing: Arc<AtomicBool>,
    pub(crate) miner: Option<TimedMiner>,
    /// The thread of a replica that restores checkpoints.
    pub(crate) restore: Mutex<Option<ReplicaRestore>>,
    /// The thread that copies the database for other programs.
    pub(crate) copies: Option<CopyRequests>,
    pub(crate) _memory_purge: Option<MemoryPurge>,
}

impl Running {
    /// Returns the node that answers requests of this thread.
    pub(crate) fn node(&self) -> Arc<Node> {
        let node = self.current.load_full();
        match node.fork().and_then(ForkedChain::local) {
            Some(older) if READS_OLDER_BLOCKS.get() => Arc::clone(older),
            _ => node,
        }
    }
}

/// Returns the state of the process.
pub(crate) fn process() -> &'static Process {
    &PROCESS
}

/// Returns the open node. Fails if none is open.
pub(crate) fn running() -> Result<Arc<Running>, RpcError> {
    PROCESS.running.load_full().ok_or_else(not_open)
}

/// Calls a short function with the open node, without requests to a remote node. Fails if none is open.
pub(crate) fn ask<T>(answer: &dyn Fn(&Node) -> Result<T, RpcError>) -> Result<T, RpcError> {
    let running = PROCESS.running.load();
    let Some(running) = &*running else { return Err(not_open()) };
    let node = running.current.load();
    // Only a fork asks a remote node, and only a fork has older blocks elsewhere.
    if node.fork().is_none() {
        return answer(&node);
    }
    without_requests(|| answer(&running.node()))
}

fn not_open() -> RpcError {
    RpcError::internal("no node is open")
}

/// Opens the node. Fails if one is open.
pub(crate) fn open(start: impl FnOnce() -> Result<Running, RpcError>) -> Result<(), RpcError> {
    let _changing = PROCESS.changing.lock();
    if PROCESS.running.load().is_some() {
        return Err(RpcError::internal("a node is open already"));
    }
    PROCESS.running.store(Some(Arc::new(start()?)));
    changes::count_head_change();
    Ok(())
}

/// Ends all work of the node and closes its database. Does nothing if no node is open.
pub(crate) fn close() -> Result<(), RpcError> {
    let _changing = PROCESS.changing.lock();
    let Some(mut running) = PROCESS.running.swap(None) else { return Ok(()) };
    changes::count_head_change();
    running.is_closing.store(true, Ordering::Relaxed);
    running.tokens.cancel_all();
    let limit = Instant::now() + Duration::from_secs(CLOSING_SECONDS);
    // Threads that loaded the node before the swap drop it soon.
    let running = loop {
        match Arc::try_unwrap(running) {
            Ok(running) => break running,
            Err(shared) => running = shared,
        }
        wait(limit)?;
    };
    let Running { current, home, pool, sends, traces, miner, restore, copies, .. } = running;
    drop((miner, restore, copies, pool, sends, traces));
    let last = current.load_full();
    drop(current);
    let replaced = home.filter(|home| !Arc::ptr_eq(home, &last));
    for mut node in [Some(last), replaced].into_iter().flatten() {
        loop {
            match Arc::try_unwrap(node) {
                Ok(last) => break drop(last),
                Err(shared) => node = shared,
            }
            wait(limit)?;
        }
    }
    Ok(())
}

fn wait(limit: Instant) -> Result<(), RpcError> {
    if Instant::now() >= limit {
        return Err(RpcError::internal("the node is still at work"));
    }
    std::thread::sleep(Duration::from_millis(1));
    Ok(())
}
