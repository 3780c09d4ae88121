//! Messages that wait to be sent to one peer, bounded by number and bytes.

use parking_lot::Mutex;
use std::collections::VecDeque;
use std::time::Instant;
use tokio::sync::Notify;

/// Bytes of waiting messages below which answers to requests are computed.
const DRAINED_BYTES: usize = 256 << 10;

/// The message was not queued.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// The queue is full: the peer reads slower than messages arise.
    #[error("too much waits to be sent to the peer")]
    Full,
    /// The peer takes no further message in this minute.
    #[error("the peer takes no further message in this minute")]
    OverBudget,
    /// The connection ends.
    #[error("the connection ends")]
    Closed,
}

/// Message that waits.
#[derive(Debug)]
pub(crate) struct WaitingMessage {
    pub(crate) code: u8,
    pub(crate) payload: Vec<u8>,
    pub(crate) queued: Instant,
}

#[derive(Debug, Default)]
struct QueuedMessages {
    messages: VecDeque<WaitingMessage>,
    bytes: usize,
    is_closed: bool,
}

/// The queue. Any number of senders, one receiver.
#[derive(Debug)]
pub(crate) struct Outbox {
    queue: Mutex<QueuedMessages>,
    /// For the receiver.
    filled: Notify,
    /// For senders.
    emptied: Notify,
    max_bytes: usize,
    max_messages: usize,
}

impl Outbox {
    pub(crate) fn new(max_bytes: usize, max_messages: usize) -> Outbox {
        let (queue, filled, emptied) = (Mutex::default(), Notify::new(), Notify::new());
        Outbox { queue, filled, emptied, max_bytes, max_messages }
    }

    pub(crate) fn try_push(&self, code: u8, payload: Vec<u8>) -> Result<(), SendError> {
        self.offer(code, payload).map_err(|(error, _payload)| error)
    }

    pub(crate) async fn push(&self, code: u8, mut payload: Vec<u8>) -> Result<(), SendError> {
        loop {
            let emptied = self.emptied.notified();
            match self.offer(code, payload) {
                Ok(()) => return Ok(()),
                Err((SendError::Full, refused)) => payload = refused,
                Err((error, _)) => return Err(error),
            }
            emptied.await;
        }
    }

    /// Waits until few bytes wait: an answer that is computed later need not be held by its task.
    pub(crate) async fn drained(&self) {
        loop {
            let emptied = self.emptied.notified();
            if self.waiting().0 < DRAINED_BYTES {
                return;
            }
            emptied.await;
        }
    }

    fn offer(&self, code: u8, payload: Vec<u8>) -> Result<(), (SendError, Vec<u8>)> {
        let mut queue = self.queue.lock();
        if queue.is_closed {
            return Err((SendError::Closed, payload));
        }
        // An empty queue takes a message of any size.
        let is_too_long = !queue.messages.is_empty() && queue.bytes + payload.len() > self.max_bytes;
        if is_too_long || queue.messages.len() >= self.max_messages {
            return Err((SendError::Full, payload));
        }
        queue.bytes += payload.len();
        queue.messages.push_back(WaitingMessage { code, payload, queued: Instant::now() });
        self.filled.notify_one();
        Ok(())
    }

    /// Waits for a message.
    pub(crate) async fn pop(&self) -> WaitingMessage {
        loop {
            if let Some(message) = self.try_pop() {
                return message;
            }
            self.filled.notified().await;
        }
    }

    pub(crate) fn try_pop(&self) -> Option<WaitingMessage> {
        let mut queue = self.queue.lock();
        let message = queue.messages.pop_front()?;
        queue.bytes -= message.payload.len();
        self.emptied.notify_waiters();
        Some(message)
    }

    /// Refuses further messages and drops the waiting ones.
    pub(crate) fn close(&self) {
        let mut queue = self.queue.lock();
        *queue = QueuedMessages { is_closed: true, ..QueuedMessages::default() };
        self.emptied.notify_waiters();
    }

    /// Returns bytes and number of waiting messages.
    pub(crate) fn waiting(&self) -> (usize, usize) {
        let queue = self.queue.lock();
        (queue.bytes, queue.messages.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_above_its_limits() {
        let outbox = Outbox::new(100, 3);
        assert_eq!(outbox.try_push(1, vec![0; 500]), Ok(()));
        assert_eq!(outbox.try_push(1, vec![0; 1]), Err(SendError::Full));
        assert_eq!(outbox.try_pop().map(|message| message.payload.len()), Some(500));
        for _ in 0..3 {
            assert_eq!(outbox.try_push(1, vec![0; 10]), Ok(()));
        }
        assert_eq!(outbox.try_push(1, vec![]), Err(SendError::Full));
        assert_eq!(outbox.waiting(), (30, 3));
        outbox.close();
        assert_eq!(outbox.try_push(1, vec![]), Err(SendError::Closed));
        assert_eq!(outbox.waiting(), (0, 0));
    }
}
