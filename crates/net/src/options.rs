//! Settings of the network.

use rhizome_primitives::B256;
use rhizome_wire::session::{Enode, HostPort, NodeKey};
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

/// Settings of the network.
#[derive(Debug, Clone)]
pub struct NetworkOptions {
    /// Private key of this node.
    pub key: NodeKey,
    /// Name and version of this program, for Hello.
    pub client: String,
    /// Id of the network.
    pub network_id: u64,
    /// Hash of the genesis block.
    pub genesis: B256,
    /// Address of the listener.
    pub host: IpAddr,
    /// TCP port of the listener. `None`: no listener.
    pub port: Option<u16>,
    /// Nodes that are always dialled, and exempt from limits of slots and addresses.
    pub static_peers: Vec<Enode>,
    /// Whether other nodes are looked for over UDP. Needs a listener.
    pub has_discovery: bool,
    /// Nodes from which discovery starts.
    pub bootnodes: Vec<HostPort>,
    /// Address under which other nodes reach this one, if it differs from `host`.
    pub public_ip: Option<IpAddr>,
    /// File of known nodes. `None`: not stored.
    pub nodes_file: Option<PathBuf>,
    /// Maximum number of peers.
    pub max_peers: usize,
    /// Whether whole blocks are served to snap clients.
    pub serves_snap: bool,
    /// Whether a new chain gets a state from peers, so that only blocks above it are executed.
    pub downloads_state: bool,
    /// Whether loopback and private addresses are exempt from limits for addresses. For development networks.
    pub exempts_local: bool,
    /// Whether blocks come all the time, so that a head that does not move is suspicious. For public networks.
    pub expects_blocks: bool,
    /// Limits. The defaults are those of docs/spec/p2p-additions.md, F.
    pub limits: Limits,
}

impl NetworkOptions {
    /// Returns the default settings: no listener, no peers.
    pub fn new(key: NodeKey, network_id: u64, genesis: B256) -> NetworkOptions {
        NetworkOptions {
            key,
            client: concat!("Rhizome/v", env!("CARGO_PKG_VERSION")).to_owned(),
            network_id,
            genesis,
            host: IpAddr::from([127, 0, 0, 1]),
            port: None,
            static_peers: Vec::new(),
            has_discovery: false,
            bootnodes: Vec::new(),
            public_ip: None,
            nodes_file: None,
            max_peers: 50,
            serves_snap: false,
            downloads_state: false,
            exempts_local: false,
            expects_blocks: false,
            limits: Limits::default(),
        }
    }

    /// Returns the slots by direction.
    pub fn slots(&self) -> PeerSlots {
        // A third, at least eight; never more than half, so that a small node still accepts peers.
        let outbound = (self.max_peers / 3).max(8).min(self.max_peers.div_ceil(2));
        let inbound = self.max_peers - outbound;
        PeerSlots { outbound, inbound, outbound_group: (self.max_peers / 4).max(4), inbound_group: inbound.div_ceil(2) }
    }
}

/// Numbers of peers by direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PeerSlots {
    /// Peers that this node dialled.
    pub outbound: usize,
    /// Peers that dialled this node.
    pub inbound: usize,
    /// Outbound peers of one IPv4 /16.
    pub outbound_group: usize,
    /// Inbound peers of one IPv4 /16.
    pub inbound_group: usize,
}

