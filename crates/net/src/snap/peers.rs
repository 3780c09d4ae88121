//! Snap servers, and the requests that wait for their answers.

use crate::network_state::NetworkState;
use crate::peer::outbox::SendError;
use crate::peer::{Peer, PeerKey, key_of};
use crate::requests::{WaitingRequests, ids};
use crate::standing::ScoreEvent;
use rhizome_chain::{STATE_CHUNK_BYTES, StatePivot};
use rhizome_wire::rsk::RskMessage;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Messages of the budget that are left to others.
const RESERVE: u32 = 40;
/// Requests for chunks that wait for answers of a node of this project, and of one of the reference, which takes three.
const CHUNKS_IN_FLIGHT: usize = 16;
const REFERENCE_CHUNKS_IN_FLIGHT: usize = 2;
/// Time for which a silent peer is not asked.
const REST: Duration = Duration::from_secs(30);
/// Consecutive wrong answers after which a peer rests.
const MAX_WRONG: u32 = 8;
/// Kilobytes of a chunk, as the reference states them.
const CHUNK_KILOBYTES: u64 = STATE_CHUNK_BYTES / 1_024;

/// Request that waits for its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SnapRequest {
    /// Chunk with this index.
    Chunk(u64),
    /// Blocks below a number.
    Blocks(u64),
}

/// A peer that announced snap/1.
pub(super) struct SnapPeer {
    pub(super) peer: Arc<Peer>,
    requests: WaitingRequests<SnapRequest>,
    /// Number of answers that are being verified. They count as requests: a kill loses them.
    verifying: usize,
    /// Chunks that the peer sent wrong or not at all.
    refused: HashSet<u64>,
    /// Chunks that the peer sent wrong, also long ago.
    wrong_chunks: HashSet<u64>,
    /// The peer sent wrong blocks or none.
    refuses_blocks: bool,
    /// Wrong answers since the last right one.
    wrong: u32,
    /// Requests without an answer since the last right one.
    missed: u32,
    rests_until: Option<Instant>,
}

impl SnapPeer {
    fn is_usable(&self, now: Instant) -> bool {
        self.rests_until.is_none_or(|until| until <= now)
    }

    fn chunks_in_flight(&self) -> usize {
        self.requests.iter().filter(|request| matches!(request, SnapRequest::Chunk(_))).count()
    }

    fn limit(&self) -> usize {
        if self.peer.shared.has_rhizome { CHUNKS_IN_FLIGHT } else { REFERENCE_CHUNKS_IN_FLIGHT }
    }

    fn refuse(&mut self, request: SnapRequest) {
        match request {
            SnapRequest::Chunk(index) => _ = self.refused.insert(index),
            SnapRequest::Blocks(_) => self.refuses_blocks = true,
        }
    }
}

/// The snap servers.
#[derive(Default)]
pub(super) struct SnapPeers {
    all: HashMap<PeerKey, SnapPeer>,
    requests: u64,
}

impl SnapPeers {
    pub(super) fn add(&mut self, peer: Arc<Peer>) {
        if peer.shared.serves_snap {
            let added = SnapPeer {
                requests: WaitingRequests::default(),
                verifying: 0,
                refused: HashSet::new(),
                wrong_chunks: HashSet::new(),
                refuses_blocks: false,
                wrong: 0,
                missed: 0,
                rests_until: None,
                peer,
            };
            self.all.insert(key_of(&added.peer), added);
        }
    }

