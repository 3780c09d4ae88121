//! The ways a request executes: on the caller's thread, inline with a time limit, or in a pool with a promise.
//!
//! Inline calls bring, in interleaved pairs (`npm run bench -- --without inline-calls`): processor time x 0.73 for `eth_call`
//! of `balanceOf`, x 0.68 for `eth_estimateGas`, x 0.63 for `eth_getLogs` of one block, x 0.67 for `eth_getProof`.

use crate::answer_queue;
use crate::optimizations::optimizations;
use crate::pool::JobOutcome;
use crate::process::{self, Running};
use crate::reply::{Reply, refusal};
use napi::bindgen_prelude::{Either, Object};
use napi::{Env, Result};
use rhizome_answers::{Answer, ErrorCode, Node, RpcError};
use rhizome_evm::Deadline;
use rhizome_fork::without_requests;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::result;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Time limit of an inline call. It ends executions that the gas-like budget of [`Deadline::inline`] does not end.
const INLINE_TIME_LIMIT: Duration = Duration::from_micros(300);

/// Deadline of an execution that ends by itself: requests to a remote node have their own limits.
const NO_LIMIT: i64 = 0;
/// Token of an execution that nothing cancels.
const NO_TOKEN: i64 = 0;

/// The conditions that end an execution.
pub(crate) struct ExecutionLimit {
    /// Passes when the time of the request is over or its client has disconnected.
    pub(crate) deadline: Deadline,
    /// Passes when the client has disconnected.
    pub(crate) cancellation: Deadline,
}

impl ExecutionLimit {
    /// Runs `ask`, or returns the timeout error if the deadline has passed.
    pub(crate) fn answer(&self, ask: impl FnOnce() -> Answer) -> Answer {
        match self.deadline.has_passed() {
            true => Err(RpcError::timed_out()),
            false => guarded(ask),
        }
    }
}

/// Work for a thread of a pool.
type Ask = Box<dyn FnOnce(&Node, &ExecutionLimit) -> Answer + Send>;

/// Threads of an execution.
#[derive(Clone, Copy)]
enum Threads {
    Calls,
    /// Fewer, and calls never wait behind traces.
    Traces,
}

// Each method is a type of closure: the functions that take them are thin, because they are compiled for each method.

/// Answers on the caller's thread.
pub(crate) fn sync(ask: impl Fn(&Node) -> Answer) -> Result<Reply> {
    process::ask(&ask).map(Reply).map_err(refusal)
}

/// Answers on the caller's thread. If that needs a value that a remote node has, answers in the pool.
pub(crate) fn sync_or_pooled(
    env: &Env,
    ask: impl Fn(&Node) -> Answer + Send + 'static,
) -> Result<Either<Reply, Object<'_>>> {
    match local(process::ask(&ask))? {
        Some(reply) => Ok(Either::A(reply)),
        None => pooled(env, NO_LIMIT, NO_TOKEN, move |node, _limit| ask(node)).map(Either::B),
    }
}

/// Answers in the pool, within `deadline_ms` from now (0: no limit), unless `token` is cancelled before.
pub(crate) fn pooled(
    env: &Env,
    deadline_ms: i64,
    token: i64,
    ask: impl FnOnce(&Node, &ExecutionLimit) -> Answer + Send + 'static,
) -> Result<Object<'_>> {
    queued(env, Threads::Calls, deadline_ms, token, Box::new(ask))
}

/// Answers on the caller's thread if that takes less than [`INLINE_TIME_LIMIT`], otherwise as [`pooled`]. An execution
/// that exceeds the limit starts again in the pool.
pub(crate) fn inline_or_pooled(
    env: &Env,
    may_run_inline: bool,
    deadline_ms: i64,
    token: i64,
    ask: impl Fn(&Node, &ExecutionLimit) -> Answer + Send + 'static,
) -> Result<Either<Reply, Object<'_>>> {
    if may_run_inline
        && optimizations().inline_calls
        && let Some(reply) = local(answer_inline(&ask))?
    {
        return Ok(Either::A(reply));
    }
    queued(env, Threads::Calls, deadline_ms, token, Box::new(ask)).map(Either::B)
}

/// As [`pooled`], on the threads for traces.
pub(crate) fn traced(
    env: &Env,
    deadline_ms: i64,
    token: i64,
    ask: impl FnOnce(&Node, &ExecutionLimit) -> Answer + Send + 'static,
) -> Result<Object<'_>> {
    queued(env, Threads::Traces, deadline_ms, token, Box::new(ask))
}

fn answer_inline(ask: &dyn Fn(&Node, &ExecutionLimit) -> Answer) -> Answer {
    let node = process::running()?.node();
    let deadline = Deadline::inline(INLINE_TIME_LIMIT);
    let limit = ExecutionLimit { cancellation: deadline.clone(), deadline };
    without_requests(|| guarded(|| ask(&node, &limit)))
}

/// Returns an answer of the caller's thread; `None` if it takes too long or needs a request to a remote node.
fn local(answer: Answer) -> Result<Option<Reply>> {
    match answer {
        Err(error) if error.code == ErrorCode::ResourceExhausted => Ok(None),
        answer => answer.map(|text| Some(Reply(text))).map_err(refusal),
    }
}

fn queued(env: &Env, threads: Threads, deadline_ms: i64, token: i64, ask: Ask) -> Result<Object<'_>> {
    let running = process::running().map_err(refusal)?;
    let (reply, promise) = answer_queue::promise(env)?;
    let owner = reply.owner;
    let limit = execution_limit(&running, deadline_ms, token);
    let (node, tokens) = (running.node(), Arc::clone(&running.tokens));
    let job = move |outcome| {
        let answer = match outcome {
            JobOutcome::Refused => Err(RpcError::overloaded()),
            JobOutcome::Started => limit.answer(|| ask(&node, &limit)),
        };
        drop(node);
        tokens.settle(token);
        reply.settle(answer);
    };
    let pool = match threads {
        Threads::Calls => &running.pool,
        Threads::Traces => &running.traces,
    };
    pool.submit(owner, Box::new(job));
    Ok(promise)
}

/// Turns a panic into an internal error, which ends one answer instead of the process.
pub(crate) fn guarded<T>(ask: impl FnOnce() -> result::Result<T, RpcError>) -> result::Result<T, RpcError> {
    catch_unwind(AssertUnwindSafe(ask)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no text");
        Err(RpcError::internal(format!("panic: {text}")))
    })
}

/// Registers a cancellation token and returns the limit of its execution.
pub(crate) fn execution_limit(running: &Running, deadline_ms: i64, token: i64) -> ExecutionLimit {
    let flag = running.tokens.issue(token);
    let limit_ms = u64::try_from(deadline_ms).ok().filter(|limit| *limit > 0);
    let end = limit_ms.and_then(|limit| Instant::now().checked_add(Duration::from_millis(limit)));
    let deadline = end.map_or_else(Deadline::none, Deadline::at);
    ExecutionLimit { deadline: deadline.or_when(Arc::clone(&flag)), cancellation: Deadline::none().or_when(flag) }
}
