//! Peers as sources of older blocks, and the requests that wait for their answers.

use crate::peer::{Peer, PeerKey, key_of};
use crate::requests::{WaitingRequests, ids};
use rhizome_primitives::B256;
use rhizome_wire::rhz::RhzMessage;
use rhizome_wire::rsk::RskMessage;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Messages of the budget that are left to everything else.
const RESERVE: u32 = 200;
/// Requests for single bodies that wait for answers of one peer.
const BODY_REQUESTS: usize = 16;
/// Bodies in one request to a node of this project.
const BODIES_PER_REQUEST: usize = 64;
/// Time for which a peer is not asked that is silent or does not have the blocks. Each further time it doubles, up to an hour: a node
/// that began with a state may never have them.
const REST: Duration = Duration::from_secs(60);
const MAX_DOUBLINGS: u32 = 6;

/// Request that waits for its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum OlderRequest {
    /// Whole blocks below a number.
    Blocks { below: u64 },
    /// Headers from a block down.
    Headers { hash: B256, count: u32 },
    /// Bodies, by index in the batch and hash of the block.
    Bodies(Vec<(usize, B256)>),
}

/// A peer that may have older blocks.
pub(super) struct OlderPeer {
    pub(super) peer: Arc<Peer>,
    /// Whether whole blocks are asked for.
    pub(super) serves_blocks: bool,
    requests: WaitingRequests<OlderRequest>,
    rests_until: Option<Instant>,
    /// Consecutive requests without the blocks. Such a peer is asked only if there is no other.
    failures: u32,
}

/// The peers, and the ids of requests.
#[derive(Default)]
pub(super) struct OlderPeers {
    all: HashMap<PeerKey, OlderPeer>,
    requests: u64,
}

impl OlderPeer {
    /// Whether the peer can be asked for blocks below a number.
    fn is_usable(&self, below: u64, now: Instant) -> bool {
        let has_block = self.peer.best().is_some_and(|status| status.best.number >= below);
        has_block && self.rests_until.is_none_or(|until| until <= now)
    }

    /// Returns the number of bodies that the peer can be asked for in one request, and that of such requests.
    fn room(&self) -> (usize, usize) {
        let (bodies, limit) = if self.peer.shared.has_rhizome { (BODIES_PER_REQUEST, 1) } else { (1, BODY_REQUESTS) };
        (bodies, limit.saturating_sub(self.requests.len()))
    }

    /// Rank among the sources, the best one first.
    fn rank(&self) -> (bool, u8) {
        let form = match (self.serves_blocks, self.peer.shared.has_rhizome) {
            (true, _) => 0,
            (false, true) => 1,
            (false, false) => 2,
        };
        (self.failures > 0, form)
    }

    fn rest(&mut self, now: Instant) {
        self.rests_until = Some(now + REST * 2_u32.pow(self.failures.min(MAX_DOUBLINGS)));
        self.failures = self.failures.saturating_add(1);
    }
}

impl OlderPeers {
    pub(super) fn add(&mut self, peer: Arc<Peer>) {
        let serves_blocks = peer.shared.serves_snap;
        let key = key_of(&peer);
        let requests = WaitingRequests::default();
        self.all.insert(key, OlderPeer { peer, serves_blocks, requests, rests_until: None, failures: 0 });
    }

    /// Removes a peer. Returns its requests.
    pub(super) fn remove(&mut self, key: PeerKey) -> Vec<OlderRequest> {
        self.all.remove(&key).map(|mut peer| peer.requests.take_all()).unwrap_or_default()
    }

    pub(super) fn get(&mut self, key: PeerKey) -> Option<&mut OlderPeer> {
        self.all.get_mut(&key)
    }

    /// Whether a peer is asked for whole blocks or headers.
    pub(super) fn awaits_batch(&self) -> bool {
        let mut requests = self.all.values().flat_map(|peer| peer.requests.iter());
        requests.any(|request| !matches!(request, OlderRequest::Bodies(_)))
    }

    /// Returns a peer to ask for the next batch, in turn among those of the best rank.
    pub(super) fn for_batch(&self, below: u64, now: Instant) -> Option<PeerKey> {
        let usable = || self.all.iter().filter(|(_, peer)| peer.is_usable(below, now));
        let best = usable().map(|(_, peer)| peer.rank()).min()?;
        let mut keys: Vec<PeerKey> = usable().filter(|(_, peer)| peer.rank() == best).map(|(key, _)| *key).collect();
        keys.sort_unstable();
        let turn = usize::try_from(self.requests).unwrap_or_default() % keys.len().max(1);
        keys.get(turn).copied()
    }

