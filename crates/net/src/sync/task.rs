//! The task of the synchronization: takes events of peers and results of verification and import, and asks for missing headers
//! and blocks.

use super::importing::BlockImporter;
use super::peers::{PeerClaim, PeerKey, SyncPeer, SyncPeers, SyncRequest, key_of};
use super::progress::{SyncLoad, SyncProgress};
use super::round::HeaderRound;
use super::verify::{AnswerFault, AppendError, AppendedHeaders, DeliveredBlock};
use super::window::BodyWindow;
use crate::network_state::NetworkState;
use crate::options::Limits;
use crate::peer::Peer;
use crate::peer::events::{MessageKind, PeerEvent, PeerMessage};
use crate::requests::{BackgroundWork, RequestTask};
use crate::standing::ScoreEvent;
use rhizome_chain::{Chain, HeaderRun, ImportOutcome};
use rhizome_primitives::U256;
use rhizome_wire::rhz::RhzMessage;
use rhizome_wire::rsk::{BlockIdentifier, RskMessage, RskMessageError};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Time between two looks for blocks that no peer is left for.
const FORGIVING_TIME: Duration = Duration::from_secs(2);
/// Time after which the synchronization is tried again after a failure of this node.
const RETRY_TIME: Duration = Duration::from_secs(15);

/// Result of work outside of the task.
pub(super) enum SyncWork {
    /// Headers of an answer.
    Headers { key: PeerKey, end: BlockIdentifier, result: Result<HeaderRun, AnswerFault> },
    /// Headers were added to the chain.
    Appended { round: u64, key: PeerKey, result: Result<AppendedHeaders, AppendError> },
    /// Blocks of an answer.
    Blocks { key: PeerKey, identifiers: Vec<BlockIdentifier>, result: Result<Vec<DeliveredBlock>, RskMessageError> },
    /// The importer has reported a block.
    Imported { generation: u64, block: BlockIdentifier, outcome: ImportOutcome },
    /// This node failed to import a block.
    Failed(String),
}

/// State of the synchronization.
pub(super) struct SyncTask {
    pub(super) shared: Arc<NetworkState>,
    pub(super) chain: Arc<Chain>,
    pub(super) work: BackgroundWork<SyncWork>,
    pub(super) progress: Arc<SyncProgress>,
    pub(super) importer: BlockImporter,
    pub(super) peers: SyncPeers,
    pub(super) round: Option<HeaderRound>,
    /// Number of rounds.
    pub(super) rounds: u64,
    /// Whether the last round has brought no header.
    pub(super) is_fruitless: bool,
    pub(super) window: BodyWindow,
    /// Last number of each chunk of the best header chain, with the peer that delivered it.
    pub(super) sources: BTreeMap<u64, Arc<Peer>>,
    /// Time of the last block, or the last one at which none was missing.
    pub(super) delivered: Instant,
    /// Time of the next look for blocks that no peer is left for.
    forgives_at: Instant,
    /// Time at which the synchronization resumes after a failure of this node.
    retry_at: Option<Instant>,
}

impl RequestTask for SyncTask {
    type Work = SyncWork;

    const TICK: Duration = Duration::from_millis(50);

    fn handle(&mut self, event: PeerEvent) {
        match event {
            PeerEvent::Connected(peer) => self.peers.add(peer),
            PeerEvent::Disconnected(peer, _) => {
                let key = key_of(&peer);
                let requests = self.peers.remove(key);
                self.release(key, requests, false);
                if self.round.as_ref().is_some_and(|round| round.leader == key) {
                    self.round = None;
                }
            }
            PeerEvent::Message(peer, message) => {
                let key = key_of(&peer);
                if self.answer(key, message).is_err() {
                    self.shared.report(&peer, ScoreEvent::InvalidMessage);
                }
            }
        }
    }

    fn finish(&mut self, work: SyncWork) {
        match work {
            SyncWork::Headers { key, end, result } => self.headers_verified(key, end, result),
            SyncWork::Appended { round, key, result } => self.headers_appended(round, key, result),
            SyncWork::Blocks { key, identifiers, result } => self.blocks_verified(key, &identifiers, result),
            SyncWork::Imported { generation, block, outcome } => {
                if generation == self.importer.generation() {
                    self.block_imported(block, outcome);
                }
            }
            SyncWork::Failed(reason) => self.fail(reason),
        }
    }

    fn excuse(&mut self, pause: Duration, now: Instant) {
        self.delivered = (self.delivered + pause).min(now);
        self.peers.all.values_mut().for_each(|peer| peer.requests.excuse(pause, now));
    }

    fn tick(&mut self, now: Instant) {
        if self.retry_at.is_some_and(|at| at <= now) {
            self.retry_at = None;
        }
        if self.forgives_at <= now {
            self.forgives_at = now + FORGIVING_TIME;
            let serves = |peer: &SyncPeer| if peer.is_usable(now) { peer.serves } else { 0 };
            let servers: Vec<(PeerKey, u64)> = self.peers.all.iter().map(|(key, peer)| (*key, serves(peer))).collect();
            self.window.forgive(&servers);
        }
        let Limits { answer_time, rest_time, .. } = self.shared.options.limits;
        let (mut silent, mut late) = (Vec::new(), Vec::new());
        for (key, peer) in &mut self.peers.all {
            if peer.requests.is_silent(answer_time, now) {
                peer.rest(rest_time);
                silent.push((*key, peer.requests.take_all()));
            } else {
                late.push((*key, peer.requests.take_late(2 * answer_time, now)));
            }
        }
        for (key, requests) in silent {
            self.report(key, ScoreEvent::TimeoutMessage);
            self.release(key, requests, true);
            if self.round.as_ref().is_some_and(|round| round.leader == key) {
                self.round = None;
            }
        }
        for (key, requests) in late {
            if !requests.is_empty() {
                self.report(key, ScoreEvent::TimeoutMessage);
                self.release(key, requests, true);
            }
        }
        self.leave_unserved_headers(now);
        let (headers, head) = (self.chain.headers(), self.chain.head());
        let known = headers.tip().map_or(U256::ZERO, |tip| tip.difficulty).max(head.record.total_difficulty);
        self.progress.tick(&self.chain, || SyncLoad { window: self.window.lengths(), ..self.peers.load(known, now) });
    }

