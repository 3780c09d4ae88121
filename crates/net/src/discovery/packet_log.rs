//! Hashes of recent packets: packets have no expiry, so repetitions are recognised by their hash.

use rhizome_primitives::B256;
use std::collections::{HashSet, VecDeque};
use std::time::{Duration, Instant};

/// Time for which a packet is remembered.
const MEMORY: Duration = Duration::from_secs(60);
/// Packets at the maximum rate in that time.
const MAX_PACKETS: usize = 30_000;

/// Hashes of recent packets.
#[derive(Default)]
pub(super) struct PacketLog {
    order: VecDeque<(Instant, B256)>,
    known: HashSet<B256>,
}

impl PacketLog {
    /// Remembers a packet. Returns whether it is new.
    pub(super) fn insert(&mut self, mdc: B256, now: Instant) -> bool {
        while let Some((time, oldest)) = self.order.front() {
            if now.saturating_duration_since(*time) < MEMORY && self.order.len() < MAX_PACKETS {
                break;
            }
            self.known.remove(oldest);
            self.order.pop_front();
        }
        let is_new = self.known.insert(mdc);
        if is_new {
            self.order.push_back((now, mdc));
        }
        is_new
    }
}
