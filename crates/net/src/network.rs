//! Starts and stops the network, and answers questions about it.

use crate::close_reason::CloseReason;
use crate::error::NetworkError;
use crate::figures::NetworkFigures;
use crate::local_chain::{ChainStatus, StatusSource};
use crate::network_state::NetworkState;
use crate::node_list::{ANCHORS, ListedNode};
use crate::options::NetworkOptions;
use crate::peer::events::PeerEvent;
use crate::peer::{Peer, PeerDirection};
use crate::requests::{RequestTools, WorkThreads};
use crate::standing::{PeerStanding, ScoreEvent};
use crate::sync::{self, SyncProgress, SyncStatus};
use crate::tasks::start_on;
use crate::{dialler, discovery, dispatch, head_watch, listener, older_blocks, relay, rotation, server, snap};
use parking_lot::Mutex;
use rhizome_chain::{Chain, StateProgress};
use rhizome_wire::session::{Enode, HostPort, NodeId};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc;

/// Threads of the network.
const THREADS: usize = 2;
/// Time for the last messages to all peers.
const FAREWELL_TIME: Duration = Duration::from_millis(700);
/// Time for the threads to end after that.
const THREAD_TIME: Duration = Duration::from_millis(250);

/// Events of peers that wait to be passed on.
const EVENTS: usize = 256;

/// The running network. Stops when it is dropped.
pub struct PeerNetwork {
    shared: Arc<NetworkState>,
    runtime: Mutex<Option<Runtime>>,
    /// The synchronized chain, if there is one.
    synchronized: Option<SynchronizedChain>,
}

