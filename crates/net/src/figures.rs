//! Figures of the network for metrics.

use crate::network_state::NetworkState;
use crate::peer::PeerDirection;
use crate::traffic::MessageCount;
use std::collections::BTreeMap;
use std::time::Duration;

/// The network at one moment. Counters start with the node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NetworkFigures {
    /// Peers that dialled this node.
    pub inbound: usize,
    /// Peers that this node dialled.
    pub outbound: usize,
    /// Time for which the head of a public network has not moved while peers are connected; `None` while that is normal.
    pub stalled: Option<Duration>,
    /// Nodes that may be dialled, from discovery and from the last run.
    pub known_nodes: usize,
    /// Bans of the operator in force.
    pub banned: usize,
    /// Received messages by type.
    pub received: Vec<MessageCount>,
    /// Sent messages by type.
    pub sent: Vec<MessageCount>,
    /// Received messages that are not handled.
    pub unhandled: QueueLength,
    /// Messages that wait to be sent.
    pub unsent: QueueLength,
    /// Bans and punishments by reason.
    pub bans: BTreeMap<&'static str, u64>,
    /// Closed connections by reason.
    pub closed: BTreeMap<&'static str, u64>,
}

/// Length of the queues of all peers together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct QueueLength {
    /// Number of messages.
    pub messages: usize,
    /// Bytes of these messages.
    pub bytes: usize,
}

impl QueueLength {
    fn add(&mut self, (bytes, messages): (usize, usize)) {
        self.bytes += bytes;
        self.messages += messages;
    }
}

impl NetworkFigures {
    pub(crate) fn of(network: &NetworkState) -> NetworkFigures {
        let mut figures = NetworkFigures {
            inbound: 0,
            outbound: 0,
            stalled: *network.stalled.lock(),
            known_nodes: network.nodes.lock().iter().count(),
            banned: network.standing.bans().len(),
            received: network.traffic.received.load(),
            sent: network.traffic.sent.load(),
            unhandled: QueueLength::default(),
            unsent: QueueLength::default(),
            bans: network.standing.ban_counts(),
            closed: network.closed.load(),
        };
        for peer in network.registry.all() {
            let [unhandled, unsent] = peer.waiting();
            figures.unhandled.add(unhandled);
            figures.unsent.add(unsent);
            match peer.direction {
                _ if !peer.is_active() => {}
                PeerDirection::Inbound => figures.inbound += 1,
                PeerDirection::Outbound => figures.outbound += 1,
            }
        }
        figures
    }
}
