//! Opens, closes and describes the node; registers listeners; cancels executions.

use crate::changes;
use crate::config::NodeConfig;
use crate::deferred::{promise, settle};
use crate::executors::{guarded, sync};
use crate::forking;
use crate::huge_pages;
use crate::memory_purge::MemoryPurge;
use crate::miner::TimedMiner;
use crate::optimizations::optimizations;
use crate::pool::Pool;
use crate::process::{self, Running};
use crate::reply::{Reply, refusal};
use arc_swap::ArcSwap;
use napi::bindgen_prelude::{Function, Object, Uint32Array};
use napi::{Env, Result};
use napi_derive::napi;
use parking_lot::Mutex;
use rhizome_answers::mining_schedule::MiningSchedule;
use rhizome_answers::options::MiningMode;
use rhizome_answers::{ForkedChain, Node, RpcError, node_figures, node_info};
use rhizome_chain::{Chain, ChainError, ChainEvent, DataDir};
use rhizome_checkpoints::CopyRequests;
use std::path::Path;
use std::sync::Arc;

/// Opens the node of this process. Takes its settings as JSON, returns the result of `nodeInfo`.
#[napi(catch_unwind, ts_return_type = "string")]
pub fn open_node(config: String) -> Result<Reply> {
    optimizations().check().map_err(refusal)?;
    process::open(|| start(NodeConfig::parse(&config)?)).map_err(refusal)?;
    node_info()
}

/// Cancels running work, writes all data to disk and closes the database. Then a node may be opened again.
#[napi(catch_unwind, ts_return_type = "Promise<string>")]
pub fn close_node(env: &Env) -> Result<Object<'_>> {
    let (reply, promise) = promise(env)?;
    alone("rhizome-close", move || {
        settle(reply, guarded(|| process::close().map(|()| b"null".to_vec())));
    })?;
    Ok(promise)
}

/// Returns network, chain id, genesis, head, highest block and size on disk.
#[napi(catch_unwind, ts_return_type = "string")]
pub fn node_info() -> Result<Reply> {
    sync(node_info::answer)
}

/// Returns statistics of the node: head, pool, executors, database. Reads memory only.
#[napi(catch_unwind, ts_return_type = "string")]
pub fn node_figures() -> Result<Reply> {
    let running = process::running().map_err(refusal)?;
    let executors = [running.pool.figures("pool"), running.sends.figures("send"), running.traces.figures("trace")];
    sync(|node| node_figures::answer(node, &executors))
}

/// Ends the execution of a cancellation token. Does nothing if it has ended.
#[napi(catch_unwind)]
pub fn cancel_execution(token: i64) -> Result<()> {
    if let Ok(running) = process::running() {
        running.tokens.cancel(token);
    }
    Ok(())
}

/// Sets the listener of this worker for changes of the head, in place of an earlier listener. Changes in quick succession
/// cause a single call. Does not keep the worker running.
#[napi(catch_unwind, ts_args_type = "callback: () => void")]
pub fn on_head(env: &Env, callback: Function<'_, (), ()>) -> Result<()> {
    process::process().heads.set(env, &callback)
}

/// Returns the memory of the number of changes of the head: one word, which grows behind each change.
#[napi(catch_unwind)]
pub fn head_change_count() -> Uint32Array {
    changes::head_change_count()
}

/// Sets the listener of this worker for transactions that became executable.
#[napi(catch_unwind, ts_args_type = "callback: () => void")]
pub fn on_pending(env: &Env, callback: Function<'_, (), ()>) -> Result<()> {
    process::process().pending.set(env, &callback)
}

/// Sets the listener of this worker for transactions that a block left out.
#[napi(catch_unwind, ts_args_type = "callback: () => void")]
pub fn on_left_out(env: &Env, callback: Function<'_, (), ()>) -> Result<()> {
    process::process().left_out.set(env, &callback)
}

