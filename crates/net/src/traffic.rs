//! Counters of bytes, messages and closed connections.

use crate::close_reason::CloseReason;
use parking_lot::Mutex;
use rhizome_wire::session::codes;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

/// Names of messages by code, in the order of [`Messages`].
pub const MESSAGE_NAMES: [&str; 8] = ["hello", "disconnect", "ping", "pong", "status", "rsk", "rhizome", "other"];

/// Number of messages by name.
#[derive(Debug, Default)]
pub struct Messages([AtomicU64; MESSAGE_NAMES.len()]);

impl Messages {
    fn count(&self, code: u8) {
        let at = match code {
            codes::HELLO => 0,
            codes::DISCONNECT => 1,
            codes::PING => 2,
            codes::PONG => 3,
            codes::STATUS => 4,
            codes::RSK => 5,
            codes::RHIZOME.. => 6,
            _ => 7,
        };
        self.0[at].fetch_add(1, Relaxed);
    }

    /// Returns the numbers in the order of [`MESSAGE_NAMES`].
    pub fn load(&self) -> [u64; MESSAGE_NAMES.len()] {
        std::array::from_fn(|at| self.0[at].load(Relaxed))
    }

    fn add(&self, other: &Messages) {
        for (sum, part) in self.0.iter().zip(&other.0) {
            sum.fetch_add(part.load(Relaxed), Relaxed);
        }
    }
}

/// Bytes and messages in both directions, handshakes not included.
#[derive(Debug)]
pub struct PeerTraffic {
    /// Bytes received.
    pub bytes_in: AtomicU64,
    /// Bytes sent.
    pub bytes_out: AtomicU64,
    /// Messages received.
    pub messages_in: Messages,
    /// Messages sent.
    pub messages_out: Messages,
    started: Instant,
    /// Milliseconds from `started` to the last byte received.
    last_received: AtomicU64,
}

impl Default for PeerTraffic {
    fn default() -> PeerTraffic {
        PeerTraffic {
            bytes_in: AtomicU64::new(0),
            bytes_out: AtomicU64::new(0),
            messages_in: Messages::default(),
            messages_out: Messages::default(),
            started: Instant::now(),
            last_received: AtomicU64::new(0),
        }
    }
}

impl PeerTraffic {
    pub(crate) fn received_bytes(&self, bytes: usize) {
        self.bytes_in.fetch_add(bytes as u64, Relaxed);
        self.last_received.store(self.started.elapsed().as_millis() as u64, Relaxed);
    }

    pub(crate) fn received(&self, code: u8) {
        self.messages_in.count(code);
    }

    pub(crate) fn sent(&self, code: u8, bytes: usize) {
        self.messages_out.count(code);
        self.bytes_out.fetch_add(bytes as u64, Relaxed);
    }

    /// Returns the time since the last byte received.
    pub(crate) fn silence(&self) -> std::time::Duration {
        let last = std::time::Duration::from_millis(self.last_received.load(Relaxed));
        self.started.elapsed().saturating_sub(last)
    }

    pub(crate) fn add(&self, other: &PeerTraffic) {
        self.bytes_in.fetch_add(other.bytes_in.load(Relaxed), Relaxed);
        self.bytes_out.fetch_add(other.bytes_out.load(Relaxed), Relaxed);
        self.messages_in.add(&other.messages_in);
        self.messages_out.add(&other.messages_out);
    }
}

/// Number of closed connections by reason.
#[derive(Debug, Default)]
pub(crate) struct Closed(Mutex<BTreeMap<&'static str, u64>>);

impl Closed {
    pub(crate) fn count(&self, reason: &CloseReason) {
        *self.0.lock().entry(reason.name()).or_default() += 1;
    }

    pub(crate) fn load(&self) -> BTreeMap<&'static str, u64> {
        self.0.lock().clone()
    }
}
