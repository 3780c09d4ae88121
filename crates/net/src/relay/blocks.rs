//! Announced blocks: requests for them, their way to the importer, and their announcement to other peers.

use super::check::{BlockVerdict, JudgedBlock, MAX_BELOW, check_message, check_parent, is_wanted};
use super::task::{RelayTask, RelayWork};
use crate::peer::events::PeerMessage;
use crate::peer::{Peer, PeerKey, key_of};
use crate::standing::ScoreEvent;
use rhizome_chain::PreparedBlock;
use rhizome_primitives::{B256, Bytes};
use rhizome_wire::rsk::{BlockIdentifier, EncodedBlock, RskMessage};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// GET_BLOCKs of one peer without an answer.
const REQUESTS_OF_PEER: usize = 16;
/// Maximum number of blocks that wait for the importer.
const MAX_IMPORTING: usize = 64;
/// Time after which a second peer is asked.
const ANSWER_TIME: Duration = Duration::from_secs(2);
/// Messages of the budget that announcements and requests leave to answers.
const RESERVE: u32 = 20;

impl RelayTask {
    /// Starts the checks of a message BLOCK.
    pub(super) fn block_arrived(&self, peer: &Arc<Peer>, message: PeerMessage) {
        let (chain, shared, works) = (Arc::clone(&self.chain), Arc::clone(&self.shared), self.works.clone());
        let (key, peer) = (key_of(peer), Arc::clone(peer));
        rayon::spawn(move || {
            let start = Instant::now();
            let block = Box::new(check_message(&chain, &shared.accepted, message.payload()));
            peer.charge_work(start.elapsed());
            // Fails only while the network stops.
            let _ = works.send(RelayWork::Checked { key, bytes: message.payload().len(), block });
        });
    }

    /// Looks up announced blocks.
    pub(super) fn blocks_announced(&mut self, peer: &Arc<Peer>, blocks: Vec<BlockIdentifier>) {
        let key = key_of(peer);
        if let Some(known) = self.peers.get_mut(&key) {
            for block in &blocks {
                known.blocks.insert(block.hash);
            }
        }
        let (chain, shared, works) = (Arc::clone(&self.chain), Arc::clone(&self.shared), self.works.clone());
        let peer = Arc::clone(peer);
        rayon::spawn(move || {
            let start = Instant::now();
            let wanted = blocks.into_iter().filter(|block| is_wanted(&chain, &shared.accepted, block)).collect();
            peer.charge_work(start.elapsed());
            let _ = works.send(RelayWork::Wanted { key, blocks: wanted });
        });
    }

    /// Asks a peer for a block that no other peer was asked for.
    pub(super) fn request(&mut self, key: PeerKey, hash: B256) {
        let is_known = self.orphans.contains(&hash) || self.shared.accepted.contains(&hash);
        if is_known || self.requested.contains_key(&hash) {
            return;
        }
        let Some(peer) = self.peers.get_mut(&key).filter(|peer| peer.requested < REQUESTS_OF_PEER) else { return };
        if peer.peer.try_send_rsk(RskMessage::GetBlock { hash }.encode(), RESERVE).is_ok() {
            peer.requested += 1;
            peer.unread = REQUESTS_OF_PEER.min(peer.unread + 1);
            self.requested.insert(hash, (key, Instant::now()));
        }
    }

    pub(super) fn block_checked(&mut self, key: PeerKey, bytes: usize, block: JudgedBlock) {
        let asked = block.hash.and_then(|hash| self.requested.remove(&hash)).map(|(asked, _)| asked);
        if let Some(asked) = asked.and_then(|asked| self.peers.get_mut(&asked)) {
            asked.requested = asked.requested.saturating_sub(1);
        }
        // The reference relays a block before it has read everything, and encodes some blocks in a form that cannot be read.
        let mut is_garbled =
            matches!(block.verdict, BlockVerdict::BadHeader(_) | BlockVerdict::BadBody) && asked.is_none();
        if let Some(peer) = self.peers.get_mut(&key) {
            if let Some(hash) = block.hash {
                peer.blocks.insert(hash);
            }
            is_garbled &= peer.unread > 0;
            if asked == Some(key) || is_garbled {
                peer.unread = peer.unread.saturating_sub(1);
            }
            if asked == Some(key) {
                peer.missed = 0;
                peer.peer.refund_requested(bytes);
            }
        }
        match block.verdict {
            BlockVerdict::Ignored => {}
            _ if is_garbled => {}
            BlockVerdict::BadHeader(event) => self.report(key, event),
            // Only a miner sends a block without being asked.
            BlockVerdict::BadBody if asked.is_none() => self.report(key, ScoreEvent::InvalidBlock),
            BlockVerdict::BadBody => {}
            BlockVerdict::Future { block, due } => self.future.insert(block, key, due),
            BlockVerdict::Orphan(block) => self.keep_orphan(key, block),
            BlockVerdict::Valid(block) => self.accept(key, block),
        }
    }