/// Runs work on a new thread.
pub(crate) fn alone(name: &str, work: impl FnOnce() + Send + 'static) -> Result<()> {
    let thread = std::thread::Builder::new().name(name.into()).spawn(work);
    thread.map(drop).map_err(|error| refusal(RpcError::internal(error)))
}

fn start(config: NodeConfig) -> std::result::Result<Running, RpcError> {
    let fork = forking::of_settings(&config)?;
    let is_fork = fork.is_some();
    huge_pages::allow(config.has_spare_memory());
    let node = Arc::new(open(&config, fork, None)?);
    let (threads, waiting) = config.pool();
    let pool = Pool::start("pool", threads, waiting).map_err(RpcError::internal)?;
    let sends = Pool::start("send", threads, waiting).map_err(RpcError::internal)?;
    let traces = Pool::start("trace", threads.div_ceil(2), waiting).map_err(RpcError::internal)?;
    // Development networks can set the interval later.
    let is_development = node.chain().spec().is_development();
    let is_mining_by_time = is_development || matches!(node.options().mining, MiningMode::Interval { .. });
    let current = Arc::new(ArcSwap::new(Arc::clone(&node)));
    let miner = is_mining_by_time.then(|| TimedMiner::start(Arc::clone(&current), Arc::clone(node.mining())));
    let miner = miner.transpose().map_err(RpcError::internal)?;
    let copies = serve_copies(&node)?;
    Ok(Running {
        config,
        current,
        home: (!is_fork).then_some(node),
        resetting: Mutex::default(),
        pool,
        sends,
        traces,
        tokens: Arc::default(),
        send_queue: Arc::default(),
        is_closing: Arc::default(),
        miner,
        restore: Mutex::default(),
        copies,
        _memory_purge: MemoryPurge::start(),
    })
}

/// Copies the database for other programs; `None` for a temporary one.
fn serve_copies(node: &Arc<Node>) -> std::result::Result<Option<CopyRequests>, RpcError> {
    let DataDir::Path(dir) = &node.chain().config().data_dir else { return Ok(None) };
    // Weak: the node closes while the thread waits for the next request.
    let node = Arc::downgrade(node);
    let copy = move |path: &Path| match node.upgrade() {
        Some(node) => node.chain().checkpoint(path),
        None => Err(ChainError::ImporterStopped),
    };
    CopyRequests::start(dir.clone(), copy).map(Some).map_err(RpcError::internal)
}

/// Opens a node: a fork of a chain, or the chain of the settings. `mining`: the mining schedule of an earlier node of this process.
pub(crate) fn open(
    config: &NodeConfig,
    fork: Option<ForkedChain>,
    mining: Option<Arc<MiningSchedule>>,
) -> std::result::Result<Node, RpcError> {
    let chain = Chain::open(config.chain(fork.as_ref())?)?;
    chain.set_automine(true);
    let is_development = chain.spec().is_development();
    let accounts = config.accounts(is_development)?;
    let mut node = Node::with_accounts(Arc::clone(&chain), config.answers(is_development), accounts)?;
    if let Some(fork) = fork {
        node = node.with_fork(fork);
    }
    if let Some(mining) = mining {
        node = node.with_mining(mining);
    }
    // Registered after the node's own listener, which fills the feeds: a notified worker finds the change there.
    let (process, source) = (process::process(), Arc::downgrade(&chain));
    chain.on_event(Box::new(move |event| match event {
        ChainEvent::TransactionSkipped(_) => process.left_out.notify(),
        ChainEvent::TransactionAdmitted { .. } => {}
        // A notified worker would read blocks that may be deleted again, and then the old ones as new.
        _ if source.upgrade().is_some_and(|chain| chain.is_provisional()) => {}
        ChainEvent::NewHead { .. } => process.notify_heads(),
        ChainEvent::PendingTransaction { .. } => process.pending.notify(),
    }));
    Ok(node)
}
