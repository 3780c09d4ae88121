//! Transactions that are sent at the same time: a thread of the pool takes several, whose senders it recovers side by side.

use crate::cancellation::CancellationTokens;
use crate::completions::{self, PendingReply};
use crate::executors::{self, ExecutionLimit, guarded};
use crate::owner;
use crate::pool::JobOutcome;
use crate::process;
use crate::reply::refusal;
use napi::bindgen_prelude::Object;
use napi::{Env, Result};
use parking_lot::Mutex;
use rhizome_answers::eth::send_raw_transaction;
use rhizome_answers::{Answer, Node, RpcError};
use std::collections::VecDeque;
use std::sync::Arc;

/// What one thread takes: so many senders are recovered at the cost of little more than one.
const TOGETHER: usize = 8;

/// Transactions that no thread has taken.
#[derive(Default)]
pub(crate) struct Sent(Mutex<Line>);

#[derive(Default)]
struct Line {
    /// Oldest first.
    waiting: VecDeque<Waiting>,
    /// Jobs in the queue of the pool, enough for all that wait.
    jobs: usize,
}

struct Waiting {
    raw: String,
    token: i64,
    limit: ExecutionLimit,
    reply: PendingReply,
}

/// Admits a transaction, in hex, in the pool, within `deadline_ms` (0: no limit) counted from now, unless `token` is
/// cancelled before.
pub(crate) fn send(env: &Env, raw: String, deadline_ms: i64, token: i64) -> Result<Object<'_>> {
    let running = process::running().map_err(refusal)?;
    let (reply, promise) = completions::promise(env)?;
    let limit = executors::execution_limit(&running, deadline_ms, token);
    let newcomer = Waiting { raw, token, limit, reply };
    if running.sent.add(newcomer) {
        let (node, tokens) = (Arc::clone(&running.node), Arc::clone(&running.tokens));
        let sent = Arc::clone(&running.sent);
        let job = move |outcome| match outcome {
            JobOutcome::Started => sent.admit_some(&node, &tokens),
            JobOutcome::Refused => sent.refuse_surplus(&tokens),
        };
        running.pool.submit(owner::current(), Box::new(job));
    }
    Ok(promise)
}

impl Sent {
    /// Puts a transaction at the end of the line. Returns whether one more job is needed, which is then counted.
    fn add(&self, newcomer: Waiting) -> bool {
        let mut line = self.0.lock();
        line.waiting.push_back(newcomer);
        let is_short = line.waiting.len() > line.jobs * TOGETHER;
        line.jobs += usize::from(is_short);
        is_short
    }

    /// Refuses the newest, because there is no room for a job that was counted for them.
    fn refuse_surplus(&self, tokens: &CancellationTokens) {
        let refused = {
            let mut line = self.0.lock();
            line.jobs -= 1;
            let room = line.jobs * TOGETHER;
            let left = line.waiting.len().min(room);
            line.waiting.split_off(left)
        };
        refused.into_iter().for_each(|waiting| waiting.settle(tokens, Err(RpcError::overloaded())));
    }

    /// Admits the oldest.
    fn admit_some(&self, node: &Node, tokens: &CancellationTokens) {
        let taken: Vec<Waiting> = {
            let mut line = self.0.lock();
            line.jobs -= 1;
            let count = line.waiting.len().min(TOGETHER);
            line.waiting.drain(..count).collect()
        };
        let raws = taken.iter().map(|waiting| waiting.raw.as_str());
        match guarded(|| Ok(send_raw_transaction::read_all(node, raws))) {
            Ok(transactions) => {
                for (waiting, transaction) in taken.into_iter().zip(transactions) {
                    let answer = waiting.limit.answer(|| send_raw_transaction::admit(node, transaction?));
                    waiting.settle(tokens, answer);
                }
            }
            Err(error) => taken.into_iter().for_each(|waiting| waiting.settle(tokens, Err(error.clone()))),
        }
    }
}

impl Waiting {
    fn settle(self, tokens: &CancellationTokens, answer: Answer) {
        tokens.settle(self.token);
        self.reply.settle(answer);
    }
}
