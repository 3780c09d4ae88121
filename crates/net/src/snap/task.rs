//! The task of the state download: chooses the pivot, asks for chunks and blocks, and has the state taken over.

use super::difficulty::DifficultyClaims;
use super::peers::{SnapPeers, SnapRequest};
use super::pivot_below;
use super::work::{AnswerContent, SnapWork, resume, take_answer, take_over};
use crate::network_state::NetworkState;
use crate::peer::events::{PeerEvent, PeerMessage};
use crate::peer::{Peer, PeerKey, key_of};
use crate::requests::{BackgroundWork, RequestTask};
use crate::standing::ScoreEvent;
use crate::sync::SyncProgress;
use rhizome_chain::{Chain, ChainError, StateDownload, StateDownloadError};
use rhizome_wire::rsk::RskMessage;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Time after which peers are asked again for chunks and blocks that they did not deliver.
const FORGIVING_TIME: Duration = Duration::from_secs(30);
/// Time after which the download is tried again after a failure of this node.
const RETRY_TIME: Duration = Duration::from_secs(15);

/// Step of the download.
enum SnapStage {
    /// Reads what the last run left.
    Resuming,
    /// Waits for the header chain.
    Headers,
    /// Downloads.
    State(Arc<StateDownload>),
    /// The chain takes the state over.
    TakingOver(Arc<StateDownload>),
    /// Blocks are executed.
    Done,
}

/// State of the download.
pub(super) struct SnapTask {
    shared: Arc<NetworkState>,
    chain: Arc<Chain>,
    progress: Arc<SyncProgress>,
    work: BackgroundWork<SnapWork>,
    peers: SnapPeers,
    stage: SnapStage,
    /// Chunks that are being verified.
    verifying: HashSet<u64>,
    is_verifying_blocks: bool,
    claims: DifficultyClaims,
    forgives_at: Instant,
    /// Time of the last chunk or block.
    advanced: Instant,
    /// Time at which the download resumes after a failure of this node.
    retry_at: Option<Instant>,
}

impl RequestTask for SnapTask {
    type Work = SnapWork;

    const TICK: Duration = Duration::from_millis(50);

    fn handle(&mut self, event: PeerEvent) {
        match event {
            PeerEvent::Connected(peer) => self.peers.add(peer),
            PeerEvent::Disconnected(peer, _) => self.peers.remove(key_of(&peer)),
            PeerEvent::Message(peer, message) => self.answer(&peer, message),
        }
    }

    fn finish(&mut self, work: SnapWork) {
        match work {
            SnapWork::Resumed(Ok(download)) => {
                self.stage = download.map_or(SnapStage::Headers, SnapStage::State);
                self.advanced = Instant::now();
            }
            SnapWork::Resumed(Err(error)) => {
                self.fail(&error);
                self.stage = SnapStage::Headers;
            }
            SnapWork::Answer { key, request, result } => {
                self.peers.verified(key);
                match request {
                    SnapRequest::Chunk(index) => _ = self.verifying.remove(&index),
                    SnapRequest::Blocks(_) => self.is_verifying_blocks = false,
                }
                match result {
                    Ok(AnswerContent::Wrong) => self.note_wrong(key, request),
                    Ok(content) => {
                        self.peers.note_right(key);
                        self.advanced = Instant::now();
                        if content == AnswerContent::Chunk {
                            self.progress.count_chunk();
                        }
                        if let (AnswerContent::Blocks { difficulty }, Some(peer)) = (content, self.peers.get(key)) {
                            self.claims.add(peer.peer.id, difficulty, peer.peer.is_static);
                        }
                    }
                    Err(StateDownloadError::Chain(error)) => self.fail(&error),
                    Err(_) => self.note_wrong(key, request),
                }
            }
            SnapWork::TakenOver(Ok(())) => self.end(),
            SnapWork::TakenOver(Err(error)) => {
                self.fail(&error);
                if let SnapStage::TakingOver(download) = &self.stage {
                    self.stage = SnapStage::State(Arc::clone(download));
                }
            }
        }
        if let SnapStage::State(download) | SnapStage::TakingOver(download) = &self.stage {
            self.progress.set_download(Some(download.progress()));
        }
    }

