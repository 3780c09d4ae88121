//! Headers: the peer with the best chain, the fork point, and the headers above it from several peers at the same time
//! (docs/spec/p2p-additions.md, C.1).

use super::peers::{PeerKey, SyncRequest};
use super::round::{ChunkState, HeaderRound, RoundStage, is_skeleton};
use super::task::SyncTask;
use super::verify::{AnswerFault, AppendError, AppendedHeaders, append_headers};
use crate::dialler::random_start;
use crate::standing::ScoreEvent;
use rhizome_chain::{HeaderFault, HeaderRun};
use rhizome_primitives::{B256, U256};
use rhizome_wire::rsk::BlockIdentifier;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Headers ahead of their blocks above which no further ones are asked for. They are held in memory.
const MAX_HEADERS_AHEAD: usize = 16_384;
/// Headers of a lighter branch above which it is given up.
const MAX_CANDIDATE: usize = 65_536;
/// Requests for headers that wait for answers of one peer.
const REQUESTS_PER_PEER: usize = 8;
/// Time that a round waits until the budget of its leader allows the next request.
const BUDGET_TIME: Duration = Duration::from_secs(10);

impl SyncTask {
    /// Begins a round if a peer claims a better chain, and asks for what the round needs.
    pub(super) fn plan_headers(&mut self) {
        match self.round.as_ref().and_then(|round| round.unasked_since) {
            Some(since) if since.elapsed() > BUDGET_TIME => self.round = None,
            Some(_) => self.ask_leader(),
            None => {}
        }
        if self.round.is_none() && !self.is_ahead() {
            self.begin_round();
        }
        self.request_chunks();
    }

    /// Whether enough headers are ahead of their blocks. Before a state is there, all are needed: the chain keeps the last ones in
    /// memory.
    fn is_ahead(&self) -> bool {
        !self.shared.awaits_state() && self.chain.headers().len() >= MAX_HEADERS_AHEAD
    }

    fn begin_round(&mut self) {
        let (now, head) = (Instant::now(), self.chain.head());
        let least =
            head.record.total_difficulty.max(self.chain.spec().minimum_chain_difficulty.saturating_sub(U256::ONE));
        let claims =
            self.peers.all.iter().filter_map(|(key, peer)| Some((*key, peer.fruitless, *peer.current_claim(now)?)));
        let mut better: Vec<_> =
            claims.filter(|(.., claim)| claim.difficulty > least && claim.best.number > 0).collect();
        // A peer that claims much and brings nothing is asked last.
        better.sort_by_key(|(_, fruitless, claim)| (*fruitless, std::cmp::Reverse(claim.difficulty)));
        if self.is_fruitless {
            // Peers that connect one after another do not lead every round.
            let first = better.first().map_or(0, |(_, fruitless, _)| *fruitless);
            let equal = better.iter().take_while(|(_, fruitless, _)| *fruitless == first).count();
            better[..equal].rotate_left(random_start(equal));
        }
        let tip = self.chain.headers().tip().filter(|tip| tip.difficulty > head.record.total_difficulty);
        let own = tip.map_or(head.number(), |tip| tip.header.number);
        for (key, _, claim) in better {
            let best = claim.best;
            // A failed read shows again in the importer.
            if self.chain.headers().has(best.number, &best.hash).unwrap_or(true) {
                continue;
            }
            if self.chain.headers().is_known_invalid(&best.hash) {
                self.demote(key);
                continue;
            }
            // Asked from its best block on, the reference names that one only.
            let start = own.min(best.number - 1);
            if self.peers.request(key, SyncRequest::Skeleton { start }) {
                self.rounds += 1;
                self.round = Some(HeaderRound::new(self.rounds, key, best, start));
                self.ask_others_for_skeleton(key, start);
                self.is_fruitless = true;
                if let Some(peer) = self.peers.get(key) {
                    peer.fruitless = peer.fruitless.saturating_add(1);
                }
                return;
            }
        }
    }

    /// Notes that a round was worth its time because of a peer.
    fn note_fruit(&mut self, key: PeerKey) {
        self.is_fruitless = false;
        if let Some(peer) = self.peers.get(key) {
            peer.fruitless = 0;
        }
    }

