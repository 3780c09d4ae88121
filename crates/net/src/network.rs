//! Starts and stops the network, and answers questions about it.

use crate::close_reason::CloseReason;
use crate::error::NetworkError;
use crate::local_chain::StatusSource;
use crate::network_state::NetworkState;
use crate::options::NetworkOptions;
use crate::peer::Peer;
use crate::peer::events::PeerEvent;
use crate::{dialler, listener};
use parking_lot::Mutex;
use rhizome_wire::session::{Enode, HostPort, NodeId};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc;

/// Threads of the network.
const THREADS: usize = 2;
/// Time for the last messages to all peers.
const FAREWELL_TIME: Duration = Duration::from_millis(700);
/// Time for the threads to end after that.
const THREAD_TIME: Duration = Duration::from_millis(250);

/// The running network. Stops when it is dropped.
pub struct PeerNetwork {
    shared: Arc<NetworkState>,
    runtime: Mutex<Option<Runtime>>,
}

impl PeerNetwork {
    /// Opens the port and dials. Messages go to `events`; as long as that is full no socket is read.
    pub fn start(
        options: NetworkOptions,
        status: StatusSource,
        events: mpsc::Sender<PeerEvent>,
    ) -> Result<PeerNetwork, NetworkError> {
        let number = AtomicUsize::new(0);
        let runtime = Builder::new_multi_thread()
            .worker_threads(THREADS)
            // For names of hosts.
            .max_blocking_threads(THREADS)
            .thread_name_fn(move || format!("net-{}", number.fetch_add(1, Ordering::Relaxed)))
            .enable_all()
            .build()
            .map_err(NetworkError::Threads)?;
        let shared = Arc::new(NetworkState::new(options, status, events));
        if let Some(listener) = runtime.block_on(listener::bind(&shared))? {
            runtime.spawn(listener::listen(Arc::clone(&shared), listener));
        }
        runtime.spawn(dialler::dial(Arc::clone(&shared)));
        Ok(PeerNetwork { shared, runtime: Mutex::new(Some(runtime)) })
    }

    /// Says goodbye to all peers and ends the threads, within 1 s. Further calls do nothing.
    pub fn stop(&self) {
        let Some(runtime) = self.runtime.lock().take() else { return };
        self.shared.registry.stop();
        let limit = Instant::now() + FAREWELL_TIME;
        while !self.shared.registry.is_empty() && Instant::now() < limit {
            std::thread::sleep(Duration::from_millis(2));
        }
        runtime.shutdown_timeout(THREAD_TIME);
    }

    /// Returns the peers that have sent a Status of our chain.
    pub fn peers(&self) -> Vec<Arc<Peer>> {
        let mut peers = self.shared.registry.all();
        peers.retain(|peer| peer.is_active());
        peers
    }

    /// Returns a peer by its id.
    pub fn peer(&self, id: &NodeId) -> Option<Arc<Peer>> {
        self.shared.registry.get(id).filter(|peer| peer.is_active())
    }

    /// Returns the address of the listener, `None` if there is none.
    pub fn listening(&self) -> Option<SocketAddr> {
        self.shared.listening.get().copied()
    }

    /// Returns the address under which other nodes find this one.
    pub fn enode(&self) -> Option<Enode> {
        let address = self.listening()?;
        let address = HostPort { host: address.ip().to_string(), port: address.port() };
        Some(Enode { id: self.id(), address })
    }

    /// Returns the id of this node.
    pub fn id(&self) -> NodeId {
        self.shared.options.key.id()
    }

    /// Dials a node from now on. Replaces an earlier address of the same node.
    pub fn add_peer(&self, enode: Enode) {
        let mut peers = self.shared.static_peers.write();
        peers.retain(|other| other.id != enode.id);
        self.shared.dials.forget(&enode.id);
        peers.push(enode);
        drop(peers);
        self.shared.dials.changed.notify_one();
    }

    /// Disconnects a node and does not dial it any more. Returns whether it was known.
    pub fn remove_peer(&self, id: &NodeId) -> bool {
        let mut peers = self.shared.static_peers.write();
        let before = peers.len();
        peers.retain(|enode| enode.id != *id);
        let was_static = peers.len() < before;
        drop(peers);
        let peer = self.shared.registry.get(id);
        if let Some(peer) = &peer {
            peer.close(CloseReason::Removed);
        }
        was_static || peer.is_some()
    }

    /// Returns the number of closed connections by reason.
    pub fn closed(&self) -> BTreeMap<&'static str, u64> {
        self.shared.closed.load()
    }
}

impl Drop for PeerNetwork {
    fn drop(&mut self) {
        self.stop();
    }
}