    fn excuse(&mut self, pause: Duration, now: Instant) {
        self.advanced = (self.advanced + pause).min(now);
        self.peers.excuse(pause, now);
    }

    fn tick(&mut self, now: Instant) {
        if self.retry_at.is_some_and(|at| at <= now) {
            self.retry_at = None;
            self.progress.set_failure(None);
        }
        self.peers.give_up_late(&self.shared, now);
        if self.forgives_at <= now {
            self.forgives_at = now + FORGIVING_TIME;
            self.peers.forgive();
        }
        match &self.stage {
            SnapStage::Headers => self.choose_pivot(now),
            SnapStage::State(download) => {
                let download = Arc::clone(download);
                let pivot = download.pivot();
                let is_stuck = self.has_waited(now);
                let headers = self.chain.headers();
                // The headers of the last run are read at the start.
                let has_left = headers.at(pivot.number).is_some_and(|header| header.hash != pivot.hash);
                if has_left || (is_stuck && pivot_below(headers.best_number()) != Some(pivot.number)) {
                    self.peers.forget_requests();
                    self.claims = DifficultyClaims::default();
                    self.stage = SnapStage::Headers;
                    self.progress.set_download(None);
                    self.advanced = now;
                } else if is_stuck && !download.is_complete() {
                    self.give_up();
                }
            }
            _ => {}
        }
    }

    /// Asks for missing chunks and blocks, or has the state taken over.
    fn plan(&mut self) {
        let SnapStage::State(download) = &self.stage else { return };
        if self.retry_at.is_some() {
            return;
        }
        let (download, now) = (Arc::clone(download), Instant::now());
        let is_idle = self.verifying.is_empty() && !self.is_verifying_blocks;
        if is_idle && download.is_complete() {
            return self.take_over(download);
        }
        let pivot = download.pivot();
        if !self.is_verifying_blocks
            && !self.peers.awaits_blocks()
            && let Some((number, _)) = download.next_block()
            && let Some(key) = self.peers.for_blocks(number + 1, now)
        {
            self.peers.request(key, SnapRequest::Blocks(number + 1), &pivot);
        }
        let (mut busy, slow) = self.peers.requested(self.shared.options.limits.answer_time / 2, now);
        busy.extend(&self.verifying);
        for (key, room) in self.peers.with_room(now) {
            let may_have = |index| self.peers.may_have(key, index);
            let mut wanted = download.missing(room, |index| busy.contains(&index) || !may_have(index));
            if wanted.is_empty() {
                // The last chunks: no peer keeps them back.
                wanted = download.missing(room, |index| {
                    !slow.contains(&index) || self.verifying.contains(&index) || !may_have(index)
                });
            }
            for index in wanted {
                if !self.peers.request(key, SnapRequest::Chunk(index), &pivot) {
                    break;
                }
                busy.insert(index);
            }
        }
    }

    fn is_active(&self) -> bool {
        !matches!(self.stage, SnapStage::Done)
    }
}

impl SnapTask {
    pub(super) fn new(
        shared: Arc<NetworkState>,
        chain: Arc<Chain>,
        progress: Arc<SyncProgress>,
        work: BackgroundWork<SnapWork>,
    ) -> SnapTask {
        let mut stage = SnapStage::Done;
        if shared.awaits_state() {
            resume(&work);
            stage = SnapStage::Resuming;
        }
        SnapTask {
            shared,
            chain,
            progress,
            work,
            peers: SnapPeers::default(),
            stage,
            verifying: HashSet::new(),
            is_verifying_blocks: false,
            claims: DifficultyClaims::default(),
            forgives_at: Instant::now() + FORGIVING_TIME,
            advanced: Instant::now(),
            retry_at: None,
        }
    }