    /// Asks the other peers which of the blocks they have: they help with headers and bodies.
    fn ask_others_for_skeleton(&mut self, leader: PeerKey, start: u64) {
        let now = Instant::now();
        let is_helper = |claim: &super::peers::PeerClaim| claim.best.number > start;
        let others: Vec<PeerKey> = (self.peers.all.iter())
            .filter(|(key, peer)| **key != leader && peer.is_usable(now) && peer.claim.as_ref().is_some_and(is_helper))
            .map(|(key, _)| *key)
            .collect();
        for key in others {
            self.peers.request(key, SyncRequest::Skeleton { start });
        }
    }

    pub(super) fn skeleton_arrived(&mut self, key: PeerKey, start: u64, skeleton: Vec<BlockIdentifier>) {
        if !is_skeleton(&skeleton, start) {
            match skeleton[..] {
                // The reference has left a chain that was longer.
                [only] if only.number == start => self.demote(key),
                _ => self.report(key, ScoreEvent::InvalidMessage),
            }
            self.end_round_of(key);
            return;
        }
        if let Some(peer) = self.peers.get(key) {
            peer.skeleton.clone_from(&skeleton);
        }
        self.note_served(key);
        let Some(round) = &mut self.round else { return };
        if round.leader != key || round.stage != (RoundStage::Skeleton { start }) {
            round.add_server(key, &skeleton);
            return;
        }
        let headers = self.chain.headers();
        let known = skeleton.iter().rposition(|block| headers.has(block.number, &block.hash).unwrap_or(false));
        let known = match (known, &round.base) {
            (Some(known), None) => known,
            // The skeleton continues a branch that is not part of the chain yet.
            (_, Some(base)) if skeleton.first().is_some_and(|first| first.number <= base.header.number) => {
                let at = skeleton.iter().position(|block| block.hash == base.hash);
                let Some(at) = at else { return self.end_round_of(key) };
                at
            }
            (Some(known), Some(_)) => known,
            // Without the block that the search has found: it would never end.
            (None, _) if round.has_searched => {
                self.demote(key);
                return self.end_round_of(key);
            }
            (None, _) => {
                round.has_searched = true;
                let high = skeleton.first().map_or(0, |first| first.number);
                round.stage = RoundStage::Search { low: 0, high };
                self.search();
                return;
            }
        };
        if round.base.is_none() {
            let base = skeleton.get(known).and_then(|block| headers.find(block.number, &block.hash).ok().flatten());
            let Some(base) = base else { return self.end_round_of(key) };
            round.base = Some(base);
        }
        round.plan(&skeleton, known);
        let others: Vec<(PeerKey, Vec<BlockIdentifier>)> =
            self.peers.all.iter().map(|(key, peer)| (*key, peer.skeleton.clone())).collect();
        others.iter().for_each(|(key, skeleton)| round.add_server(*key, skeleton));
        if round.chunks.is_empty() {
            self.end_round();
        }
    }

    /// Asks for the next hash of the binary search for the last common block (docs/spec/p2p.md, 9.2).
    fn search(&mut self) {
        let Some(round) = &mut self.round else { return };
        let RoundStage::Search { low, high } = round.stage else { return };
        if high - low <= 1 {
            round.stage = RoundStage::Skeleton { start: low };
        }
        self.ask_leader();
    }

    /// Sends the request of the stage to the leader, later if its budget does not allow it now. The steps of a search follow each other
    /// faster than a spread budget grows: a round that ended there would begin again and again.
    fn ask_leader(&mut self) {
        let Some(round) = &mut self.round else { return };
        let request = match round.stage {
            RoundStage::Search { low, high } => SyncRequest::BlockHash { height: low + (high - low) / 2 },
            RoundStage::Skeleton { start } => SyncRequest::Skeleton { start },
            RoundStage::Headers => return,
        };
        let is_sent = self.peers.request(round.leader, request);
        round.unasked_since = if is_sent { None } else { round.unasked_since.or_else(|| Some(Instant::now())) };
    }

