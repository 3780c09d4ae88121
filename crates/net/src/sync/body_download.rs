//! Bodies and whole blocks: from all peers that have them, lowest first, within the budget of each one, then to the importer in
//! order (docs/spec/p2p-additions.md, B and C.4).

use super::peers::{PeerKey, SyncRequest, key_of};
use super::task::SyncTask;
use super::verify::{DeliveredBlock, RequestedHeader, verify_blocks};
use crate::peer::events::PeerMessage;
use crate::standing::ScoreEvent;
use rhizome_chain::ImportOutcome;
use rhizome_wire::rsk::{BlockIdentifier, RskMessageError};
use std::time::{Duration, Instant};

/// Requests for single bodies that wait for answers of one peer.
const BODY_REQUESTS: usize = 64;
/// Requests for many blocks that wait for answers of one peer.
const BULK_REQUESTS: usize = 2;
/// Blocks in requests to a peer that has not proven yet that it answers.
const FIRST_BLOCKS: usize = 16;
/// Bytes of blocks in an answer that count as enough of any request.
const ENOUGH_BYTES: usize = 1 << 20;
/// Blocks in one request for whole blocks.
const BLOCKS_PER_REQUEST: usize = 400;
/// Bodies in one request to a node of this project.
const BODIES_PER_REQUEST: usize = 128;

impl SyncTask {
    /// Adds headers to the window and asks for their bodies.
    pub(super) fn plan_bodies(&mut self) {
        self.fill_window();
        let now = Instant::now();
        let mut keys: Vec<(bool, bool, PeerKey)> = (self.peers.all.iter())
            .filter(|(_, peer)| peer.is_usable(now) && peer.serves > 0)
            // Peers that bring many blocks in a message first. The next blocks never wait for a peer that brings none.
            .map(|(key, peer)| (!peer.is_proven, !peer.peer.shared.has_rhizome && !peer.serves_blocks, *key))
            .collect();
        keys.sort_unstable();
        for (_, _, key) in keys {
            while self.request_blocks(key) {}
        }
    }

    fn fill_window(&mut self) {
        let headers = self.chain.headers();
        if self.window.is_empty() {
            // Blocks that were announced meanwhile. A failed read shows again in the importer.
            let _ = headers.skip_stored();
        }
        let Some(first) = headers.first() else { return };
        while let Some(number) = self.window.next_number(first.header.number)
            && let Some(header) = headers.at(number)
        {
            self.window.push(header);
        }
    }

    /// Sends one request to a peer. Returns false if there is nothing to ask for or the peer cannot take more now.
    fn request_blocks(&mut self, key: PeerKey) -> bool {
        let Some(peer) = self.peers.all.get(&key) else { return false };
        let is_bulk = |request: &SyncRequest| request.blocks().len() > 1;
        let is_single = |request: &SyncRequest| request.blocks().len() == 1;
        let missing = self.window.missing(key, peer.serves);
        let limit = |proven: usize| if peer.is_proven { proven } else { FIRST_BLOCKS };
        let request = if peer.peer.shared.has_rhizome {
            if peer.waiting(|request| !request.blocks().is_empty()) >= BULK_REQUESTS {
                return false;
            }
            SyncRequest::Bodies(missing.take(limit(BODIES_PER_REQUEST)).collect())
        } else {
            let best = peer.claim.map_or(0, |claim| claim.best.number);
            let wanted = if peer.serves_blocks { limit(BLOCKS_PER_REQUEST) } else { 1 };
            let mut blocks: Vec<BlockIdentifier> = missing.take(wanted).collect();
            let run = consecutive(&blocks, best);
            if run > 1 {
                if peer.waiting(is_bulk) >= BULK_REQUESTS {
                    return false;
                }
                blocks.truncate(run);
                SyncRequest::Blocks(blocks)
            } else {
                if peer.waiting(is_single) >= limit(BODY_REQUESTS) {
                    return false;
                }
                blocks.truncate(1);
                SyncRequest::Bodies(blocks)
            }
        };
        let blocks = request.blocks().to_vec();
        if blocks.is_empty() || !self.peers.request(key, request) {
            return false;
        }
        self.window.request(&blocks, key);
        true
    }

    pub(super) fn blocks_arrived(&mut self, key: PeerKey, request: SyncRequest, message: PeerMessage) {
        let header = |block: &BlockIdentifier| Some((*block, self.window.requested(block, key)?));
        let headers: Vec<RequestedHeader> = request.blocks().iter().filter_map(header).collect();
        if !headers.is_empty() {
            verify_blocks(&self.work, key, message, headers);
        }
    }

