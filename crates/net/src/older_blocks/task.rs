//! The task: asks for a batch of blocks below the lowest stored one, has it verified and written, and begins again below it.

use super::peers::{OlderPeers, OlderRequest};
use super::work::{self, BatchHeaders, DeliveredBody, OlderWork};
use crate::network_state::NetworkState;
use crate::peer::events::{MessageKind, PeerEvent, PeerMessage};
use crate::peer::{Peer, PeerKey, key_of};
use crate::requests::{BackgroundWork, RequestTask};
use crate::standing::ScoreEvent;
use crate::sync::SyncProgress;
use rhizome_chain::{Chain, ChainError, OldestBlock, PreparedBlock};
use rhizome_primitives::{B256, Header};
use rhizome_wire::rhz;
use rhizome_wire::rsk::{RskMessageError, message_id};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Time after which the download is tried again after a failure of this node.
const RETRY_TIME: Duration = Duration::from_secs(15);
/// Headers of a batch. The reference answers with at most 192.
const BATCH: u32 = 128;

/// Blocks whose headers are known, descending.
struct OlderBatch {
    number: u64,
    headers: BatchHeaders,
    blocks: Vec<Option<PreparedBlock>>,
    /// Indexes of the bodies that no peer is asked for.
    missing: BTreeSet<usize>,
}

/// State of the download.
pub(super) struct OlderBlocksTask {
    shared: Arc<NetworkState>,
    chain: Arc<Chain>,
    progress: Arc<SyncProgress>,
    work: BackgroundWork<OlderWork>,
    peers: OlderPeers,
    /// The lowest stored block; `None` before it was read.
    oldest: Option<OldestBlock>,
    batch: Option<OlderBatch>,
    /// Number of batches.
    batches: u64,
    /// Blocks or headers are being verified or written.
    is_working: bool,
    /// No block is missing.
    is_done: bool,
    /// Time at which the download resumes after a failure of this node.
    retry_at: Option<Instant>,
}

impl RequestTask for OlderBlocksTask {
    type Work = OlderWork;

    const TICK: Duration = Duration::from_millis(100);

    fn handle(&mut self, event: PeerEvent) {
        match event {
            PeerEvent::Connected(peer) => self.peers.add(peer),
            PeerEvent::Disconnected(peer, _) => {
                let requests = self.peers.remove(key_of(&peer));
                self.release(requests);
            }
            PeerEvent::Message(peer, message) => {
                if self.answer(&peer, message).is_err() {
                    self.shared.report(&peer, ScoreEvent::InvalidMessage);
                }
            }
        }
    }

    fn finish(&mut self, work: OlderWork) {
        match work {
            OlderWork::Oldest(result) => {
                self.is_working = false;
                self.note_oldest(result);
            }
            OlderWork::Blocks { key, stored, result } => {
                self.is_working = false;
                if stored > 0 {
                    self.peers.note_right(key);
                } else if result.is_ok() {
                    self.peers.rest(key);
                    if let Some(peer) = self.peers.get(key) {
                        peer.serves_blocks = false;
                    }
                }
                self.note_oldest(result);
            }
            OlderWork::Headers { key, headers } => {
                self.is_working = false;
                match headers {
                    // A node that began with a state does not have the blocks either.
                    Some(headers) if headers.is_empty() => self.peers.rest(key),
                    Some(headers) => self.begin_bodies(headers),
                    None => self.punish(key),
                }
            }
            OlderWork::Bodies { key, batch, bodies } => self.bodies_joined(key, batch, bodies),
        }
    }

    fn excuse(&mut self, pause: Duration, now: Instant) {
        self.peers.excuse(pause, now);
    }

    fn tick(&mut self, now: Instant) {
        if self.retry_at.is_some_and(|at| at <= now) {
            self.retry_at = None;
        }
        let late = self.peers.give_up_late(self.shared.options.limits.bulk_answer_time, now);
        self.release(late);
    }

    /// Asks for the next blocks, if the head is near the best header.
    fn plan(&mut self) {
        let chain = &self.chain;
        let is_waiting = self.is_done || self.is_working || self.retry_at.is_some();
        if is_waiting || self.shared.awaits_state() || chain.head().number() == 0 || SyncProgress::is_syncing(chain) {
            return;
        }
        let Some(oldest) = self.oldest else {
            self.is_working = true;
            return work::read_oldest(&self.work);
        };
        if self.batch.is_some() {
            self.request_bodies(oldest.number);
        } else if !self.peers.awaits_batch() {
            self.request_batch(oldest);
        }
    }

    fn is_active(&self) -> bool {
        !self.is_done
    }
}

impl OlderBlocksTask {
    pub(super) fn new(
        shared: Arc<NetworkState>,
        chain: Arc<Chain>,
        progress: Arc<SyncProgress>,
        work: BackgroundWork<OlderWork>,
    ) -> OlderBlocksTask {
        OlderBlocksTask {
            shared,
            chain,
            progress,
            work,
            peers: OlderPeers::default(),
            oldest: None,
            batch: None,
            batches: 0,
            is_working: false,
            is_done: false,
            retry_at: None,
        }
    }

