//! Limits for messages of one peer: unhandled messages, bytes a second, work a second. Above a limit the
//! socket of the peer is not read (docs/spec/p2p-additions.md, F).

use crate::options::Limits;
use crate::token_bucket::TokenBucket;
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// Seconds over which rates are averaged.
const WINDOW_SECONDS: f64 = 10.0;

/// Budget of one peer.
#[derive(Debug)]
pub(crate) struct Inbox {
    waiting: Arc<Waiting>,
    rates: Mutex<Rates>,
    max_bytes: usize,
    max_messages: usize,
}

#[derive(Debug)]
struct Rates {
    bytes: TokenBucket,
    /// Seconds of a processor.
    work: TokenBucket,
}

/// Messages that were read and are not handled.
#[derive(Debug, Default)]
struct Waiting {
    amounts: Mutex<(usize, usize)>,
    changed: Notify,
}

/// Part of an [`Inbox`] that a message occupies.
#[derive(Debug)]
pub(crate) struct InboxShare {
    waiting: Arc<Waiting>,
    bytes: usize,
}

impl Drop for InboxShare {
    fn drop(&mut self) {
        let mut amounts = self.waiting.amounts.lock();
        amounts.0 -= self.bytes;
        amounts.1 -= 1;
        self.waiting.changed.notify_one();
    }
}

impl Inbox {
    pub(crate) fn new(limits: &Limits) -> Inbox {
        let now = Instant::now();
        let bucket = |per_second: f64| TokenBucket::new(per_second, per_second * WINDOW_SECONDS, now);
        Inbox {
            waiting: Arc::default(),
            rates: Mutex::new(Rates { bytes: bucket(limits.bytes_per_second), work: bucket(limits.work_per_second) }),
            max_bytes: limits.inbox_bytes,
            max_messages: limits.inbox_messages,
        }
    }

    /// Counts a message that was read.
    pub(crate) fn admit(&self, bytes: usize) -> InboxShare {
        let mut amounts = self.waiting.amounts.lock();
        amounts.0 += bytes;
        amounts.1 += 1;
        InboxShare { waiting: Arc::clone(&self.waiting), bytes }
    }

    /// Counts bytes of any message against the rate.
    pub(crate) fn charge_bytes(&self, bytes: usize) {
        self.rates.lock().bytes.withdraw(bytes as f64, Instant::now());
    }

    pub(crate) fn charge_work(&self, work: Duration) {
        self.rates.lock().work.withdraw(work.as_secs_f64(), Instant::now());
    }

    pub(crate) fn refund(&self, bytes: usize) {
        self.rates.lock().bytes.refund(bytes as f64);
    }

    /// Returns bytes and number of messages that are not handled.
    pub(crate) fn waiting(&self) -> (usize, usize) {
        *self.waiting.amounts.lock()
    }

    /// Waits until the next message may be read. Returns whether it had to wait.
    pub(crate) async fn ready(&self) -> bool {
        let mut has_waited = false;
        loop {
            let debt = {
                let (mut rates, now) = (self.rates.lock(), Instant::now());
                rates.bytes.debt(now).max(rates.work.debt(now))
            };
            let (bytes, messages) = self.waiting();
            if debt > Duration::ZERO {
                tokio::time::sleep(debt).await;
            } else if bytes > self.max_bytes || messages >= self.max_messages {
                self.waiting.changed.notified().await;
            } else {
                return has_waited;
            }
            has_waited = true;
        }
    }
}