/// Limits of a connection.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Time for a TCP connection.
    pub connect_time: Duration,
    /// Time from the TCP connection to the end of the handshake.
    pub handshake_time: Duration,
    /// Time from the handshake to Hello.
    pub hello_time: Duration,
    /// Time from Hello to Status.
    pub status_time: Duration,
    /// Time for a frame that has begun.
    pub frame_time: Duration,
    /// Interval in which a frame that has begun must bring `frame_window_bytes`.
    pub frame_window: Duration,
    /// Minimum bytes in a `frame_window`.
    pub frame_window_bytes: usize,
    /// Time without a byte after which a Ping is sent.
    pub ping_after: Duration,
    /// Time without a byte after which the connection is closed.
    pub silence: Duration,
    /// Maximum age of a message that waits to be sent.
    pub send_time: Duration,
    /// Bytes that may wait to be sent to one peer.
    pub outbox_bytes: usize,
    /// Messages that may wait to be sent to one peer.
    pub outbox_messages: usize,
    /// Unhandled bytes of one peer above which its socket is not read.
    pub inbox_bytes: usize,
    /// Unhandled messages of one peer from which on its socket is not read.
    pub inbox_messages: usize,
    /// Bytes a second of unrequested messages of one peer, averaged over 10 s.
    pub bytes_per_second: f64,
    /// Share of a processor for messages of one peer, averaged over 10 s.
    pub work_per_second: f64,
    /// Connections before Hello, all.
    pub pending: usize,
    /// Connections before Hello of one IPv4 /24 or IPv6 /48.
    pub pending_per_group: usize,
    /// Inbound connections a second from one address.
    pub accepts_per_second: f64,
    /// Inbound connections from one address in a burst.
    pub accept_burst: f64,
    /// First interval between two attempts to dial a static peer. Doubles up to `redial_max`.
    pub redial_min: Duration,
    /// Last interval between two attempts to dial a static peer.
    pub redial_max: Duration,
    /// Time without an answer after which a peer that is asked for headers or blocks is silent. One request counts as lost after twice
    /// the time.
    pub answer_time: Duration,
    /// Time for which a silent peer is not asked for headers or blocks.
    pub rest_time: Duration,
    /// Like `answer_time`, for a peer that is asked for a state or for older blocks.
    pub bulk_answer_time: Duration,
    /// Time without a snap server, or without a chunk or block of a state, after which a later pivot is chosen, or all blocks are
    /// executed. Also the time without a block after which a lighter header chain is taken.
    pub state_time: Duration,
    /// Time after which the claim of a peer counts again that named another best block since, or headers of the future.
    pub claim_pause: Duration,
    /// Interval in which an outbound peer is replaced by a node of another network of addresses.
    pub rotation_time: Duration,
    /// Time after which a head that does not move while peers are connected counts as stalled.
    pub stall_time: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            connect_time: Duration::from_secs(2),
            handshake_time: Duration::from_secs(5),
            hello_time: Duration::from_secs(5),
            status_time: Duration::from_secs(30),
            frame_time: Duration::from_secs(60),
            frame_window: Duration::from_secs(10),
            frame_window_bytes: 160 * 1_024,
            ping_after: Duration::from_secs(15),
            silence: Duration::from_secs(75),
            send_time: Duration::from_secs(30),
            outbox_bytes: 7 << 20,
            outbox_messages: 8_192,
            inbox_bytes: 4 << 20,
            inbox_messages: 256,
            bytes_per_second: f64::from(4 << 20),
            work_per_second: 0.5,
            pending: 64,
            pending_per_group: 8,
            accepts_per_second: 1.0,
            accept_burst: 10.0,
            redial_min: Duration::from_secs(1),
            redial_max: Duration::from_secs(60),
            answer_time: Duration::from_secs(10),
            rest_time: Duration::from_secs(30),
            bulk_answer_time: Duration::from_secs(15),
            state_time: Duration::from_secs(120),
            claim_pause: Duration::from_secs(10),
            rotation_time: Duration::from_secs(30 * 60),
            stall_time: Duration::from_secs(10 * 60),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_by_direction() {
        let key = NodeKey::from_bytes([1; 32]).unwrap();
        let slots =
            |max_peers| NetworkOptions { max_peers, ..NetworkOptions::new(key.clone(), 33, B256::ZERO) }.slots();
        assert_eq!(slots(50), PeerSlots { outbound: 16, inbound: 34, outbound_group: 12, inbound_group: 17 });
        assert_eq!(slots(4), PeerSlots { outbound: 2, inbound: 2, outbound_group: 4, inbound_group: 1 });
        assert_eq!((slots(1).outbound, slots(0).inbound), (1, 0));
    }
}
