//! Rules of discovery without sockets: packets and time in, packets out.

use super::guard::PacketGuard;
use super::packet_log::PacketLog;
use super::requests::{OpenRequests, PingCause};
use super::table::{Insertion, NodeTable};
use crate::address_group::is_local;
use rhizome_wire::session::{
    DiscoveryContent, DiscoveryMessage, DiscoveryPacket, NodeEndpoint, NodeId, NodeKey, NodeRecord, PacketId,
};
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

/// Nodes in an answer: one packet below 1,280 bytes.
const NEIGHBORS_SENT: usize = 12;
/// Nodes taken from an answer.
const NEIGHBORS_TAKEN: usize = 20;
/// Interval between two rounds of questions.
const REFRESH: Duration = Duration::from_secs(60);
/// First pause between two contacts of the configured addresses while no node answers. Doubles up to `REFRESH`.
const FIRST_PAUSE: Duration = Duration::from_secs(2);
/// Nodes asked for neighbors in a round, and nodes that get a Ping.
const ASKED: usize = 23;
const CHECKED: usize = 15;

/// Settings of discovery.
pub(crate) struct DiscoveryOptions {
    pub(crate) key: NodeKey,
    pub(crate) network_id: u64,
    /// Address that packets state; other nodes read the source of the datagram instead.
    pub(crate) host: IpAddr,
    pub(crate) port: u16,
    /// Whether loopback and private addresses are nodes like others.
    pub(crate) exempts_local: bool,
}

/// A datagram to send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Datagram {
    pub(crate) to: SocketAddr,
    pub(crate) bytes: Vec<u8>,
}

/// Discovery of one node.
pub(crate) struct Discovery {
    options: DiscoveryOptions,
    pub(crate) table: NodeTable,
    requests: OpenRequests,
    recent: PacketLog,
    guard: PacketGuard,
    refreshed: Option<Instant>,
    /// Time of the last contact of the configured addresses, and the pause after it.
    contacted: Option<(Instant, Duration)>,
    /// New nodes, to be asked at the next tick: they answer only after our Pong has reached them.
    unasked: Vec<(NodeId, SocketAddr)>,
    outgoing: Vec<Datagram>,
}

impl Discovery {
    pub(crate) fn new(options: DiscoveryOptions, now: Instant) -> Discovery {
        Discovery {
            table: NodeTable::new(options.key.id(), options.exempts_local),
            requests: OpenRequests::default(),
            recent: PacketLog::default(),
            guard: PacketGuard::new(now),
            refreshed: None,
            contacted: None,
            unasked: Vec::new(),
            outgoing: Vec::new(),
            options,
        }
    }

    /// Takes the datagrams to send.
    pub(crate) fn take_outgoing(&mut self) -> Vec<Datagram> {
        std::mem::take(&mut self.outgoing)
    }

    /// Sends a Ping to a configured or remembered address.
    pub(crate) fn contact(&mut self, address: SocketAddr, now: Instant) {
        self.ping(address, PingCause::Contact, now);
    }

    /// Reads a datagram. Invalid ones have no effect.
    pub(crate) fn receive(&mut self, bytes: &[u8], source: SocketAddr, now: Instant) {
        if !self.guard.admits(source.ip(), now) {
            return;
        }
        let Ok(packet) = DiscoveryPacket::decode(bytes) else { return };
        let is_other_network = packet.message.network.is_some_and(|network| network != self.options.network_id);
        if is_other_network || !self.recent.insert(packet.mdc, now) || !self.guard.admits_recovery(now) {
            return;
        }
        let Ok(sender) = packet.sender() else { return };
        if sender == self.options.key.id() {
            return;
        }
        let DiscoveryMessage { id, content, .. } = packet.message;
        match content {
            DiscoveryContent::Ping(_) => self.on_ping(id, sender, source, now),
            DiscoveryContent::Pong(_) => self.on_pong(&id, sender, source, now),
            DiscoveryContent::FindNode(_) => self.on_find(id, &sender, source),
            DiscoveryContent::Neighbors(nodes) => self.on_neighbors(&id, &sender, source, nodes, now),
        }
    }

    fn on_ping(&mut self, id: PacketId, sender: NodeId, source: SocketAddr, now: Instant) {
        let pong = DiscoveryContent::Pong(self.endpoint());
        self.send(id, source, pong);
        match self.table.get(&sender) {
            Some(node) if node.address == source => drop(self.table.insert(sender, source, now)),
            _ => self.ping(source, PingCause::Sender, now),
        }
    }

    fn on_pong(&mut self, id: &PacketId, sender: NodeId, source: SocketAddr, now: Instant) {
        let Some(ping) = self.requests.answer_ping(id, source, now) else { return };
        if let PingCause::Check(expected) = ping.cause
            && expected != sender
        {
            self.table.remove(&expected);
        }
        match self.table.insert(sender, source, now) {
            Insertion::Full(oldest) => self.ping(oldest.address, PingCause::Check(oldest.id), now),
            Insertion::Added if ping.cause != PingCause::Check(sender) => self.unasked.push((sender, source)),
            Insertion::Added | Insertion::Refused => {}
        }
    }

