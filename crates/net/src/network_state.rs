//! State that the tasks of the network share.

use crate::admission::PendingConnections;
use crate::close_reason::CloseReason;
use crate::dialler::DialSchedule;
use crate::local_chain::StatusSource;
use crate::node_list::NodeList;
use crate::options::NetworkOptions;
use crate::peer::Peer;
use crate::peer::events::PeerEvent;
use crate::registry::Registry;
use crate::relay::AcceptedBlocks;
use crate::snap::pivot_below;
use crate::standing::{PeerStanding, ScoreEvent};
use crate::traffic::{Closed, NetworkTraffic};
use parking_lot::{Mutex, RwLock};
use rhizome_chain::Chain;
use rhizome_wire::session::{Capability, Enode, Hello, NodeId};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::sync::mpsc;

/// State that the tasks of the network share.
pub(crate) struct NetworkState {
    pub(crate) options: NetworkOptions,
    pub(crate) registry: Registry,
    pub(crate) standing: Arc<PeerStanding>,
    pub(crate) pending: PendingConnections,
    pub(crate) dials: DialSchedule,
    /// Nodes that the operator named, in the settings or later.
    pub(crate) static_peers: RwLock<Vec<Enode>>,
    /// Nodes to dial, from discovery and from the last run.
    pub(crate) nodes: Mutex<NodeList>,
    pub(crate) events: mpsc::Sender<PeerEvent>,
    pub(crate) status: StatusSource,
    /// Time for which the head has not moved while peers are connected, once that is suspicious.
    pub(crate) stalled: Mutex<Option<Duration>>,
    /// Chain whose blocks and states are served, if there is one.
    pub(crate) served: OnceLock<Arc<Chain>>,
    /// The chain gets a state from peers before blocks are executed.
    awaits_state: AtomicBool,
    /// Announced blocks that are possibly not on disk yet.
    pub(crate) accepted: AcceptedBlocks,
    pub(crate) closed: Closed,
    /// Messages by type. Shared with readers and writers of connections.
    pub(crate) traffic: Arc<NetworkTraffic>,
    /// Address of the listener, if there is one.
    pub(crate) listening: OnceLock<SocketAddr>,
}

impl NetworkState {
    pub(crate) fn new(
        options: NetworkOptions,
        status: StatusSource,
        standing: Arc<PeerStanding>,
        events: mpsc::Sender<PeerEvent>,
    ) -> NetworkState {
        NetworkState {
            standing,
            registry: Registry::new(&options),
            pending: PendingConnections::new(&options),
            dials: DialSchedule::default(),
            nodes: Mutex::new(options.nodes_file.as_deref().map(NodeList::read).unwrap_or_default()),
            static_peers: RwLock::new(options.static_peers.clone()),
            events,
            status,
            stalled: Mutex::new(None),
            served: OnceLock::new(),
            awaits_state: AtomicBool::new(false),
            accepted: AcceptedBlocks::default(),
            closed: Closed::default(),
            traffic: Arc::default(),
            listening: OnceLock::new(),
            options,
        }
    }

    /// Serves a chain to peers. If it is new and the settings ask for it, it gets a state from peers first.
    pub(crate) fn serve(&self, chain: &Arc<Chain>) {
        self.awaits_state.store(self.options.downloads_state && chain.head().number() == 0, Ordering::Release);
        // The only call.
        let _ = self.served.set(Arc::clone(chain));
    }

    /// Whether blocks are not downloaded yet, because the chain gets a state from peers first.
    pub(crate) fn awaits_state(&self) -> bool {
        self.awaits_state.load(Ordering::Acquire)
    }

    pub(crate) fn end_state_download(&self) {
        self.awaits_state.store(false, Ordering::Release);
    }

    /// Returns the first message of this node.
    pub(crate) fn hello(&self) -> Hello {
        let port = self.listening.get().map_or(0, SocketAddr::port);
        let mut capabilities = vec![Capability::rsk(), Capability::rhizome()];
        // A peer asks for the state after the pivot only. The reference ends its synchronization if a server does not have it.
        let has_state = |chain: &Arc<Chain>| {
            let pivot = pivot_below(chain.head().number()).unwrap_or_default();
            chain.state_snapshot(pivot).is_ok_and(|snapshot| snapshot.is_some())
        };
        if self.options.serves_snap && self.served.get().is_some_and(has_state) {
            capabilities.push(Capability::snap());
        }
        Hello::new(self.options.client.clone(), capabilities, port, self.options.key.id())
    }

    /// Records an event of a peer. An offence closes the connection.
    pub(crate) fn report(&self, peer: &Peer, event: ScoreEvent) {
        self.standing.record(Some(&peer.id), peer.address.ip(), event, peer.is_static);
        if event.bans() {
            peer.close(CloseReason::Punished);
        }
    }

    /// Whether the operator named a node.
    pub(crate) fn is_static(&self, id: &NodeId) -> bool {
        self.static_peers.read().iter().any(|enode| enode.id == *id)
    }
}
