//! Peers as sources of headers and blocks, and the requests that wait for their answers.

use super::progress::{SyncLoad, SyncProgress};
use crate::peer::Peer;
use crate::peer::outbox::SendError;
pub(super) use crate::peer::{PeerKey, key_of};
use crate::requests::WaitingRequests;
use rhizome_primitives::{B256, U256};
use rhizome_wire::rhz::RhzMessage;
use rhizome_wire::rsk::{BlockIdentifier, RskMessage};
use rhizome_wire::session::NodeId;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Messages of the budget that are left to announcements and answers.
const RESERVE: u32 = 20;
/// Time for which the claim of a peer does not count after its chain turned out to be lighter.
const DEMOTION: Duration = Duration::from_secs(600);

/// Nodes that are not asked for whole blocks any more, at most.
const MAX_REMEMBERED: usize = 256;

/// Request that waits for its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SyncRequest {
    /// Hash of the block at a height.
    BlockHash { height: u64 },
    /// Skeleton from a height on.
    Skeleton { start: u64 },
    /// Headers from a block down.
    Headers { end: BlockIdentifier, count: u32 },
    /// Bodies of blocks by number and hash, one in a message of rsk/62.
    Bodies(Vec<BlockIdentifier>),
    /// Whole blocks, ascending.
    Blocks(Vec<BlockIdentifier>),
}

impl SyncRequest {
    /// Returns the blocks that the answer brings.
    pub(super) fn blocks(&self) -> &[BlockIdentifier] {
        match self {
            SyncRequest::Bodies(blocks) | SyncRequest::Blocks(blocks) => blocks,
            _ => &[],
        }
    }
}

/// Best block of a peer by its own account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PeerClaim {
    pub(super) best: BlockIdentifier,
    pub(super) difficulty: U256,
}

/// A peer with the blocks that it is known to have.
pub(super) struct SyncPeer {
    pub(super) peer: Arc<Peer>,
    pub(super) claim: Option<PeerClaim>,
    /// Highest number of the best header chain that the peer is known to have.
    pub(super) serves: u64,
    /// Blocks that it named in its last skeleton.
    pub(super) skeleton: Vec<BlockIdentifier>,
    pub(super) requests: WaitingRequests<SyncRequest>,
    /// Whether whole blocks are asked for.
    pub(super) serves_blocks: bool,
    /// Whether its last answer had most of the blocks that it was asked for.
    pub(super) is_proven: bool,
    /// Its last headers were later than the clock of this node allows.
    pub(super) is_ahead_of_clock: bool,
    /// It has the headers of a branch that is lighter than the best header chain.
    pub(super) has_lighter_branch: bool,
    /// The last request would have exceeded the budget.
    is_over_budget: bool,
    /// Rounds that the peer has led since it last brought a header; 1 for a new peer.
    pub(super) fruitless: u32,
    demoted_until: Option<Instant>,
    rests_until: Option<Instant>,
}

impl SyncPeer {
    fn new(peer: Arc<Peer>) -> SyncPeer {
        SyncPeer {
            claim: None,
            serves: 0,
            skeleton: Vec::new(),
            requests: WaitingRequests::default(),
            serves_blocks: peer.shared.serves_snap,
            is_proven: false,
            is_ahead_of_clock: false,
            has_lighter_branch: false,
            is_over_budget: false,
            fruitless: 1,
            demoted_until: None,
            rests_until: None,
            peer,
        }
    }

    /// Whether the peer is asked for anything.
    pub(super) fn is_usable(&self, now: Instant) -> bool {
        self.rests_until.is_none_or(|until| until <= now)
    }

    /// Returns the claim if it counts.
    pub(super) fn current_claim(&self, now: Instant) -> Option<&PeerClaim> {
        self.claim.as_ref().filter(|_| self.is_usable(now) && self.demoted_until.is_none_or(|until| until <= now))
    }

    /// Takes a STATUS. A demoted peer with another best block gets another chance after a short pause.
    pub(super) fn set_claim(&mut self, claim: PeerClaim, pause: Duration) {
        if self.claim.is_none_or(|before| before.best != claim.best) {
            let soon = Instant::now() + pause;
            self.demoted_until = self.demoted_until.map(|until| until.min(soon));
            self.has_lighter_branch = false;
        }
        self.claim = Some(claim);
    }

    /// Does not count the claim of the peer for a while.
    pub(super) fn demote(&mut self) {
        self.demoted_until = Some(Instant::now() + DEMOTION);
    }

    /// Counts the claim again after a pause.
    pub(super) fn postpone(&mut self, pause: Duration) {
        self.demoted_until = Some(Instant::now() + pause);
    }

    /// Does not ask the peer for a while: it was silent.
    pub(super) fn rest(&mut self, time: Duration) {
        self.rests_until = Some(Instant::now() + time);
        self.peer.budget.spread();
    }

    /// Returns the number of requests of a kind.
    pub(super) fn waiting(&self, is_counted: impl Fn(&SyncRequest) -> bool) -> usize {
        self.requests.iter().filter(|request| is_counted(request)).count()
    }
}

