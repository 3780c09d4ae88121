//! Requests that wait for an answer.

use rhizome_wire::session::{NodeId, PacketId};
use std::collections::HashMap;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// Time for an answer, as in the reference.
pub(super) const ANSWER_TIME: Duration = Duration::from_millis(14_999);
/// Pings before a node counts as silent.
const ATTEMPTS: u8 = 3;
/// Pings to addresses that only Neighbors have named.
const MAX_UNPROVEN: usize = 32;

/// Reason of a Ping.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PingCause {
    /// The address is configured.
    Contact,
    /// A Ping seems to come from the address. Not repeated: the address may be forged, and would get packets without a reason.
    Sender,
    /// A node of the table is to show that it is still there.
    Check(NodeId),
    /// Neighbors from this node have named the address.
    Named(NodeId),
}

/// A Ping without its Pong.
#[derive(Debug, Clone, Copy)]
pub(super) struct OpenPing {
    pub(super) address: SocketAddr,
    pub(super) cause: PingCause,
    sent: Instant,
    attempt: u8,
}

/// Requests that wait for an answer.
#[derive(Default)]
pub(super) struct OpenRequests {
    pings: HashMap<PacketId, OpenPing>,
    finds: HashMap<PacketId, (NodeId, SocketAddr, Instant)>,
}

impl OpenRequests {
    /// Notes a Ping unless one to the same address is open, or too many to addresses that nodes have named are.
    pub(super) fn ping(&mut self, id: PacketId, address: SocketAddr, cause: PingCause, now: Instant) -> bool {
        let is_open = self.pings.values().any(|ping| ping.address == address);
        if is_open || matches!(cause, PingCause::Named(by) if !self.make_room(by)) {
            return false;
        }
        self.pings.insert(id, OpenPing { address, cause, sent: now, attempt: 1 });
        true
    }

    /// Whether a Ping to an address that a node has named may be sent. Gives up the oldest one of the node that has named the most,
    /// so that nodes share the Pings evenly.
    fn make_room(&mut self, by: NodeId) -> bool {
        let mut counts: HashMap<NodeId, usize> = HashMap::new();
        for ping in self.pings.values() {
            if let PingCause::Named(by) = ping.cause {
                *counts.entry(by).or_default() += 1;
            }
        }
        if counts.values().sum::<usize>() < MAX_UNPROVEN {
            return true;
        }
        let own = counts.get(&by).copied().unwrap_or_default();
        let most = counts.into_iter().max_by_key(|(_, count)| *count);
        let Some((other, _)) = most.filter(|(_, count)| *count > own + 1) else { return false };
        let named = self.pings.iter().filter(|(_, ping)| ping.cause == PingCause::Named(other));
        let oldest = named.min_by_key(|(_, ping)| ping.sent).map(|(id, _)| *id);
        oldest.is_some_and(|id| self.pings.remove(&id).is_some())
    }

    /// Takes the Ping that a Pong from `source` answers.
    pub(super) fn answer_ping(&mut self, id: &PacketId, source: SocketAddr, now: Instant) -> Option<OpenPing> {
        let ping = *self.pings.get(id).filter(|ping| ping.address == source)?;
        self.pings.remove(id);
        (now.saturating_duration_since(ping.sent) <= ANSWER_TIME).then_some(ping)
    }

    /// Notes a Find.
    pub(super) fn find(&mut self, id: PacketId, node: NodeId, address: SocketAddr, now: Instant) {
        self.finds.insert(id, (node, address, now));
    }

    /// Takes the Find that Neighbors from `node` at `source` answer.
    pub(super) fn answer_find(&mut self, id: &PacketId, node: &NodeId, source: SocketAddr, now: Instant) -> bool {
        let is_answer = |(asked, address, sent): &(NodeId, SocketAddr, Instant)| {
            asked == node && *address == source && now.saturating_duration_since(*sent) <= ANSWER_TIME
        };
        let is_expected = self.finds.get(id).is_some_and(is_answer);
        if is_expected {
            self.finds.remove(id);
        }
        is_expected
    }

    /// Removes requests without an answer in time. Returns the Pings to repeat, and the silent nodes of the table.
    pub(super) fn expire(&mut self, now: Instant) -> (Vec<OpenPing>, Vec<NodeId>) {
        self.finds.retain(|_, (_, _, sent)| now.saturating_duration_since(*sent) <= ANSWER_TIME);
        let (mut repeated, mut silent) = (Vec::new(), Vec::new());
        self.pings.retain(|_, ping| {
            let is_open = now.saturating_duration_since(ping.sent) <= ANSWER_TIME;
            match ping.cause {
                _ if is_open => {}
                PingCause::Sender => {}
                _ if ping.attempt < ATTEMPTS => repeated.push(*ping),
                PingCause::Check(id) => silent.push(id),
                PingCause::Contact | PingCause::Named(_) => {}
            }
            is_open
        });
        (repeated, silent)
    }

    /// Notes that a Ping was sent again.
    pub(super) fn repeat(&mut self, id: PacketId, ping: OpenPing, now: Instant) {
        self.pings.insert(id, OpenPing { sent: now, attempt: ping.attempt + 1, ..ping });
    }

    /// Whether nothing is under way that this node has begun: a Ping to the source of a Ping can be caused at any time.
    pub(super) fn is_idle(&self) -> bool {
        self.finds.is_empty() && self.pings.values().all(|ping| ping.cause == PingCause::Sender)
    }
}
