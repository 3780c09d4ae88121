//! Operations on many blocks: import, export, rewind, pruning, verification. Each runs on a separate thread.

use crate::config::NodeConfig;
use crate::deferred::{promise, settle};
use crate::executors::guarded;
use crate::node::alone;
use crate::process::{self, Running};
use crate::reply::refusal;
use napi::bindgen_prelude::{Function, Object};
use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode};
use napi::{Env, Result, Status};
use napi_derive::napi;
use rhizome_answers::{Answer, RpcError, block_archives, block_files, block_sources, upkeep};
use rhizome_chain::VerificationScope;
use std::ops::ControlFlow;
use std::sync::atomic::Ordering;

/// Capacity of the queue of progress reports. The operation waits while the queue is full.
const WAITING_REPORTS: usize = 64;

/// Queue of progress reports.
pub(crate) type Report = ThreadsafeFunction<String, (), String, Status, true, false, WAITING_REPORTS>;

/// Imports a file of blocks. Calls `onProgress(null, json)` for each block with `{number, hash, stateRoot, result}`.
/// Resolves with counts: `{"blocks","best","side","known","head"}`. `options` is an empty JSON object.
#[napi(catch_unwind, ts_return_type = "Promise<string>")]
pub fn import_blocks<'env>(
    env: &'env Env,
    path: String,
    _options: String,
    #[napi(ts_arg_type = "(error: Error | null, progress: string) => void")] on_progress: Function<'_, String, ()>,
) -> Result<Object<'env>> {
    let report = report(&on_progress)?;
    in_background(env, move |running| {
        block_files::import(&running.node(), &path, |line| report_progress(&report, running, line))
    })
}

/// Writes the blocks of the main chain from one height to another into a file. Calls `onProgress(null, json)` for each
/// with `{number}`. Resolves with `{"blocks","from","to"}`.
#[napi(catch_unwind, ts_return_type = "Promise<string>")]
pub fn export_blocks<'env>(
    env: &'env Env,
    path: String,
    from: i64,
    to: i64,
    #[napi(ts_arg_type = "(error: Error | null, progress: string) => void")] on_progress: Function<'_, String, ()>,
) -> Result<Object<'env>> {
    let report = report(&on_progress)?;
    in_background(env, move |running| {
        block_files::export(&running.node(), &path, height(from)?, height(to)?, |line| {
            report_progress(&report, running, line)
        })
    })
}

/// Imports the blocks above the head from archives: folders, http, https or s3 URLs. Calls `onProgress(null, json)` for each block
/// with `{number, hash, stateRoot, result}`. `trust`: the required publisher of each, empty for any. Resolves with counts, and
/// the failures of archives that another archive replaced; `last` if the node was closed before the last block:
/// `{"blocks","best","side","known","head","refused"}`.
#[napi(catch_unwind, ts_return_type = "Promise<string>")]
pub fn import_archives<'env>(
    env: &'env Env,
    locations: Vec<String>,
    trust: String,
    #[napi(ts_arg_type = "(error: Error | null, progress: string) => void")] on_progress: Function<'_, String, ()>,
) -> Result<Object<'env>> {
    let report = report(&on_progress)?;
    in_background(env, move |running| {
        let is_stopped = || running.is_closing.load(Ordering::Relaxed);
        block_archives::import(&running.node(), &locations, &trust, &is_stopped, |line| {
            report_progress(&report, running, line)
        })
    })
}

/// Imports the blocks of a data directory of rskj whose node does not run. Calls `onProgress(null, json)` with `{rows}` while the
/// directory is searched, with `{last}` when its heaviest chain is known, and for each block with `{number, hash, stateRoot,
/// result}`. Resolves with counts: `{"blocks","best","side","known","head"}`.
#[napi(catch_unwind, ts_return_type = "Promise<string>")]
pub fn import_rskj<'env>(
    env: &'env Env,
    dir: String,
    #[napi(ts_arg_type = "(error: Error | null, progress: string) => void")] on_progress: Function<'_, String, ()>,
) -> Result<Object<'env>> {
    let report = report(&on_progress)?;
    in_background(env, move |running| {
        block_sources::import_rskj(&running.node(), &dir, |line| report_progress(&report, running, line))
    })
}

/// Imports the blocks of another data directory of the same network that no node has open, of this or an earlier layout. Calls
/// `onProgress(null, json)` with `{warning}` if it has lost its last blocks, `{last}`, the number of its last block, then for each block
/// with `{number, hash, stateRoot, result}`. Resolves with counts: `{"blocks","best","side","known","head"}`.
#[napi(catch_unwind, ts_return_type = "Promise<string>")]
pub fn migrate_blocks<'env>(
    env: &'env Env,
    dir: String,
    #[napi(ts_arg_type = "(error: Error | null, progress: string) => void")] on_progress: Function<'_, String, ()>,
) -> Result<Object<'env>> {
    let report = report(&on_progress)?;
    in_background(env, move |running| {
        block_sources::migrate(&running.node(), &dir, |line| report_progress(&report, running, line))
    })
}