    pub(super) fn remove(&mut self, key: PeerKey) {
        self.all.remove(&key);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub(super) fn get(&self, key: PeerKey) -> Option<&SnapPeer> {
        self.all.get(&key)
    }

    /// Returns the indexes of the chunks that peers are asked for, and of the part of these chunks that they have not sent for a time.
    pub(super) fn requested(&self, time: Duration, now: Instant) -> (HashSet<u64>, HashSet<u64>) {
        let requests = self.all.values().flat_map(|peer| peer.requests.with_age(now));
        let chunks = requests.filter_map(|(request, age)| match request {
            SnapRequest::Chunk(index) => Some((*index, age >= time)),
            SnapRequest::Blocks(_) => None,
        });
        let chunks: Vec<(u64, bool)> = chunks.collect();
        let slow = chunks.iter().filter(|(_, is_slow)| *is_slow).map(|(index, _)| *index).collect();
        (chunks.into_iter().map(|(index, _)| index).collect(), slow)
    }

    /// Whether a peer is asked for blocks.
    pub(super) fn awaits_blocks(&self) -> bool {
        let mut requests = self.all.values().flat_map(|peer| peer.requests.iter());
        requests.any(|request| matches!(request, SnapRequest::Blocks(_)))
    }

    /// Returns the peers that can be asked for a chunk now, with the number of further requests that each takes. Peers that did not
    /// answer are last.
    pub(super) fn with_room(&self, now: Instant) -> Vec<(PeerKey, usize)> {
        let room = |peer: &SnapPeer| peer.limit().saturating_sub(peer.chunks_in_flight() + peer.verifying);
        let usable = self.all.iter().filter(|(_, peer)| peer.is_usable(now));
        let mut peers: Vec<_> = usable.map(|(key, peer)| (peer.missed, *key, room(peer))).collect();
        peers.sort_unstable();
        peers.into_iter().map(|(_, key, room)| (key, room)).filter(|(_, room)| *room > 0).collect()
    }

    /// Whether a peer may be asked for a chunk.
    pub(super) fn may_have(&self, key: PeerKey, index: u64) -> bool {
        let is_asked = |peer: &SnapPeer| peer.requests.iter().any(|request| *request == SnapRequest::Chunk(index));
        self.all.get(&key).is_some_and(|peer| !peer.refused.contains(&index) && !is_asked(peer))
    }

    /// Returns a peer that can be asked for the blocks below a number: a peer that missed the fewest requests.
    pub(super) fn for_blocks(&self, below: u64, now: Instant) -> Option<PeerKey> {
        let has_block = |peer: &SnapPeer| peer.peer.best().is_some_and(|status| status.best.number >= below);
        let can = |peer: &&SnapPeer| peer.is_usable(now) && !peer.refuses_blocks && has_block(peer);
        let usable = || self.all.iter().filter(|(_, peer)| can(peer));
        let least = usable().map(|(_, peer)| peer.missed).min()?;
        let mut keys: Vec<PeerKey> = usable().filter(|(_, peer)| peer.missed == least).map(|(key, _)| *key).collect();
        keys.sort_unstable();
        // In turn: their difficulties are compared.
        keys.get(usize::try_from(below / 400).unwrap_or_default() % keys.len()).copied()
    }

    /// Sends a request. Returns false if the peer cannot take it now.
    pub(super) fn request(&mut self, key: PeerKey, request: SnapRequest, pivot: &StatePivot) -> bool {
        let Some(peer) = self.all.get_mut(&key) else { return false };
        self.requests += 1;
        let id = ids::STATE + self.requests;
        let message = match request {
            SnapRequest::Chunk(index) => RskMessage::StateChunkRequest {
                id,
                number: pivot.number,
                from: index.saturating_mul(STATE_CHUNK_BYTES),
                chunk_size: CHUNK_KILOBYTES,
            },
            SnapRequest::Blocks(number) => RskMessage::SnapBlocksRequest { id, number },
        };
        let sent: Result<(), SendError> = peer.peer.try_send_rsk(message.encode(), RESERVE);
        if sent.is_ok() {
            peer.requests.add(id, request);
        }
        sent.is_ok()
    }

    /// Takes the request that an answer is for; `None` if there is none, or it was given up.
    pub(super) fn answered(&mut self, key: PeerKey, id: u64, bytes: usize) -> Option<SnapRequest> {
        let peer = self.all.get_mut(&key)?;
        let request = peer.requests.answered(id)?;
        peer.verifying += 1;
        peer.peer.refund_requested(bytes);
        Some(request)
    }

    /// Notes that an answer was verified.
    pub(super) fn verified(&mut self, key: PeerKey) {
        if let Some(peer) = self.all.get_mut(&key) {
            peer.verifying = peer.verifying.saturating_sub(1);
        }
    }

    /// Notes a right answer.
    pub(super) fn note_right(&mut self, key: PeerKey) {
        if let Some(peer) = self.all.get_mut(&key) {
            peer.wrong = 0;
            peer.missed = 0;
        }
    }

    /// Notes a wrong answer, which is asked elsewhere. Returns the peer if it is a chunk that was wrong before, or the last one of too
    /// many. Wrong blocks are no offence: the chain of the peer may differ.
    pub(super) fn note_wrong(&mut self, key: PeerKey, request: SnapRequest) -> Option<Arc<Peer>> {
        let peer = self.all.get_mut(&key)?;
        peer.refuse(request);
        peer.wrong += 1;
        let are_too_many = peer.wrong >= MAX_WRONG;
        if are_too_many {
            peer.wrong = 0;
            peer.rests_until = Some(Instant::now() + REST);
        }
        let SnapRequest::Chunk(index) = request else { return None };
        let is_repeated = !peer.wrong_chunks.insert(index);
        (is_repeated || are_too_many).then(|| Arc::clone(&peer.peer))
    }

    /// Gives up requests without an answer. A peer that answers nothing rests.
    pub(super) fn give_up_late(&mut self, shared: &NetworkState, now: Instant) {
        let time = shared.options.limits.bulk_answer_time;
        for peer in self.all.values_mut() {
            if peer.requests.is_silent(time, now) {
                peer.rests_until = Some(now + REST);
                shared.report(&peer.peer, ScoreEvent::TimeoutMessage);
            }
            for request in peer.requests.take_late(time, now) {
                peer.missed = peer.missed.saturating_add(1);
                peer.refuse(request);
            }
        }
    }

    /// Does not count a time in which this node did not run as silence of the peers.
    pub(super) fn excuse(&mut self, pause: Duration, now: Instant) {
        self.all.values_mut().for_each(|peer| peer.requests.excuse(pause, now));
    }

    /// Asks all peers for everything again.
    pub(super) fn forgive(&mut self) {
        for peer in self.all.values_mut() {
            peer.refused.clear();
            peer.refuses_blocks = false;
        }
    }

    /// Forgets all requests: another state is wanted.
    pub(super) fn forget_requests(&mut self) {
        for peer in self.all.values_mut() {
            drop(peer.requests.take_all());
            peer.wrong_chunks.clear();
        }
        self.forgive();
    }
}