    /// Has an answer verified. An answer without a request counts against the peer.
    fn answer(&mut self, peer: &Arc<Peer>, message: PeerMessage) -> Result<(), RskMessageError> {
        let id = match message.kind {
            MessageKind::Rsk => message_id(message.payload())?,
            MessageKind::Rhizome(_) => rhz::message_id(message.payload())?,
        };
        let key = key_of(peer);
        match self.peers.answered(key, id, message.payload().len()) {
            Some(OlderRequest::Blocks { .. }) => {
                if let Some(oldest) = self.oldest {
                    self.is_working = true;
                    work::store_blocks(&self.work, key, message, oldest);
                }
            }
            Some(OlderRequest::Headers { hash, count }) => {
                self.is_working = true;
                work::verify_headers(&self.work, key, message, hash, count);
            }
            Some(OlderRequest::Bodies(bodies)) => {
                if let Some(batch) = &self.batch {
                    let indexes = bodies.iter().map(|(index, _)| *index).collect();
                    work::join_bodies(&self.work, (key, batch.number), message, Arc::clone(&batch.headers), indexes);
                }
            }
            None => self.shared.report(peer, ScoreEvent::UnexpectedMessage),
        }
        Ok(())
    }

    fn note_oldest(&mut self, result: Result<Option<OldestBlock>, ChainError>) {
        match result {
            Ok(oldest) => {
                let stored =
                    self.oldest.zip(oldest).map_or(0, |(before, now)| before.number.saturating_sub(now.number));
                self.oldest = oldest;
                self.is_done = oldest.is_none_or(|oldest| oldest.number <= 1);
                self.progress.note_oldest(oldest.map(|oldest| oldest.number).filter(|_| !self.is_done), stored);
            }
            // A failure of this node is shown by the database. No peer is punished.
            Err(_failure) => {
                self.batch = None;
                self.retry_at = Some(Instant::now() + RETRY_TIME);
            }
        }
    }

    fn begin_bodies(&mut self, headers: Vec<(Header, B256)>) {
        self.batches += 1;
        let (blocks, missing) = (headers.iter().map(|_| None).collect(), (0..headers.len()).collect());
        self.batch = Some(OlderBatch { number: self.batches, headers: Arc::new(headers), blocks, missing });
    }

    fn bodies_joined(&mut self, key: PeerKey, number: u64, bodies: Vec<(usize, DeliveredBody)>) {
        let Some(batch) = self.batch.as_mut().filter(|batch| batch.number == number) else { return };
        let (mut is_wrong, mut kept) = (false, 0);
        for (index, body) in bodies {
            match body {
                DeliveredBody::Block(block) => {
                    if let Some(place) = batch.blocks.get_mut(index) {
                        *place = Some(*block);
                        kept += 1;
                    }
                    continue;
                }
                DeliveredBody::Wrong => is_wrong = true,
                DeliveredBody::Missing => {}
            }
            batch.missing.insert(index);
        }
        match (is_wrong, kept) {
            (true, _) => self.punish(key),
            (false, 0) => self.peers.rest(key),
            (false, _) => self.peers.note_right(key),
        }
        let is_complete = self.batch.as_ref().is_some_and(|batch| batch.blocks.iter().all(Option::is_some));
        if is_complete && let Some(batch) = self.batch.take() {
            self.is_working = true;
            work::store(&self.work, batch.blocks.into_iter().flatten().collect());
        }
    }

    fn punish(&mut self, key: PeerKey) {
        self.peers.rest(key);
        if let Some(peer) = self.peers.get(key) {
            self.shared.report(&peer.peer, ScoreEvent::InvalidMessage);
        }
    }

    /// Makes missing again what peers were asked for.
    fn release(&mut self, requests: Vec<OlderRequest>) {
        let Some(batch) = &mut self.batch else { return };
        for request in requests {
            if let OlderRequest::Bodies(bodies) = request {
                batch.missing.extend(bodies.iter().map(|(index, _)| *index));
            }
        }
    }

    fn request_batch(&mut self, oldest: OldestBlock) {
        let Some(key) = self.peers.for_batch(oldest.number, Instant::now()) else { return };
        let request = match self.peers.get(key) {
            Some(peer) if peer.serves_blocks => OlderRequest::Blocks { below: oldest.number },
            // Genesis is there.
            _ => {
                let count = u32::try_from(oldest.number - 1).unwrap_or(BATCH).min(BATCH);
                OlderRequest::Headers { hash: oldest.parent, count }
            }
        };
        self.peers.request(key, request);
    }

    fn request_bodies(&mut self, below: u64) {
        let Some(batch) = &mut self.batch else { return };
        for (key, (bodies, requests)) in self.peers.for_bodies(below, Instant::now()) {
            for _ in 0..requests {
                let hashed = |index: &usize| Some((*index, batch.headers.get(*index)?.1));
                let wanted: Vec<(usize, B256)> = batch.missing.iter().filter_map(hashed).take(bodies).collect();
                if wanted.is_empty() {
                    return;
                }
                if !self.peers.request(key, OlderRequest::Bodies(wanted.clone())) {
                    break;
                }
                wanted.iter().for_each(|(index, _)| _ = batch.missing.remove(index));
            }
        }
    }
}