    /// Has an answer verified. An answer without a request, or a second one to the same, counts against the peer.
    fn answer(&mut self, peer: &Arc<Peer>, message: PeerMessage) {
        let Ok(decoded) = RskMessage::decode(message.payload()) else {
            return self.shared.report(peer, ScoreEvent::InvalidMessage);
        };
        let (key, length) = (key_of(peer), message.payload().len());
        let Some(request) = decoded.id().and_then(|id| self.peers.answered(key, id, length)) else {
            return self.shared.report(peer, ScoreEvent::UnexpectedMessage);
        };
        let is_answer = match request {
            SnapRequest::Chunk(_) => matches!(decoded, RskMessage::StateChunkResponse { .. }),
            SnapRequest::Blocks(_) => matches!(decoded, RskMessage::SnapBlocksResponse { .. }),
        };
        if !is_answer {
            self.shared.report(peer, ScoreEvent::UnexpectedMessage);
            self.note_wrong(key, request);
            return self.peers.verified(key);
        }
        let SnapStage::State(download) = &self.stage else { return self.peers.verified(key) };
        match request {
            SnapRequest::Chunk(index) => _ = self.verifying.insert(index),
            SnapRequest::Blocks(_) => self.is_verifying_blocks = true,
        }
        take_answer(&self.work, download, key, request, message);
    }

    /// Notes a wrong answer. A peer that only sends wrong chunks is banned: the pivot is so far below the best header that all honest
    /// peers have the same one.
    fn note_wrong(&mut self, key: PeerKey, request: SnapRequest) {
        if let Some(peer) = self.peers.note_wrong(key, request) {
            self.shared.report(&peer, ScoreEvent::InvalidMessage);
        }
    }

    /// Whether the time without progress has passed. It does not count while this node fails, or without peers: then the network is out.
    fn has_waited(&mut self, now: Instant) -> bool {
        let has_passed = now.duration_since(self.advanced) >= self.shared.options.limits.state_time;
        if has_passed && (self.retry_at.is_some() || self.shared.registry.is_empty()) {
            self.advanced = now;
            return false;
        }
        has_passed
    }

    /// Stops after a failure of this node. No peer is punished. Tries again later.
    fn fail(&mut self, error: &ChainError) {
        self.progress.set_failure(Some(error.to_string()));
        self.retry_at = Some(Instant::now() + RETRY_TIME);
    }

    /// Lets all blocks be executed, because no peer delivers the state. Its chunks are deleted at the next start.
    fn give_up(&mut self) {
        self.end();
        self.progress.note_state_given_up();
    }

    /// Lets the blocks be downloaded.
    fn end(&mut self) {
        self.stage = SnapStage::Done;
        self.peers = SnapPeers::default();
        self.progress.set_download(None);
        self.progress.set_failure(None);
        self.shared.end_state_download();
    }

    /// Begins the download as soon as the header chain has reached the best claim, and the least difficulty of the network.
    fn choose_pivot(&mut self, now: Instant) {
        let claimed = self.progress.status(&self.chain).load.claimed;
        let best = self.chain.headers().best_number();
        let least = self.chain.spec().minimum_chain_difficulty;
        let is_light = self.chain.headers().tip().is_none_or(|tip| tip.difficulty < least);
        let is_busy = !self.verifying.is_empty() || self.is_verifying_blocks || self.retry_at.is_some();
        // Without a claim: the peers could not prove theirs.
        if is_busy || claimed == 0 || best < claimed || is_light {
            self.advanced = now;
            return;
        }
        let Some(pivot) = pivot_below(best).filter(|number| self.chain.can_take_over(*number)) else {
            return self.end();
        };
        if self.peers.is_empty() {
            if self.has_waited(now) {
                self.give_up();
            }
            return;
        }
        let Some(pivot) = self.chain.state_pivot(pivot) else { return };
        match self.chain.begin_state_download(pivot) {
            Ok(download) => {
                self.stage = SnapStage::State(Arc::new(download));
                self.advanced = now;
            }
            Err(error) => self.fail(&error),
        }
    }

    fn take_over(&mut self, download: Arc<StateDownload>) {
        let pivot = download.pivot();
        // The headers below the pivot are verified, so the chain has it unless it has just changed.
        let Some(header) = self.chain.headers().at(pivot.number).filter(|header| header.hash == pivot.hash) else {
            return;
        };
        take_over(&self.work, &download, self.claims.agreed(header.difficulty));
        self.stage = SnapStage::TakingOver(download);
    }
}
