//! Networks for tests.

use rhizome_chain::ChainError;
use rhizome_net::{
    BanStore, ChainStatus, CloseReason, Enode, HostPort, Limits, MessageKind, NetworkOptions, NodeKey, Peer, PeerEvent,
    PeerNetwork, PeerStanding,
};
use rhizome_primitives::{B256, U256};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

pub(crate) const NETWORK: u64 = 7_771;
pub(crate) const GENESIS: B256 = B256::repeat_byte(0x8e);

/// Longest time that a test waits for anything.
const PATIENCE: Duration = Duration::from_secs(10);

pub(crate) struct TestNetwork {
    pub(crate) network: PeerNetwork,
    pub(crate) events: mpsc::Receiver<PeerEvent>,
}

pub(crate) fn key(fill: u8) -> NodeKey {
    NodeKey::from_bytes([fill; 32]).unwrap()
}

pub(crate) fn chain_status() -> ChainStatus {
    ChainStatus { number: 0, hash: GENESIS, parent_hash: B256::ZERO, total_difficulty: U256::from(1) }
}

/// Settings of a network with a listener on a free port, without limits for loopback.
pub(crate) fn options(fill: u8) -> NetworkOptions {
    let limits = Limits { redial_min: Duration::from_millis(100), ..Limits::default() };
    NetworkOptions { port: Some(0), exempts_local: true, limits, ..NetworkOptions::new(key(fill), NETWORK, GENESIS) }
}

/// Bans that are not stored.
struct NoBans;

impl BanStore for NoBans {
    fn read(&self) -> Result<String, ChainError> {
        Ok(String::new())
    }

    fn write(&self, _lines: &str) -> Result<(), ChainError> {
        Ok(())
    }
}

pub(crate) fn standing() -> Arc<PeerStanding> {
    Arc::new(PeerStanding::open(Arc::new(NoBans)).unwrap())
}

pub(crate) fn start(options: NetworkOptions) -> TestNetwork {
    start_with_capacity(options, 1_024)
}

pub(crate) fn start_with_capacity(options: NetworkOptions, capacity: usize) -> TestNetwork {
    let (sender, events) = mpsc::channel(capacity);
    let network = PeerNetwork::start(options, Arc::new(chain_status), standing(), sender).unwrap();
    TestNetwork { network, events }
}

impl TestNetwork {
    pub(crate) fn address(&self) -> SocketAddr {
        self.network.listening().unwrap()
    }

    pub(crate) fn enode(&self) -> Enode {
        self.network.enode().unwrap()
    }

    /// Waits for the next event.
    pub(crate) fn event(&mut self) -> PeerEvent {
        let start = Instant::now();
        loop {
            match self.events.try_recv() {
                Ok(event) => return event,
                Err(_) => assert!(start.elapsed() < PATIENCE, "no event"),
            }
            std::thread::sleep(Duration::from_micros(100));
        }
    }

    pub(crate) fn connected(&mut self) -> Arc<Peer> {
        match self.event() {
            PeerEvent::Connected(peer) => peer,
            other => panic!("expected a connection, got {other:?}"),
        }
    }

    pub(crate) fn message(&mut self) -> (MessageKind, Vec<u8>) {
        match self.event() {
            PeerEvent::Message(_, message) => (message.kind, message.payload().to_vec()),
            other => panic!("expected a message, got {other:?}"),
        }
    }

    pub(crate) fn disconnected(&mut self) -> CloseReason {
        loop {
            if let PeerEvent::Disconnected(_, reason) = self.event() {
                return reason;
            }
        }
    }

    /// Waits until a connection was closed for a reason.
    pub(crate) fn closed(&self, reason: &str) {
        wait(&format!("{reason} among {:?}", self.network.closed()), || {
            self.network.closed().get(reason).is_some_and(|count| *count > 0)
        });
    }
}

pub(crate) fn wait(what: &str, is_there: impl FnMut() -> bool) {
    wait_for(what, PATIENCE, is_there);
}

pub(crate) fn wait_for(what: &str, patience: Duration, mut is_there: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_there() {
        assert!(start.elapsed() < patience, "waited for {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// An address on which nothing listens.
pub(crate) fn nowhere(fill: u8) -> Enode {
    let unused = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    Enode { id: key(fill).id(), address: HostPort { host: "127.0.0.1".to_owned(), port: unused.port() } }
}