/// Chain that follows the peers of the network.
struct SynchronizedChain {
    chain: Arc<Chain>,
    progress: Arc<SyncProgress>,
    /// Feed the importer. They end after the runtime.
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl PeerNetwork {
    /// Opens the port and dials. Messages go to `events`; as long as that is full no socket is read.
    pub fn start(
        options: NetworkOptions,
        status: StatusSource,
        standing: Arc<PeerStanding>,
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
        let shared = Arc::new(NetworkState::new(options, status, standing, events));
        if let Some(listener) = runtime.block_on(listener::bind(&shared))? {
            start_on(&runtime, listener::listen(Arc::clone(&shared), listener));
        }
        if let Some((socket, address)) = runtime.block_on(discovery::task::bind(&shared))? {
            start_on(&runtime, discovery::task::discover(Arc::clone(&shared), socket, address));
        }
        start_on(&runtime, dialler::dial(Arc::clone(&shared)));
        start_on(&runtime, rotation::rotate(Arc::clone(&shared)));
        start_on(&runtime, head_watch::watch(Arc::clone(&shared)));
        start_on(&runtime, close_banned(Arc::clone(&shared)));
        Ok(PeerNetwork { shared, runtime: Mutex::new(Some(runtime)), synchronized: None })
    }

    /// Starts the network of a node. Its chain follows that of the peers.
    pub fn join(
        options: NetworkOptions,
        chain: Arc<Chain>,
        standing: Arc<PeerStanding>,
    ) -> Result<PeerNetwork, NetworkError> {
        let (events, received) = mpsc::channel(EVENTS);
        let announced = Arc::clone(&chain);
        let status = Arc::new(move || ChainStatus::of(&announced));
        let mut network = PeerNetwork::start(options, status, standing, events)?;
        let (senders, handlers) = dispatch::channels();
        let progress = Arc::new(SyncProgress::default());
        let shared = &network.shared;
        shared.serve(&chain);
        let threads = WorkThreads::start().map_err(NetworkError::Threads)?;
        let tools = || RequestTools {
            shared: Arc::clone(shared),
            chain: Arc::clone(&chain),
            progress: Arc::clone(&progress),
            threads: threads.clone(),
        };
        let (sync_task, sync_thread) = sync::synchronize(tools(), handlers.sync).map_err(NetworkError::Threads)?;
        let (relay_task, relay_thread) =
            relay::relay(Arc::clone(shared), Arc::clone(&chain), handlers.relay).map_err(NetworkError::Threads)?;
        if let Some(runtime) = &*network.runtime.lock() {
            start_on(runtime, snap::synchronize(tools(), handlers.snap));
            start_on(runtime, older_blocks::download(tools(), handlers.older_blocks));
            start_on(runtime, dispatch::dispatch(Arc::clone(shared), received, senders));
            start_on(runtime, sync_task);
            start_on(runtime, relay_task);
            start_on(runtime, server::serve(Arc::clone(shared), Arc::clone(&chain), handlers.server));
        }
        network.synchronized =
            Some(SynchronizedChain { chain, progress, threads: Mutex::new(vec![sync_thread, relay_thread]) });
        Ok(network)
    }

    /// Says goodbye to all peers and ends the threads, within 1 s. Further calls do nothing.
    pub fn stop(&self) {
        let Some(runtime) = self.runtime.lock().take() else { return };
        let anchors = self.anchors();
        self.shared.registry.stop();
        let limit = Instant::now() + FAREWELL_TIME;
        while !self.shared.registry.is_empty() && Instant::now() < limit {
            std::thread::sleep(Duration::from_millis(2));
        }
        runtime.shutdown_timeout(THREAD_TIME);
        let threads = self.synchronized.as_ref().map(|synchronized| std::mem::take(&mut *synchronized.threads.lock()));
        // A panic was printed.
        threads.into_iter().flatten().for_each(|thread| drop(thread.join()));
        if let Some(path) = &self.shared.options.nodes_file {
            // Without the file the next start takes longer to find peers.
            let _ = self.shared.nodes.lock().write(path, &anchors);
        }
    }

    /// Returns the progress of the synchronization; `None` without a chain.
    pub fn sync_status(&self) -> Option<SyncStatus> {
        let synchronized = self.synchronized.as_ref()?;
        Some(synchronized.progress.status(&synchronized.chain))
    }

    /// Returns the progress of the download of a state; `None` while there is none.
    pub fn state_progress(&self) -> Option<StateProgress> {
        self.synchronized.as_ref()?.progress.download()
    }

    /// Returns the outbound peers with the longest connections.
    fn anchors(&self) -> Vec<ListedNode> {
        let mut peers = self.peers();
        peers.retain(|peer| peer.direction == PeerDirection::Outbound && !peer.is_static);
        peers.sort_by_key(|peer| peer.connected);
        peers.iter().take(ANCHORS).map(|peer| ListedNode { id: peer.id, address: peer.address }).collect()
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
        let ip = self.shared.options.public_ip.unwrap_or(address.ip());
        let address = HostPort { host: ip.to_string(), port: address.port() };
        Some(Enode { id: self.id(), address })
    }

    /// Whether nodes are looked for over UDP.
    pub fn has_discovery(&self) -> bool {
        self.shared.options.has_discovery && self.listening().is_some()
    }

    /// Returns the id of this node.
    pub fn id(&self) -> NodeId {
        self.shared.options.key.id()
    }

    /// Returns the nodes that are always dialled.
    pub fn static_peers(&self) -> Vec<Enode> {
        self.shared.static_peers.read().clone()
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

    /// Records an event of a peer. An offence closes the connection, and bans node and address for a while.
    pub fn report(&self, peer: &Peer, event: ScoreEvent) {
        self.shared.report(peer, event);
    }

    /// Returns the standing of nodes and addresses.
    pub fn standing(&self) -> &PeerStanding {
        &self.shared.standing
    }

    /// Returns counts of peers, messages, queues, bans and closed connections.
    pub fn figures(&self) -> NetworkFigures {
        NetworkFigures::of(&self.shared)
    }

    /// Returns the number of closed connections by reason.
    pub fn closed(&self) -> BTreeMap<&'static str, u64> {
        self.shared.closed.load()
    }
}

/// Closes connections of peers that the operator bans.
async fn close_banned(shared: Arc<NetworkState>) {
    loop {
        shared.standing.banned.notified().await;
        for peer in shared.registry.all() {
            if shared.standing.refuses_node(&peer.id) || shared.standing.refuses_address(peer.address.ip()) {
                peer.close(CloseReason::Banned);
            }
        }
    }
}

impl Drop for PeerNetwork {
    fn drop(&mut self) {
        self.stop();
    }
}
