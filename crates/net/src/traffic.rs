//! Counters of bytes, messages and closed connections.

use crate::close_reason::CloseReason;
use parking_lot::Mutex;
use rhizome_wire::rsk::message_type;
use rhizome_wire::session::codes;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

/// First position of rsk/62 in [`MESSAGE_TYPES`], and of rhz/1.
const FIRST_RSK: usize = 6;
const FIRST_RHIZOME: usize = FIRST_RSK + RSK_COUNT;
const RSK_COUNT: usize = 26;
/// Position of messages of unknown type.
const OTHER: usize = 5;

/// Names of message types: of the base protocol, of rsk/62 by type, of rhz/1 by number. Types without a name count as `other`.
const MESSAGE_TYPES: [&str; FIRST_RHIZOME + 4] = [
    "hello",
    "disconnect",
    "ping",
    "pong",
    "eth_status",
    "other",
    "",
    "status",
    "block",
    "get_block",
    "",
    "",
    "new_block_hashes",
    "transactions",
    "block_hash_request",
    "block_headers_request",
    "block_headers_response",
    "block_request",
    "block_response",
    "skeleton_response",
    "body_request",
    "body_response",
    "skeleton_request",
    "new_block_hash",
    "block_hash_response",
    "",
    "snap_state_chunk_request",
    "snap_state_chunk_response",
    "snap_status_request",
    "snap_status_response",
    "snap_blocks_request",
    "snap_blocks_response",
    "rhz_headers_request",
    "rhz_headers",
    "rhz_bodies_request",
    "rhz_bodies",
];

/// Returns the position of a message in [`MESSAGE_TYPES`].
fn position(code: u8, payload: &[u8]) -> usize {
    let position = match code {
        codes::HELLO..=codes::PONG => usize::from(code),
        codes::STATUS => 4,
        codes::RSK => match message_type(payload) {
            Ok(kind) if usize::from(kind) < RSK_COUNT => FIRST_RSK + usize::from(kind),
            _ => OTHER,
        },
        codes::RHIZOME.. => FIRST_RHIZOME + usize::from(code - codes::RHIZOME),
        _ => OTHER,
    };
    if MESSAGE_TYPES.get(position).is_some_and(|name| !name.is_empty()) { position } else { OTHER }
}

/// Messages of one type in one direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageCount {
    /// Type, e.g. `body_response`.
    pub name: &'static str,
    /// Number of messages.
    pub messages: u64,
    /// Sum of their lengths in bytes, without frames.
    pub bytes: u64,
}

/// Counters of one direction, by message type.
#[derive(Debug)]
pub(crate) struct MessageCounters([(AtomicU64, AtomicU64); MESSAGE_TYPES.len()]);

impl Default for MessageCounters {
    fn default() -> MessageCounters {
        MessageCounters(std::array::from_fn(|_position| Default::default()))
    }
}

impl MessageCounters {
    pub(crate) fn count(&self, code: u8, payload: &[u8]) {
        if let Some((messages, bytes)) = self.0.get(position(code, payload)) {
            messages.fetch_add(1, Relaxed);
            bytes.fetch_add(payload.len() as u64, Relaxed);
        }
    }

    /// Returns the types that have occurred.
    pub(crate) fn load(&self) -> Vec<MessageCount> {
        let counts = MESSAGE_TYPES.iter().zip(&self.0).map(|(name, (messages, bytes))| MessageCount {
            name,
            messages: messages.load(Relaxed),
            bytes: bytes.load(Relaxed),
        });
        counts.filter(|count| count.messages > 0).collect()
    }
}

/// Messages of all connections since the start.
#[derive(Debug, Default)]
pub(crate) struct NetworkTraffic {
    pub(crate) received: MessageCounters,
    pub(crate) sent: MessageCounters,
}

/// Bytes of one connection in both directions, with frames; without the handshake, Hello, and bytes that arrive together with Hello.
#[derive(Debug)]
pub struct PeerTraffic {
    /// Bytes received.
    pub bytes_in: AtomicU64,
    /// Bytes sent.
    pub bytes_out: AtomicU64,
    started: Instant,
    /// Milliseconds from `started` to the last byte received.
    last_received: AtomicU64,
}