    pub(super) fn hash_arrived(&mut self, key: PeerKey, height: u64, hash: B256) {
        let headers = self.chain.headers();
        let Some(round) = self.round.as_mut().filter(|round| round.leader == key) else { return };
        let RoundStage::Search { low, high } = round.stage else { return };
        round.stage = match headers.has(height, &hash) {
            Ok(true) => RoundStage::Search { low: height, high },
            _ => RoundStage::Search { low, high: height },
        };
        self.search();
    }

    fn request_chunks(&mut self) {
        let Some(round) = &mut self.round else { return };
        let now = Instant::now();
        let is_header = |request: &SyncRequest| matches!(request, SyncRequest::Headers { .. });
        for chunk in round.chunks.iter_mut().filter(|chunk| matches!(chunk.state, ChunkState::Missing)) {
            let waiting = |key: &PeerKey| {
                let peer = self.peers.all.get(key).filter(|peer| peer.is_usable(now))?;
                Some((peer.waiting(is_header), *key)).filter(|(waiting, _)| *waiting < REQUESTS_PER_PEER)
            };
            let Some((_, key)) = chunk.servers.iter().filter_map(waiting).min() else { continue };
            if self.peers.request(key, SyncRequest::Headers { end: chunk.end, count: chunk.count }) {
                chunk.state = ChunkState::Requested(key);
            }
        }
        if round.is_stuck() {
            self.round = None;
        }
    }

    pub(super) fn headers_verified(
        &mut self,
        key: PeerKey,
        end: BlockIdentifier,
        result: Result<HeaderRun, AnswerFault>,
    ) {
        match result {
            Ok(run) => {
                if let Some(peer) = self.peers.get(key) {
                    peer.is_ahead_of_clock = false;
                }
                if let Some(chunk) = self.round.as_mut().and_then(|round| round.chunk(&end)) {
                    chunk.state = ChunkState::Verified(key, run);
                }
                self.append_next();
            }
            Err(AnswerFault::Header(fault)) => self.punish_headers(key, &fault, &end),
            Err(_) => {
                self.report(key, ScoreEvent::InvalidMessage);
                self.release(key, vec![SyncRequest::Headers { end, count: 0 }], true);
                self.end_round_of(key);
            }
        }
    }

    fn punish_headers(&mut self, key: PeerKey, fault: &HeaderFault, end: &BlockIdentifier) {
        self.judge_headers(key, fault);
        if let Some(round) = &mut self.round {
            round.release(end, key);
        }
        self.end_round_of(key);
    }

    /// Punishes the peer of invalid headers. Headers of the future cost its claim only: the clock of this node may be wrong, and
    /// it probably is if most peers send such headers.
    fn judge_headers(&mut self, key: PeerKey, fault: &HeaderFault) {
        if !fault.is_in_the_future() {
            return self.report(key, ScoreEvent::InvalidHeader);
        }
        self.demote(key);
        if let Some(peer) = self.peers.get(key) {
            peer.is_ahead_of_clock = true;
        }
        let (ahead, all) = self.peers.ahead_of_clock();
        if 2 * ahead > all {
            let pause = self.shared.options.limits.claim_pause;
            if let Some(peer) = self.peers.get(key) {
                peer.postpone(pause);
            }
            let reason =
                format!("{ahead} of {all} peers send headers of the future: is the clock of this machine right?");
            self.progress.set_failure(Some(reason));
        }
    }

    /// Adds the next chunk to the chain.
    fn append_next(&mut self) {
        let Some(round) = &mut self.round else { return };
        let (Some(base), Some((key, run))) = (round.base.clone(), round.take_verified()) else { return };
        round.is_appending = true;
        let candidate = std::mem::take(&mut round.candidate);
        let may_tie = run.positions().last().is_some_and(|(number, _)| number >= round.target.number);
        append_headers(&self.work, (round.id, key), base, candidate, run, may_tie);
    }

