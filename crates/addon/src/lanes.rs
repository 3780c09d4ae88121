//! The two ways of asking: at once on the caller's thread, or in the pool with a promise.

use crate::completions;
use crate::owner;
use crate::pool::Pool;
use crate::process::{self, Running};
use crate::reply::{Reply, refusal};
use napi::bindgen_prelude::{Either, Object};
use napi::{Env, JsDeferred, Result};
use rhizome_answers::{Answer, ErrorCode, Node, RpcError};
use rhizome_evm::Deadline;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::result;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long this thread is held up where the budget of an execution does not tell.
const BRIEF: Duration = Duration::from_micros(300);

type Resolver = Box<dyn FnOnce(Env) -> Result<Reply> + Send>;
/// A promise that any thread can settle.
pub(crate) type Promised = JsDeferred<Reply, Resolver>;

/// How long an execution may take.
pub(crate) struct Patience {
    /// Until the request's time is over or its caller goes away.
    pub(crate) deadline: Deadline,
    /// Until the caller goes away.
    pub(crate) cancellation: Deadline,
}

impl Patience {
    /// What is answered, unless the time is over before.
    pub(crate) fn answer(&self, ask: impl FnOnce() -> Answer) -> Answer {
        match self.deadline.has_passed() {
            true => Err(RpcError::timed_out()),
            false => guarded(ask),
        }
    }
}

/// Answers on this thread.
pub(crate) fn sync(ask: impl FnOnce(&Node) -> Answer) -> Result<Reply> {
    process::ask(ask).map(Reply).map_err(refusal)
}

/// Answers in the pool, within `deadline_ms` (0: no limit) counted from now, unless `ticket` is cancelled before.
pub(crate) fn pooled(
    env: &Env,
    deadline_ms: i64,
    ticket: i64,
    ask: impl FnOnce(&Node, &Patience) -> Answer + Send + 'static,
) -> Result<Object<'_>> {
    let running = process::running().map_err(refusal)?;
    queued(env, &running, &running.pool, deadline_ms, ticket, ask)
}

/// Answers on this thread if that is a matter of a part of a millisecond, as [`pooled`] otherwise. What turned out too long
/// for this thread begins anew in the pool.
pub(crate) fn brief_or_pooled(
    env: &Env,
    may_be_brief: bool,
    deadline_ms: i64,
    ticket: i64,
    ask: impl Fn(&Node, &Patience) -> Answer + Send + 'static,
) -> Result<Either<Reply, Object<'_>>> {
    let running = process::running().map_err(refusal)?;
    if may_be_brief {
        let deadline = Deadline::inline(BRIEF);
        let patience = Patience { cancellation: deadline.clone(), deadline };
        match guarded(|| ask(&running.node, &patience)) {
            Err(error) if error.code == ErrorCode::ResourceExhausted => {}
            answer => return answer.map(|text| Either::A(Reply(text))).map_err(refusal),
        }
    }
    queued(env, &running, &running.pool, deadline_ms, ticket, ask).map(Either::B)
}

/// As [`pooled`], in the threads of the traces, of which there are fewer: calls never wait behind them.
pub(crate) fn traced(
    env: &Env,
    deadline_ms: i64,
    ticket: i64,
    ask: impl FnOnce(&Node, &Patience) -> Answer + Send + 'static,
) -> Result<Object<'_>> {
    let running = process::running().map_err(refusal)?;
    queued(env, &running, &running.traces, deadline_ms, ticket, ask)
}

fn queued<'e>(
    env: &'e Env,
    running: &Running,
    pool: &Pool,
    deadline_ms: i64,
    ticket: i64,
    ask: impl FnOnce(&Node, &Patience) -> Answer + Send + 'static,
) -> Result<Object<'e>> {
    let (promised, promise) = completions::promise(env)?;
    let patience = patience(running, deadline_ms, ticket);
    let (node, tickets) = (Arc::clone(&running.node), Arc::clone(&running.tickets));
    let job = move |turn| {
        let answer = match turn {
            crate::pool::Turn::Refused => Err(RpcError::overloaded()),
            crate::pool::Turn::Now => patience.answer(|| ask(&node, &patience)),
        };
        drop(node);
        tickets.settle(ticket);
        promised.settle(answer);
    };
    pool.submit(owner::current(), Box::new(job));
    Ok(promise)
}

/// A promise and its other end, for work on a thread of its own: it is kept after what was reported before, which
/// [`completions`] would overtake.
pub(crate) fn promise(env: &Env) -> Result<(Promised, Object<'_>)> {
    env.create_deferred::<Reply, Resolver>()
}

/// Keeps a promise.
pub(crate) fn settle(promised: Promised, answer: Answer) {
    match answer {
        Ok(text) => promised.resolve(Box::new(move |_env| Ok(Reply(text)))),
        Err(error) => promised.reject(refusal(error)),
    }
}

/// A panic becomes an internal error: it ends one answer, not the process.
pub(crate) fn guarded<T>(ask: impl FnOnce() -> result::Result<T, RpcError>) -> result::Result<T, RpcError> {
    catch_unwind(AssertUnwindSafe(ask)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no text");
        Err(RpcError::internal(format!("panic: {text}")))
    })
}

pub(crate) fn patience(running: &Running, deadline_ms: i64, ticket: i64) -> Patience {
    let flag = running.tickets.issue(ticket);
    let limit = u64::try_from(deadline_ms).ok().filter(|limit| *limit > 0);
    let end = limit.and_then(|limit| Instant::now().checked_add(Duration::from_millis(limit)));
    let deadline = end.map_or_else(Deadline::none, Deadline::at);
    Patience { deadline: deadline.or_when(Arc::clone(&flag)), cancellation: Deadline::none().or_when(flag) }
}
