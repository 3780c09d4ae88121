//! Transactions that are sent at the same time: a thread of the pool takes several, whose senders it recovers side by side.

use crate::completions::{self, Promised};
use crate::lanes::{self, Patience, guarded};
use crate::process::{self, Running};
use crate::reply::refusal;
use crate::tickets::Tickets;
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
    ticket: i64,
    patience: Patience,
    promised: Promised,
}

/// Admits a transaction, in hex, in the pool, within `deadline_ms` (0: no limit) counted from now, unless `ticket` is
/// cancelled before.
pub(crate) fn send(env: &Env, raw: String, deadline_ms: i64, ticket: i64) -> Result<Object<'_>> {
    let running = process::running().map_err(refusal)?;
    let (promised, promise) = completions::promise(env)?;
    let patience = lanes::patience(&running, deadline_ms, ticket);
    if let Some(refused) = stand_in_line(&running, Waiting { raw, ticket, patience, promised }) {
        refused.settle(&running.tickets, Err(RpcError::overloaded()));
    }
    Ok(promise)
}

/// Gives it back where the queue of the pool has no room for the job that it needs.
fn stand_in_line(running: &Running, newcomer: Waiting) -> Option<Waiting> {
    let mut line = running.sent.0.lock();
    if line.waiting.len() >= line.jobs * TOGETHER {
        let (node, tickets) = (Arc::clone(&running.node), Arc::clone(&running.tickets));
        let sent = Arc::clone(&running.sent);
        let job = Box::new(move |_turn| sent.admit_some(&node, &tickets));
        if running.pool.try_submit(job).is_err() {
            return Some(newcomer);
        }
        line.jobs += 1;
    }
    line.waiting.push_back(newcomer);
    None
}

impl Sent {
    /// Admits the oldest.
    fn admit_some(&self, node: &Node, tickets: &Tickets) {
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
                    let answer = waiting.patience.answer(|| send_raw_transaction::admit(node, transaction?));
                    waiting.settle(tickets, answer);
                }
            }
            Err(error) => taken.into_iter().for_each(|waiting| waiting.settle(tickets, Err(error.clone()))),
        }
    }
}

impl Waiting {
    fn settle(self, tickets: &Tickets, answer: Answer) {
        tickets.settle(self.ticket);
        self.promised.settle(answer);
    }
}