    /// Answers only nodes that have proven the address of the datagram.
    fn on_find(&mut self, id: PacketId, sender: &NodeId, source: SocketAddr) {
        if self.table.get(sender).is_none_or(|node| node.address != source) {
            return;
        }
        let record = |node: &super::table::KnownNode| {
            let (host, port) = (node.address.ip().to_string(), node.address.port());
            NodeRecord { endpoint: NodeEndpoint { host, udp_port: port, tcp_port: port }, id: node.id }
        };
        let nodes = self.table.nearest(sender, NEIGHBORS_SENT).into_iter().map(record).collect();
        self.send(id, source, DiscoveryContent::Neighbors(nodes));
    }

    fn on_neighbors(
        &mut self,
        id: &PacketId,
        sender: &NodeId,
        source: SocketAddr,
        nodes: Vec<NodeRecord>,
        now: Instant,
    ) {
        if !self.requests.answer_find(id, sender, source, now) {
            return;
        }
        for node in nodes.into_iter().take(NEIGHBORS_TAKEN) {
            let Some(address) = self.usable(&node) else { continue };
            if self.table.get(&node.id).is_none_or(|known| known.address != address) {
                self.ping(address, PingCause::Named(*sender), now);
            }
        }
    }

    /// Returns the address of a named node, `None` if it must not be written to.
    fn usable(&self, node: &NodeRecord) -> Option<SocketAddr> {
        // Names would let other nodes cause look-ups.
        let host: IpAddr = node.endpoint.host.parse().ok()?;
        let address = SocketAddr::new(host.to_canonical(), node.endpoint.udp_port);
        let is_own = node.id == self.options.key.id()
            || (address.ip() == self.options.host && address.port() == self.options.port);
        let is_reachable = !host.is_unspecified()
            && !host.is_multicast()
            && address.port() != 0
            && (self.options.exempts_local || !is_local(host));
        (is_reachable && !is_own).then_some(address)
    }

    /// Repeats and forgets requests, and asks for more nodes. To be called about every second. Returns whether the
    /// configured addresses are to be contacted: nothing is known or under way, and the pause since the last contact is over.
    pub(crate) fn tick(&mut self, now: Instant) -> bool {
        let (repeated, silent) = self.requests.expire(now);
        for id in silent {
            self.table.remove(&id);
        }
        for ping in repeated {
            if let Some(id) = self.send_ping(ping.address) {
                self.requests.repeat(id, ping, now);
            }
        }
        for (id, address) in std::mem::take(&mut self.unasked) {
            self.find(id, address, now);
        }
        let is_due = self.refreshed.is_none_or(|last| now.saturating_duration_since(last) >= REFRESH);
        if is_due {
            self.refreshed = Some(now);
            self.refresh(now);
        }
        self.is_contact_due(now)
    }

    fn is_contact_due(&mut self, now: Instant) -> bool {
        if self.table.len() > 0 {
            self.contacted = None;
            return false;
        }
        let is_over = self.contacted.is_none_or(|(last, pause)| now.saturating_duration_since(last) >= pause);
        // At the start beside the remembered nodes: an unknown node in the table would be the only source of others.
        if !is_over || (self.contacted.is_some() && !self.requests.is_idle()) {
            return false;
        }
        let pause = self.contacted.map_or(FIRST_PAUSE, |(_last, pause)| (pause * 2).min(REFRESH));
        self.contacted = Some((now, pause));
        true
    }

    fn refresh(&mut self, now: Instant) {
        let own = self.options.key.id();
        let asked: Vec<_> = self.table.nearest(&own, ASKED).into_iter().map(|node| (node.id, node.address)).collect();
        for (id, address) in asked {
            self.find(id, address, now);
        }
        let mut checked: Vec<_> = self.table.all().map(|node| (node.last_seen, node.id, node.address)).collect();
        checked.sort_unstable_by_key(|(last_seen, ..)| *last_seen);
        for (_, id, address) in checked.into_iter().take(CHECKED) {
            self.ping(address, PingCause::Check(id), now);
        }
    }

    fn endpoint(&self) -> NodeEndpoint {
        let DiscoveryOptions { host, port, .. } = self.options;
        NodeEndpoint { host: host.to_string(), udp_port: port, tcp_port: port }
    }

    fn ping(&mut self, address: SocketAddr, cause: PingCause, now: Instant) {
        let Some(id) = packet_id() else { return };
        if self.requests.ping(id, address, cause, now) {
            let ping = DiscoveryContent::Ping(self.endpoint());
            self.send(id, address, ping);
        }
    }

    fn send_ping(&mut self, address: SocketAddr) -> Option<PacketId> {
        let id = packet_id()?;
        let ping = DiscoveryContent::Ping(self.endpoint());
        self.send(id, address, ping);
        Some(id)
    }

    fn find(&mut self, node: NodeId, address: SocketAddr, now: Instant) {
        let Some(id) = packet_id() else { return };
        self.requests.find(id, node, address, now);
        self.send(id, address, DiscoveryContent::FindNode(self.options.key.id()));
    }

    fn send(&mut self, id: PacketId, to: SocketAddr, content: DiscoveryContent) {
        let message = DiscoveryMessage { id, network: Some(self.options.network_id), content };
        self.outgoing.push(Datagram { to, bytes: message.encode(&self.options.key) });
    }
}

/// Returns a fresh id, `None` without randomness.
fn packet_id() -> Option<PacketId> {
    let mut random = [0; 16];
    getrandom::fill(&mut random).ok()?;
    Some(PacketId::from_random(random))
}

#[cfg(test)]
mod tests;