/// The peers, and the ids of requests.
pub(super) struct SyncPeers {
    pub(super) all: HashMap<PeerKey, SyncPeer>,
    last_id: u64,
    progress: Arc<SyncProgress>,
    /// Nodes whose connection ended while whole blocks were asked for: their answer might not fit a frame.
    without_blocks: VecDeque<NodeId>,
}

impl SyncPeers {
    pub(super) fn new(progress: Arc<SyncProgress>) -> SyncPeers {
        SyncPeers { all: HashMap::new(), last_id: 0, progress, without_blocks: VecDeque::new() }
    }

    /// Returns the figures of the peers. `known`: difficulty of the best header chain.
    pub(super) fn load(&self, known: U256, now: Instant) -> SyncLoad {
        let usable = || self.all.values().filter(|peer| peer.is_usable(now) && peer.claim.is_some());
        let claimed = |fruitless: u32| {
            let peers = usable().filter(|peer| peer.fruitless == fruitless);
            let claims = peers.filter_map(|peer| peer.current_claim(now).filter(|claim| claim.difficulty >= known));
            claims.map(|claim| claim.best.number).max()
        };
        SyncLoad {
            peers: usable().count(),
            peers_over_budget: usable().filter(|peer| peer.is_over_budget).count(),
            // New peers count while no other has brought a header.
            claimed: claimed(0).or_else(|| claimed(1)).unwrap_or(0),
            ..SyncLoad::default()
        }
    }

    /// Returns the number of peers whose headers are later than the clock allows, and that of all peers with a claim.
    pub(super) fn ahead_of_clock(&self) -> (usize, usize) {
        let claiming = || self.all.values().filter(|peer| peer.claim.is_some());
        (claiming().filter(|peer| peer.is_ahead_of_clock).count(), claiming().count())
    }

    pub(super) fn add(&mut self, peer: Arc<Peer>) {
        let mut added = SyncPeer::new(Arc::clone(&peer));
        added.serves_blocks &= !self.without_blocks.contains(&peer.id);
        self.all.insert(key_of(&peer), added);
    }

    /// Removes a peer and returns its requests.
    pub(super) fn remove(&mut self, key: PeerKey) -> Vec<SyncRequest> {
        let Some(mut peer) = self.all.remove(&key) else { return Vec::new() };
        let requests = peer.requests.take_all();
        if requests.iter().any(|request| matches!(request, SyncRequest::Blocks(_))) {
            self.without_blocks.truncate(MAX_REMEMBERED - 1);
            self.without_blocks.push_front(peer.peer.id);
        }
        requests
    }

    pub(super) fn get(&mut self, key: PeerKey) -> Option<&mut SyncPeer> {
        self.all.get_mut(&key)
    }

    /// Sends a request. Returns false if the peer cannot take it now.
    pub(super) fn request(&mut self, key: PeerKey, request: SyncRequest) -> bool {
        self.last_id += 1;
        let id = self.last_id;
        let Some(peer) = self.all.get_mut(&key) else { return false };
        let sent = match encode(&peer.peer, id, &request) {
            EncodedRequest::Rsk(message) => peer.peer.try_send_rsk(message.encode(), RESERVE),
            EncodedRequest::Rhizome(message) => peer.peer.try_send_rhz(&message),
        };
        let is_over_budget = sent == Err(SendError::OverBudget);
        if is_over_budget && !peer.is_over_budget {
            self.progress.count_budget_wait();
        }
        peer.is_over_budget = is_over_budget;
        if sent.is_ok() {
            peer.requests.add(id, request);
        }
        sent.is_ok()
    }
}

enum EncodedRequest {
    Rsk(RskMessage<'static>),
    Rhizome(RhzMessage<'static>),
}

fn encode(peer: &Peer, id: u64, request: &SyncRequest) -> EncodedRequest {
    let first_hash = |blocks: &[BlockIdentifier]| blocks.first().map_or(B256::ZERO, |block| block.hash);
    EncodedRequest::Rsk(match request {
        SyncRequest::BlockHash { height } => RskMessage::BlockHashRequest { id, height: *height },
        SyncRequest::Skeleton { start } => RskMessage::SkeletonRequest { id, start: *start },
        SyncRequest::Headers { end, count } => RskMessage::BlockHeadersRequest { id, hash: end.hash, count: *count },
        SyncRequest::Bodies(blocks) if peer.shared.has_rhizome => {
            let hashes = blocks.iter().map(|block| block.hash).collect();
            return EncodedRequest::Rhizome(RhzMessage::BodiesRequest { id, hashes });
        }
        SyncRequest::Bodies(blocks) => RskMessage::BodyRequest { id, hash: first_hash(blocks) },
        SyncRequest::Blocks(blocks) => {
            let number = blocks.last().map_or(0, |block| block.number) + 1;
            RskMessage::SnapBlocksRequest { id, number }
        }
    })
}
