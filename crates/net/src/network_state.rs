//! State that the tasks of the network share.

use crate::admission::PendingConnections;
use crate::dialler::DialSchedule;
use crate::local_chain::StatusSource;
use crate::options::NetworkOptions;
use crate::peer::events::PeerEvent;
use crate::registry::Registry;
use crate::traffic::{Closed, PeerTraffic};
use parking_lot::RwLock;
use rhizome_wire::session::{Capability, Enode, Hello, NodeId};
use std::net::SocketAddr;
use std::sync::OnceLock;
use tokio::sync::mpsc;

/// State that the tasks of the network share.
pub(crate) struct NetworkState {
    pub(crate) options: NetworkOptions,
    pub(crate) registry: Registry,
    pub(crate) pending: PendingConnections,
    pub(crate) dials: DialSchedule,
    /// Nodes that the operator named, in the settings or later.
    pub(crate) static_peers: RwLock<Vec<Enode>>,
    pub(crate) events: mpsc::Sender<PeerEvent>,
    pub(crate) status: StatusSource,
    pub(crate) closed: Closed,
    /// Sums of connections that have ended.
    pub(crate) past_traffic: PeerTraffic,
    /// Address of the listener, if there is one.
    pub(crate) listening: OnceLock<SocketAddr>,
}

impl NetworkState {
    pub(crate) fn new(options: NetworkOptions, status: StatusSource, events: mpsc::Sender<PeerEvent>) -> NetworkState {
        NetworkState {
            registry: Registry::new(&options),
            pending: PendingConnections::new(&options),
            dials: DialSchedule::default(),
            static_peers: RwLock::new(options.static_peers.clone()),
            events,
            status,
            closed: Closed::default(),
            past_traffic: PeerTraffic::default(),
            listening: OnceLock::new(),
            options,
        }
    }

    /// Returns the first message of this node.
    pub(crate) fn hello(&self) -> Hello {
        let port = self.listening.get().map_or(0, SocketAddr::port);
        let capabilities = vec![Capability::rsk(), Capability::rhizome()];
        Hello::new(self.options.client.clone(), capabilities, port, self.options.key.id())
    }

    /// Whether the operator named a node.
    pub(crate) fn is_static(&self, id: &NodeId) -> bool {
        self.static_peers.read().iter().any(|enode| enode.id == *id)
    }
}