impl Default for PeerTraffic {
    fn default() -> PeerTraffic {
        PeerTraffic {
            bytes_in: AtomicU64::new(0),
            bytes_out: AtomicU64::new(0),
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

    pub(crate) fn sent_bytes(&self, bytes: usize) {
        self.bytes_out.fetch_add(bytes as u64, Relaxed);
    }

    /// Returns the time since the last byte received.
    pub(crate) fn silence(&self) -> std::time::Duration {
        let last = std::time::Duration::from_millis(self.last_received.load(Relaxed));
        self.started.elapsed().saturating_sub(last)
    }

    /// Does not count a time in which this node did not run as silence.
    pub(crate) fn excuse(&self, pause: std::time::Duration) {
        let (pause, now) = (pause.as_millis() as u64, self.started.elapsed().as_millis() as u64);
        let later = |last: u64| Some(last.saturating_add(pause).min(now).max(last));
        // Never fails: there is always a later time.
        let _ = self.last_received.fetch_update(Relaxed, Relaxed, later);
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

#[cfg(test)]
mod tests {
    use super::*;
    use rhizome_primitives::B256;
    use rhizome_wire::rhz::RhzMessage;
    use rhizome_wire::rsk::RskMessage;

    fn name(code: u8, payload: &[u8]) -> &'static str {
        MESSAGE_TYPES[position(code, payload)]
    }

    #[test]
    fn messages_are_named_by_their_type() {
        let rsk = |message: RskMessage<'_>| name(codes::RSK, &message.encode());
        assert_eq!(rsk(RskMessage::GetBlock { hash: B256::ZERO }), "get_block");
        assert_eq!(rsk(RskMessage::BodyRequest { id: 1, hash: B256::ZERO }), "body_request");
        assert_eq!(rsk(RskMessage::BlockHashResponse { id: 1, hash: B256::ZERO }), "block_hash_response");
        assert_eq!(rsk(RskMessage::SnapBlocksRequest { id: 1, number: 2 }), "snap_blocks_request");
        let bodies = RhzMessage::BodiesRequest { id: 1, hashes: Vec::new() };
        assert_eq!(name(codes::RHIZOME + bodies.number(), &bodies.encode()), "rhz_bodies_request");
        assert_eq!(
            [codes::HELLO, codes::PONG, codes::STATUS].map(|code| name(code, &[])),
            ["hello", "pong", "eth_status"]
        );
    }

    #[test]
    fn unknown_and_malformed_messages_count_as_other() {
        // Types 0, 4, 19, 26 and 153.
        for payload in
            [[0xc2, 0xc1, 0x80], [0xc2, 0xc1, 0x04], [0xc2, 0xc1, 0x13], [0xc2, 0xc1, 0x1a], [0xc2, 0x81, 0x99]]
        {
            assert_eq!(name(codes::RSK, &payload), "other");
        }
        assert_eq!(name(codes::RSK, &[]), "other");
        assert_eq!([codes::PEERS, 0x11, codes::RHIZOME + 4, 0xff].map(|code| name(code, &[])), ["other"; 4]);
    }

    #[test]
    fn excused_time_is_no_silence() {
        let traffic = PeerTraffic::default();
        std::thread::sleep(std::time::Duration::from_millis(20));
        traffic.excuse(std::time::Duration::from_secs(60));
        // Not in the future: later silence counts.
        assert!(traffic.last_received.load(Relaxed) <= traffic.started.elapsed().as_millis() as u64);
        assert!(traffic.last_received.load(Relaxed) >= 20);
    }

    #[test]
    fn counters_show_what_has_occurred() {
        let counters = MessageCounters::default();
        assert_eq!(counters.load(), []);
        counters.count(codes::PING, &[0xc0]);
        counters.count(codes::RSK, &[0; 10]);
        counters.count(codes::PING, &[0xc0]);
        let count = |name, messages, bytes| MessageCount { name, messages, bytes };
        assert_eq!(counters.load(), [count("ping", 2, 2), count("other", 1, 10)]);
    }
}