    pub(super) fn blocks_verified(
        &mut self,
        key: PeerKey,
        identifiers: &[BlockIdentifier],
        result: Result<Vec<DeliveredBlock>, RskMessageError>,
    ) {
        let (mut kept, mut bytes, mut has_fault) = (0, 0, result.is_err());
        for (identifier, block) in identifiers.iter().zip(result.unwrap_or_default()) {
            match block {
                DeliveredBlock::Block(block) => {
                    bytes += block.size();
                    self.window.keep(identifier, block);
                    kept += 1;
                }
                DeliveredBlock::Wrong => has_fault = true,
                DeliveredBlock::Unknown => self.window.release(&[*identifier], key, true),
                DeliveredBlock::Left => {}
            }
        }
        self.progress.count_bodies(kept);
        // At least one block of an answer is known, so its end is asked for again.
        self.window.release(identifiers, key, kept == 0);
        if has_fault {
            self.report(key, ScoreEvent::InvalidMessage);
        }
        if let Some(peer) = self.peers.get(key) {
            peer.is_proven = 2 * kept >= identifiers.len() || bytes >= ENOUGH_BYTES;
        }
        if kept == 0
            && identifiers.len() > 1
            && let Some(peer) = self.peers.get(key)
        {
            peer.serves_blocks = false;
        }
        self.pass_on();
    }

    /// Gives the importer all blocks that are next.
    fn pass_on(&mut self) {
        while let Some((identifier, block)) = self.window.take_ready() {
            self.importer.push(identifier, block);
        }
    }

    pub(super) fn block_imported(&mut self, block: BlockIdentifier, outcome: ImportOutcome) {
        match outcome {
            ImportOutcome::ImportedBest | ImportOutcome::ImportedNotBest | ImportOutcome::Exists => {
                self.window.imported(block.number);
                self.delivered = Instant::now();
                self.progress.set_failure(None);
                // Entries of lower chunks are not needed any more.
                self.sources = self.sources.split_off(&block.number);
            }
            ImportOutcome::Invalid(_) => self.block_is_invalid(block),
            ImportOutcome::NoParent => {
                // The chain was rewound.
                self.forget_headers(0);
            }
        }
    }

    /// Punishes the peer that delivered the header, and continues with the next best chain. The importer remembers the hash.
    fn block_is_invalid(&mut self, block: BlockIdentifier) {
        if let Some((_, peer)) = self.sources.range(block.number..).next() {
            self.shared.report(peer, ScoreEvent::InvalidBlock);
        }
        self.forget_headers(block.number);
    }

    /// Leaves the best header chain for a lighter one if no peer delivers its next block: headers prove work, not that a peer has their
    /// blocks. The claims of the peers that brought it do not count for a while.
    pub(super) fn leave_unserved_headers(&mut self, now: Instant) {
        let lengths = self.window.lengths();
        if lengths.importing > 0 || lengths.missing + lengths.requested == 0 {
            self.delivered = now;
        }
        let has_waited = now.duration_since(self.delivered) >= self.shared.options.limits.state_time;
        if !has_waited || !self.peers.all.values().any(|peer| peer.has_lighter_branch) {
            return;
        }
        self.delivered = now;
        for (key, peer) in &mut self.peers.all {
            if std::mem::take(&mut peer.has_lighter_branch) {
                peer.postpone(Duration::ZERO);
            } else if self.sources.values().any(|source| key_of(source) == *key) {
                peer.demote();
            }
        }
        self.forget_headers(0);
    }

    /// Forgets the headers from a height on.
    fn forget_headers(&mut self, number: u64) {
        if let Err(error) = self.chain.headers().forget_from(number) {
            return self.fail(error.to_string());
        }
        self.round = None;
        self.sources.clear();
        self.restart_bodies();
        self.note_all_served();
    }

    /// Drops the blocks ahead of the importer. They are asked for again as far as they belong to the best header chain.
    pub(super) fn restart_bodies(&mut self) {
        self.window.clear();
        self.importer.clear();
    }
}

/// Returns the number of blocks at the start that follow each other and are below the best block of a snap server, which answers
/// with blocks below a number up to that one.
fn consecutive(blocks: &[BlockIdentifier], best: u64) -> usize {
    let first = blocks.first().map_or(0, |first| first.number);
    let follows = |(index, block): (u64, &BlockIdentifier)| block.number == first + index && block.number < best;
    (0..).zip(blocks).take_while(|(index, block)| follows((*index, block))).count()
}
