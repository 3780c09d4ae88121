//! Connected peers and the slots they occupy (docs/spec/p2p-additions.md, F).

use crate::address_group::{AddressGroup, is_local};
use crate::close_reason::CloseReason;
use crate::options::{NetworkOptions, PeerSlots};
use crate::peer::{Peer, PeerDirection};
use parking_lot::Mutex;
use rhizome_wire::session::NodeId;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

/// Age up to which a connection in the other direction counts as dialled at the same time.
const SAME_TIME: Duration = Duration::from_secs(10);

/// The connected peers, at most one connection for each node id.
pub(crate) struct Registry {
    own: NodeId,
    slots: PeerSlots,
    exempts_local: bool,
    state: Mutex<ConnectedPeers>,
}

#[derive(Default)]
struct ConnectedPeers {
    peers: HashMap<NodeId, Arc<Peer>>,
    /// Outbound slots beyond the usual ones.
    extra_outbound: usize,
    /// Node that may be dialled without a free slot, because another outbound peer makes room for it.
    successor: Option<NodeId>,
    is_stopping: bool,
}

impl Registry {
    pub(crate) fn new(options: &NetworkOptions) -> Registry {
        let (slots, exempts_local) = (options.slots(), options.exempts_local);
        Registry { own: options.key.id(), slots, exempts_local, state: Mutex::default() }
    }

    /// Adds a peer if a slot is free. May end a connection to the same node.
    pub(crate) fn admit(&self, peer: &Arc<Peer>) -> Result<(), CloseReason> {
        let mut state = self.state.lock();
        if state.is_stopping {
            return Err(CloseReason::Stopping);
        }
        match state.peers.get(&peer.id) {
            Some(existing) if self.replaces(existing, peer) => existing.close(CloseReason::Duplicate),
            Some(_) => return Err(CloseReason::Duplicate),
            None if peer.is_static => {}
            None => {
                let is_successor = peer.direction == PeerDirection::Outbound && state.successor == Some(peer.id);
                self.check_slots(&state, peer.direction, peer.address.ip(), is_successor)?;
            }
        }
        state.peers.insert(peer.id, Arc::clone(peer));
        Ok(())
    }

    /// If two nodes of this project dial each other, both keep the connection that the node with the lower id dialled. The
    /// reference keeps the first one.
    fn replaces(&self, existing: &Peer, new: &Peer) -> bool {
        let preferred = if self.own < new.id { PeerDirection::Outbound } else { PeerDirection::Inbound };
        new.shared.has_rhizome
            && existing.direction != new.direction
            && new.direction == preferred
            && existing.connected.elapsed() < SAME_TIME
    }

    /// Whether a node at an address may be dialled.
    pub(crate) fn has_outbound_slot(&self, address: IpAddr) -> bool {
        self.check_slots(&self.state.lock(), PeerDirection::Outbound, address, false).is_ok()
    }

    /// Names the node that may be dialled without a free slot.
    pub(crate) fn set_successor(&self, id: Option<NodeId>) {
        self.state.lock().successor = id;
    }

    /// Sets the number of outbound slots beyond the usual ones. Peers that have one keep it. Returns whether the number changes.
    pub(crate) fn set_extra_outbound(&self, count: usize) -> bool {
        std::mem::replace(&mut self.state.lock().extra_outbound, count) != count
    }

    fn check_slots(
        &self,
        state: &ConnectedPeers,
        direction: PeerDirection,
        address: IpAddr,
        is_successor: bool,
    ) -> Result<(), CloseReason> {
        let (maximum, group_maximum) = match direction {
            PeerDirection::Inbound => (self.slots.inbound, self.slots.inbound_group),
            PeerDirection::Outbound => (self.slots.outbound + state.extra_outbound, self.slots.outbound_group),
        };
        let others = || state.peers.values().filter(|other| !other.is_static && other.direction == direction);
        if !is_successor && others().count() >= maximum {
            return Err(CloseReason::TooManyPeers);
        }
        let group = AddressGroup::large(address);
        let is_in_group = |other: &&Arc<Peer>| AddressGroup::large(other.address.ip()) == group;
        let is_exempt = self.exempts_local && is_local(address);
        if !is_exempt && others().filter(is_in_group).count() >= group_maximum {
            return Err(CloseReason::TooManyPeers);
        }
        Ok(())
    }

    /// Removes this connection; not a later one to the same node.
    pub(crate) fn remove(&self, peer: &Arc<Peer>) {
        let mut state = self.state.lock();
        if state.peers.get(&peer.id).is_some_and(|existing| Arc::ptr_eq(existing, peer)) {
            state.peers.remove(&peer.id);
        }
    }

    pub(crate) fn get(&self, id: &NodeId) -> Option<Arc<Peer>> {
        self.state.lock().peers.get(id).map(Arc::clone)
    }

    /// Returns all peers, those without a Status included.
    pub(crate) fn all(&self) -> Vec<Arc<Peer>> {
        self.state.lock().peers.values().map(Arc::clone).collect()
    }

    /// Returns the peers that this node dialled and that the operator did not name, the longest connection first.
    pub(crate) fn outbound(&self) -> Vec<Arc<Peer>> {
        let mut peers = self.all();
        peers.retain(|peer| peer.is_active() && !peer.is_static && peer.direction == PeerDirection::Outbound);
        peers.sort_by_key(|peer| peer.connected);
        peers
    }

    /// Number of peers that this node dialled.
    pub(crate) fn dialled(&self) -> usize {
        self.state.lock().peers.values().filter(|peer| peer.direction == PeerDirection::Outbound).count()
    }

    /// Refuses further peers and ends all connections.
    pub(crate) fn stop(&self) {
        let mut state = self.state.lock();
        state.is_stopping = true;
        for peer in state.peers.values() {
            peer.close(CloseReason::Stopping);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.state.lock().peers.is_empty()
    }
}