    /// Relays a block with a valid header, then imports it. While too many wait for the importer, further blocks are left to the
    /// synchronization.
    fn accept(&mut self, key: PeerKey, block: PreparedBlock) {
        if self.importing >= MAX_IMPORTING {
            return;
        }
        let identifier = BlockIdentifier { hash: block.hash(), number: block.block().header.number };
        let raw = Bytes::copy_from_slice(block.encoding());
        if self.shared.accepted.insert(identifier.hash, raw.clone()) {
            self.report(key, ScoreEvent::ValidBlock);
            self.announce(identifier, &raw);
            self.importing += 1;
            self.importer.push(block);
        }
    }

    /// Keeps a block without a parent, and asks for the first missing ancestor.
    fn keep_orphan(&mut self, key: PeerKey, block: PreparedBlock) {
        let hash = block.hash();
        self.report(key, ScoreEvent::ValidBlock);
        if !self.orphans.insert(block, key, self.chain.head().number()) {
            return;
        }
        let Some(missing) = self.orphans.missing_ancestor(&hash) else { return };
        // The parent may have been imported since the check.
        match self.chain.block(&missing) {
            Ok(Some(_)) => self.recheck_children(&missing),
            Ok(None) => self.request(key, missing),
            Err(_own_failure) => {}
        }
    }

    pub(super) fn block_imported(&mut self, hash: &B256) {
        self.importing -= 1;
        self.orphans.drop_below(self.chain.head().number().saturating_sub(MAX_BELOW));
        self.recheck_children(hash);
    }

    fn recheck_children(&mut self, parent: &B256) {
        for (block, key) in self.orphans.take_children(parent) {
            self.recheck(key, block);
        }
    }

    fn recheck(&self, key: PeerKey, block: PreparedBlock) {
        let (chain, works) = (Arc::clone(&self.chain), self.works.clone());
        rayon::spawn(move || {
            let hash = Some(block.hash());
            let verdict = match check_parent(&chain, block) {
                // Its parent turned out to be invalid, or cannot be read.
                Ok(BlockVerdict::Orphan(_)) | Err(_) => BlockVerdict::Ignored,
                Ok(verdict) => verdict,
            };
            let block = Box::new(JudgedBlock { hash, verdict });
            let _ = works.send(RelayWork::Checked { key, bytes: 0, block });
        });
    }

    /// Sends a block to the root of the number of peers, and its hash to the others, as far as they do not have it.
    pub(super) fn announce(&mut self, block: BlockIdentifier, raw: &[u8]) {
        let whole = self.peers.len().isqrt();
        let mut keys: Vec<PeerKey> = self.peers.keys().copied().collect();
        // Another order for each block, which no peer can foresee.
        let salt = block.hash.iter().fold(0_usize, |sum, byte| sum.rotate_left(7) ^ usize::from(*byte));
        keys.sort_unstable_by_key(|key| (key ^ salt).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        // The block was split before.
        let Ok(encoded) = EncodedBlock::split(raw) else { return };
        let message = RskMessage::Block(encoded).encode();
        let hash_message = RskMessage::NewBlockHashes(vec![block]).encode();
        let lacking =
            keys.into_iter().filter(|key| self.peers.get(key).is_some_and(|peer| !peer.blocks.contains(&block.hash)));
        let lacking: Vec<PeerKey> = lacking.collect();
        for (index, key) in lacking.into_iter().enumerate() {
            let Some(peer) = self.peers.get_mut(&key) else { continue };
            let payload = if index < whole { message.clone() } else { hash_message.clone() };
            if peer.peer.try_send_rsk(payload, RESERVE).is_ok() {
                peer.blocks.insert(block.hash);
            }
        }
    }

    /// Tries blocks of the future again, and asks other peers for blocks that did not arrive.
    pub(super) fn retry_blocks(&mut self, now: Instant) {
        while let Some((block, key)) = self.future.take_due(self.chain.config().clock.now()) {
            self.recheck(key, block);
        }
        self.ask_others(|_, sent| now - sent >= ANSWER_TIME);
    }

    pub(super) fn disconnected(&mut self, key: PeerKey) {
        self.peers.remove(&key);
        self.ask_others(|asked, _| asked == key);
    }

    /// Gives up lost requests, chosen by peer and time. Each block is requested from the other announcing peer that missed the fewest.
    fn ask_others(&mut self, is_lost: impl Fn(PeerKey, Instant) -> bool) {
        let lost: Vec<(B256, PeerKey)> = self
            .requested
            .extract_if(|_, (key, sent)| is_lost(*key, *sent))
            .map(|(hash, (key, _))| (hash, key))
            .collect();
        for (hash, asked) in lost {
            if let Some(peer) = self.peers.get_mut(&asked) {
                peer.requested = peer.requested.saturating_sub(1);
                peer.missed = peer.missed.saturating_add(1);
            }
            let others = self.peers.iter().filter(|(key, peer)| **key != asked && peer.blocks.contains(&hash));
            if let Some(key) = others.min_by_key(|(_, peer)| peer.missed).map(|(key, _)| *key) {
                self.request(key, hash);
            }
        }
    }
}