    fn plan(&mut self) {
        if self.retry_at.is_none() {
            self.plan_headers();
            if !self.shared.awaits_state() {
                self.plan_bodies();
            }
        }
    }
}

impl SyncTask {
    pub(super) fn new(
        shared: Arc<NetworkState>,
        chain: Arc<Chain>,
        work: BackgroundWork<SyncWork>,
        progress: Arc<SyncProgress>,
        importer: BlockImporter,
    ) -> SyncTask {
        SyncTask {
            shared,
            chain,
            work,
            peers: SyncPeers::new(Arc::clone(&progress)),
            progress,
            importer,
            round: None,
            rounds: 0,
            is_fruitless: false,
            window: BodyWindow::default(),
            sources: BTreeMap::new(),
            delivered: Instant::now(),
            forgives_at: Instant::now() + FORGIVING_TIME,
            retry_at: None,
        }
    }

    /// Handles an answer. Those to forgotten requests have no effect.
    fn answer(&mut self, key: PeerKey, message: PeerMessage) -> Result<(), RskMessageError> {
        let MessageKind::Rsk = message.kind else {
            let MessageKind::Rhizome(number) = message.kind else { return Ok(()) };
            let RhzMessage::Bodies { id, .. } = RhzMessage::decode(number, message.payload())? else { return Ok(()) };
            if let Some(request) = self.take_request(key, id, &message) {
                self.blocks_arrived(key, request, message);
            }
            return Ok(());
        };
        let decoded = RskMessage::decode(message.payload())?;
        if let RskMessage::Status(status) = &decoded {
            let pause = self.shared.options.limits.claim_pause;
            if let (Some(peer), Some((_, difficulty))) = (self.peers.get(key), status.parent_and_difficulty) {
                peer.set_claim(PeerClaim { best: status.best, difficulty }, pause);
                self.note_served(key);
            }
            return Ok(());
        }
        let Some(request) = decoded.id().and_then(|id| self.take_request(key, id, &message)) else { return Ok(()) };
        match (request, decoded) {
            (SyncRequest::BlockHash { height }, RskMessage::BlockHashResponse { hash, .. }) => {
                self.hash_arrived(key, height, hash);
            }
            (SyncRequest::Skeleton { start }, RskMessage::SkeletonResponse { skeleton, .. }) => {
                self.skeleton_arrived(key, start, skeleton);
            }
            (SyncRequest::Headers { end, count }, RskMessage::BlockHeadersResponse { .. }) => {
                super::verify::verify_headers(&self.work, key, message, end, count);
            }
            (request @ SyncRequest::Bodies(_), RskMessage::BodyResponse { .. })
            | (request @ SyncRequest::Blocks(_), RskMessage::SnapBlocksResponse { .. }) => {
                self.blocks_arrived(key, request, message);
            }
            (request, _) => {
                self.release(key, vec![request], true);
                self.report(key, ScoreEvent::UnexpectedMessage);
            }
        }
        Ok(())
    }

    fn take_request(&mut self, key: PeerKey, id: u64, message: &PeerMessage) -> Option<SyncRequest> {
        let peer = self.peers.get(key)?;
        let request = peer.requests.answered(id);
        if request.is_some() {
            peer.peer.refund_requested(message.payload().len());
        } else {
            self.report(key, ScoreEvent::UnexpectedMessage);
        }
        request
    }

    /// Stops after a failure of this node. No peer is punished. Tries again later.
    pub(super) fn fail(&mut self, reason: String) {
        self.progress.set_failure(Some(reason));
        self.retry_at = Some(Instant::now() + RETRY_TIME);
        self.round = None;
        self.restart_bodies();
    }

    /// Makes missing again what a peer was asked for.
    pub(super) fn release(&mut self, key: PeerKey, requests: Vec<SyncRequest>, is_refused: bool) {
        for request in requests {
            if let Some(peer) = self.peers.get(key).filter(|_| !request.blocks().is_empty()) {
                peer.is_proven = false;
            }
            self.window.release(request.blocks(), key, is_refused);
            match (&request, &mut self.round) {
                (SyncRequest::Headers { end, .. }, Some(round)) => round.release(end, key),
                (SyncRequest::Skeleton { .. } | SyncRequest::BlockHash { .. }, Some(round)) if round.leader == key => {
                    self.round = None;
                }
                _ => {}
            }
            if let (SyncRequest::Blocks(_), Some(peer)) = (&request, self.peers.get(key)) {
                // A snap server that does not answer: bodies from now on.
                peer.serves_blocks = false;
            }
        }
    }

    /// Records an event of a connected peer.
    pub(super) fn report(&mut self, key: PeerKey, event: ScoreEvent) {
        if let Some(peer) = self.peers.get(key) {
            self.shared.report(&peer.peer, event);
        }
    }
}
