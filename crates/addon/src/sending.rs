//! Transactions that arrive at the same time: one thread of the pool takes several and recovers their senders at once.
//!
//! Brings, in interleaved pairs (`npm run bench -- --without batched-recovery`, AMD EPYC with AVX-512): processor time x 0.65
//! for `eth_sendRawTransaction`.

use crate::answer_queue::{self, PendingAnswer};
use crate::cancellation::CancellationTokens;
use crate::executors::{self, ExecutionLimit, guarded};
use crate::optimizations::optimizations;
use crate::pool::JobOutcome;
use crate::process;
use crate::reply::refusal;
use crate::text::Text;
use napi::bindgen_prelude::Object;
use napi::{Env, Result};
use parking_lot::Mutex;
use rhizome_answers::eth::send_raw_transaction;
use rhizome_answers::{Answer, Node, RpcError};
use std::collections::VecDeque;
use std::sync::Arc;

/// Transactions that one job takes: 8 senders are recovered at little more than the cost of one.
const BATCH: usize = 8;
/// Initial capacity for a signed transaction, in hex digits.
pub(crate) const USUAL_TRANSACTION: usize = 512;

/// Transactions that no job has taken.
#[derive(Default)]
pub(crate) struct SendQueue(Mutex<SendLine>);

#[derive(Default)]
struct SendLine {
    /// Oldest first.
    waiting: VecDeque<SentTransaction>,
    /// Jobs in the queue of the pool: enough for all transactions that wait.
    jobs: usize,
}

struct SentTransaction {
    raw: Text<USUAL_TRANSACTION>,
    token: i64,
    limit: ExecutionLimit,
    reply: PendingAnswer,
}

/// Admits a transaction, in hex, in the pool, within `deadline_ms` from now (0: no limit), unless `token` is cancelled
/// before.
pub(crate) fn send(env: &Env, raw: Text<USUAL_TRANSACTION>, deadline_ms: i64, token: i64) -> Result<Object<'_>> {
    let running = process::running().map_err(refusal)?;
    let (reply, promise) = answer_queue::promise(env)?;
    let owner = reply.owner;
    let limit = executors::execution_limit(&running, deadline_ms, token);
    if running.send_queue.add(SentTransaction { raw, token, limit, reply }) {
        let (node, tokens) = (running.node(), Arc::clone(&running.tokens));
        let queue = Arc::clone(&running.send_queue);
        let job = move |outcome| match outcome {
            JobOutcome::Started => queue.admit_batch(&node, &tokens),
            JobOutcome::Refused => queue.refuse_surplus(&tokens),
        };
        running.sends.submit(owner, Box::new(job));
    }
    Ok(promise)
}

fn batch() -> usize {
    if optimizations().batched_recovery { BATCH } else { 1 }
}

impl SendQueue {
    /// Appends a transaction. Returns whether one more job is needed, which is then counted.
    fn add(&self, transaction: SentTransaction) -> bool {
        let mut line = self.0.lock();
        line.waiting.push_back(transaction);
        let is_short = line.waiting.len() > line.jobs * batch();
        line.jobs += usize::from(is_short);
        is_short
    }

    /// Refuses the most recent transactions after the pool has refused a job that was counted for them.
    fn refuse_surplus(&self, tokens: &CancellationTokens) {
        let refused = {
            let mut line = self.0.lock();
            line.jobs -= 1;
            let room = line.jobs * batch();
            let left = line.waiting.len().min(room);
            line.waiting.split_off(left)
        };
        refused.into_iter().for_each(|transaction| transaction.settle(tokens, Err(RpcError::overloaded())));
    }

    /// Admits the oldest transactions.
    fn admit_batch(&self, node: &Node, tokens: &CancellationTokens) {
        let taken: Vec<SentTransaction> = {
            let mut line = self.0.lock();
            line.jobs -= 1;
            let count = line.waiting.len().min(batch());
            line.waiting.drain(..count).collect()
        };
        let raws = taken.iter().map(|transaction| &*transaction.raw);
        match guarded(|| Ok(send_raw_transaction::read_all(node, raws))) {
            Ok(transactions) => {
                for (sent, transaction) in taken.into_iter().zip(transactions) {
                    let answer = sent.limit.answer(|| send_raw_transaction::admit(node, transaction?));
                    sent.settle(tokens, answer);
                }
            }
            Err(error) => taken.into_iter().for_each(|sent| sent.settle(tokens, Err(error.clone()))),
        }
    }
}

impl SentTransaction {
    fn settle(self, tokens: &CancellationTokens, answer: Answer) {
        tokens.settle(self.token);
        self.reply.settle(answer);
    }
}