    pub(super) fn headers_appended(&mut self, round: u64, key: PeerKey, result: Result<AppendedHeaders, AppendError>) {
        let is_current = self.round.as_ref().is_some_and(|current| current.id == round);
        let appended = match result {
            Ok(appended) => appended,
            Err(AppendError::Chain(error)) => return self.fail(error.to_string()),
            Err(AppendError::Fault(fault)) => {
                match (&fault, &self.round) {
                    // The skeleton names blocks of two chains. The reference remembers blocks of skeletons after it has left their chain.
                    (HeaderFault::Link { .. }, Some(round)) => self.demote(round.leader),
                    _ => self.judge_headers(key, &fault),
                }
                if is_current {
                    self.round = None;
                }
                return;
            }
        };
        self.progress.count_headers(appended.count);
        if appended.count > 0 {
            self.note_fruit(key);
        }
        if let Some(number) = appended.switched_at {
            drop(self.sources.split_off(&number));
            self.restart_bodies();
        }
        self.note_all_served();
        let mut round = self.round.as_mut().filter(|_| is_current);
        let mut sources = round.as_mut().map(|round| std::mem::take(&mut round.sources)).unwrap_or_default();
        sources.extend(self.peers.all.get(&key).map(|peer| (appended.base.header.number, Arc::clone(&peer.peer))));
        if appended.candidate.is_empty() {
            self.sources.extend(sources.drain(..));
        }
        let Some(round) = round else { return };
        round.is_appending = false;
        round.sources = sources;
        round.base = Some(appended.base);
        round.candidate = appended.candidate;
        if round.chunks.is_empty() {
            self.continue_round();
        } else {
            self.append_next();
        }
    }

    /// Asks for the next skeleton, or ends the round.
    fn continue_round(&mut self) {
        let Some(round) = &mut self.round else { return };
        let Some(base) = &round.base else { return self.end_round() };
        let (leader, number) = (round.leader, base.header.number);
        let is_too_long = round.candidate.len() >= MAX_CANDIDATE;
        // A lighter branch is downloaded to its end, whatever the number of headers.
        let is_ahead = round.candidate.is_empty()
            && !self.shared.awaits_state()
            && self.chain.headers().len() >= MAX_HEADERS_AHEAD;
        if number >= round.target.number || is_too_long || is_ahead {
            if !is_ahead {
                return self.end_round();
            }
            self.round = None;
            return;
        }
        round.stage = RoundStage::Skeleton { start: number };
        self.ask_leader();
        self.ask_others_for_skeleton(leader, number);
    }

    /// Ends a round whose headers are all there. A branch that is not heavier in spite of the claim counts against the peer.
    fn end_round(&mut self) {
        let Some(round) = self.round.take() else { return };
        let is_delivered = self.chain.headers().has(round.target.number, &round.target.hash).unwrap_or(true);
        if !round.candidate.is_empty() || !is_delivered {
            self.demote(round.leader);
            if let Some(peer) = self.peers.get(round.leader) {
                peer.has_lighter_branch = !round.candidate.is_empty();
            }
        } else {
            self.note_fruit(round.leader);
        }
    }

    fn end_round_of(&mut self, key: PeerKey) {
        if self.round.as_ref().is_some_and(|round| round.leader == key) {
            self.round = None;
        }
    }

    fn demote(&mut self, key: PeerKey) {
        if let Some(peer) = self.peers.get(key) {
            peer.demote();
        }
    }

    /// Notes up to which height a peer has the best header chain: by its claim and its last skeleton.
    pub(super) fn note_served(&mut self, key: PeerKey) {
        let (chain, Some(peer)) = (&self.chain, self.peers.all.get_mut(&key)) else { return };
        let headers = chain.headers();
        let is_on_chain = |block: &&BlockIdentifier| headers.at(block.number).is_some_and(|own| own.hash == block.hash);
        let named = peer.skeleton.iter().chain(peer.claim.as_ref().map(|claim| &claim.best));
        peer.serves = named.filter(is_on_chain).map(|block| block.number).max().unwrap_or(0);
    }

    pub(super) fn note_all_served(&mut self) {
        let keys: Vec<PeerKey> = self.peers.all.keys().copied().collect();
        keys.into_iter().for_each(|key| self.note_served(key));
    }
}