    /// Returns the peers that can be asked for bodies, best ones first, with the bodies of one request and the number of requests.
    pub(super) fn for_bodies(&self, below: u64, now: Instant) -> Vec<(PeerKey, (usize, usize))> {
        let usable = self.all.iter().filter(|(_, peer)| peer.is_usable(below, now) && peer.room().1 > 0);
        let mut peers: Vec<_> = usable.map(|(key, peer)| (peer.rank(), *key, peer.room())).collect();
        peers.sort_unstable();
        // A peer that failed may keep the batch waiting.
        let has_other = self.all.values().any(|peer| peer.failures == 0 && peer.is_usable(below, now));
        peers.retain(|((has_failed, _), ..)| !has_other || !has_failed);
        peers.into_iter().map(|(_, key, room)| (key, room)).collect()
    }

    /// Sends a request. Returns false if the peer cannot take it now.
    pub(super) fn request(&mut self, key: PeerKey, request: OlderRequest) -> bool {
        let Some(OlderPeer { peer, requests, .. }) = self.all.get_mut(&key) else { return false };
        self.requests += 1;
        let id = ids::OLDER_BLOCKS + self.requests;
        let has_rhizome = peer.shared.has_rhizome;
        let sent = match &request {
            OlderRequest::Blocks { below } => {
                peer.try_send_rsk(RskMessage::SnapBlocksRequest { id, number: *below }.encode(), RESERVE)
            }
            OlderRequest::Headers { hash, count } if has_rhizome => {
                peer.try_send_rhz(&RhzMessage::HeadersRequest { id, hash: *hash, count: *count })
            }
            OlderRequest::Headers { hash, count } => {
                let message = RskMessage::BlockHeadersRequest { id, hash: *hash, count: *count };
                peer.try_send_rsk(message.encode(), RESERVE)
            }
            OlderRequest::Bodies(bodies) if has_rhizome => {
                let hashes = bodies.iter().map(|(_, hash)| *hash).collect();
                peer.try_send_rhz(&RhzMessage::BodiesRequest { id, hashes })
            }
            OlderRequest::Bodies(bodies) => {
                let hash = bodies.first().map(|(_, hash)| *hash).unwrap_or_default();
                peer.try_send_rsk(RskMessage::BodyRequest { id, hash }.encode(), RESERVE)
            }
        };
        if sent.is_ok() {
            requests.add(id, request);
        }
        sent.is_ok()
    }

    /// Takes the request that an answer is for; `None` if there is none, or it was given up.
    pub(super) fn answered(&mut self, key: PeerKey, id: u64, bytes: usize) -> Option<OlderRequest> {
        let peer = self.all.get_mut(&key)?;
        let request = peer.requests.answered(id)?;
        peer.peer.refund_requested(bytes);
        Some(request)
    }

    /// Does not ask a peer for a while.
    pub(super) fn rest(&mut self, key: PeerKey) {
        if let Some(peer) = self.all.get_mut(&key) {
            peer.rest(Instant::now());
        }
    }

    /// Notes that a peer has the blocks.
    pub(super) fn note_right(&mut self, key: PeerKey) {
        if let Some(peer) = self.all.get_mut(&key) {
            peer.failures = 0;
        }
    }

    /// Gives up requests without an answer; their peers rest. Returns the requests. Whole blocks are not asked for again: their
    /// answer might not fit a frame.
    pub(super) fn give_up_late(&mut self, time: Duration, now: Instant) -> Vec<OlderRequest> {
        let mut given_up = Vec::new();
        for peer in self.all.values_mut() {
            let mut late = peer.requests.take_late(time, now);
            if late.is_empty() {
                continue;
            }
            peer.rest(now);
            late.append(&mut peer.requests.take_all());
            peer.serves_blocks &= !late.iter().any(|request| matches!(request, OlderRequest::Blocks { .. }));
            given_up.append(&mut late);
        }
        given_up
    }

    /// Does not count a time in which this node did not run as silence of the peers.
    pub(super) fn excuse(&mut self, pause: Duration, now: Instant) {
        self.all.values_mut().for_each(|peer| peer.requests.excuse(pause, now));
    }
}