/// Writes the best chain up to a height into an archive, or continues one. `keyFile`: private key of the publisher, created if
/// missing. Calls `onProgress(null, json)` for every 256 blocks with `{number}`. Resolves with
/// `{"written","files","last","publisher"}`.
#[napi(catch_unwind, ts_return_type = "Promise<string>")]
pub fn create_archive<'env>(
    env: &'env Env,
    location: String,
    key_file: String,
    to: i64,
    #[napi(ts_arg_type = "(error: Error | null, progress: string) => void")] on_progress: Function<'_, String, ()>,
) -> Result<Object<'env>> {
    let report = report(&on_progress)?;
    in_background(env, move |running| {
        block_archives::create(&running.node(), &location, &key_file, height(to)?, |line| {
            report_progress(&report, running, line)
        })
    })
}

/// Verifies an archive without a node. `config` names the network like that of `openNode`. Calls `onProgress(null, json)` for every
/// 256 blocks with `{number, last}`. Resolves with `{"blocks","files","last","publisher"}`.
#[napi(catch_unwind, ts_return_type = "Promise<string>")]
pub fn verify_archive<'env>(
    env: &'env Env,
    config: String,
    location: String,
    trust: String,
    #[napi(ts_arg_type = "(error: Error | null, progress: string) => void")] on_progress: Function<'_, String, ()>,
) -> Result<Object<'env>> {
    let report = report(&on_progress)?;
    without_node(env, move || {
        let chain = NodeConfig::parse(&config)?.chain(None)?;
        block_archives::verify(&chain.spec, &location, &trust, |line| {
            report.call(Ok(line), ThreadsafeFunctionCallMode::Blocking);
        })
    })
}

/// Reads the manifest of an archive without a node. Resolves with network, publisher and files.
#[napi(catch_unwind, ts_return_type = "Promise<string>")]
pub fn list_archive(env: &Env, location: String, trust: String) -> Result<Object<'_>> {
    without_node(env, move || block_archives::list(&location, &trust))
}

/// Removes all blocks above a height of the main chain. Resolves with `{"from","to","hash"}`: the heads before and after.
#[napi(catch_unwind, ts_return_type = "Promise<string>")]
pub fn rewind_chain(env: &Env, to: i64) -> Result<Object<'_>> {
    in_background(env, move |running| upkeep::rewind(&running.node(), height(to)?))
}

/// Deletes the states that `storage.history` does not ask for, and frees their space. Calls `onProgress(null, json)` with
/// `{oldestState, target}`, then with `{done, total}` steps of rewriting files. Resolves with
/// `{"oldestState","bytesBefore","bytes","partial"}`: partial if the node was closed meanwhile.
#[napi(catch_unwind, ts_return_type = "Promise<string>")]
pub fn prune_states<'env>(
    env: &'env Env,
    #[napi(ts_arg_type = "(error: Error | null, progress: string) => void")] on_progress: Function<'_, String, ()>,
) -> Result<Object<'env>> {
    let report = report(&on_progress)?;
    in_background(env, move |running| upkeep::prune(&running.node(), |line| report_progress(&report, running, line)))
}

/// Executes the main chain from one height to another again, unless one is null, and compares, if `has_state`, the trie and the flat
/// state of the head. Calls `onProgress(null, json)` for each valid block with `{number, hash}`, then periodically with `{keys, share}`.
/// Resolves with `{"from"?,"to"?,"blocks","keys"?,"difference"}`: the difference is null or
/// `{"number","hash","field","expected","got"}`, or `"partial":true` replaces it if the node was closed meanwhile.
#[napi(catch_unwind, ts_return_type = "Promise<string>")]
pub fn verify_blocks<'env>(
    env: &'env Env,
    from: Option<i64>,
    to: Option<i64>,
    has_state: bool,
    #[napi(ts_arg_type = "(error: Error | null, progress: string) => void")] on_progress: Function<'_, String, ()>,
) -> Result<Object<'env>> {
    let report = report(&on_progress)?;
    in_background(env, move |running| {
        let blocks = match (from, to) {
            (Some(from), Some(to)) => Some((height(from)?, height(to)?)),
            _ => None,
        };
        let scope = VerificationScope { blocks, has_state };
        upkeep::verify(&running.node(), scope, |line| report_progress(&report, running, line))
    })
}

/// Returns the queue of progress reports to a callback.
pub(crate) fn report(on_progress: &Function<'_, String, ()>) -> Result<Report> {
    let report = on_progress.build_threadsafe_function::<String>();
    report.callee_handled::<true>().max_queue_size::<WAITING_REPORTS>().build()
}

fn in_background(env: &Env, work: impl FnOnce(&Running) -> Answer + Send + 'static) -> Result<Object<'_>> {
    let running = process::running().map_err(refusal)?;
    let (reply, promise) = promise(env)?;
    alone("rhizome-blocks", move || {
        let answer = guarded(|| work(&running));
        // Dropped before the promise settles: closing the node waits for this reference.
        drop(running);
        settle(reply, answer);
    })?;
    Ok(promise)
}

/// Runs work on a thread and settles a promise with its answer.
pub(crate) fn without_node(env: &Env, work: impl FnOnce() -> Answer + Send + 'static) -> Result<Object<'_>> {
    let (reply, promise) = promise(env)?;
    alone("rhizome-archive", move || settle(reply, guarded(work)))?;
    Ok(promise)
}

/// Queues a progress report; waits while the queue is full. Breaks if the node is closing.
fn report_progress(report: &Report, running: &Running, line: String) -> ControlFlow<()> {
    report.call(Ok(line), ThreadsafeFunctionCallMode::Blocking);
    if running.is_closing.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

fn height(number: i64) -> std::result::Result<u64, RpcError> {
    u64::try_from(number).map_err(|_negative| RpcError::invalid_params("block numbers are not negative"))
}
