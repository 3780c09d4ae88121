//! The task of the relay: takes events of peers, of the chain and of the pool, and sends announcements.

use super::check::JudgedBlock;
use super::importing::AnnouncedImporter;
use super::relay_peer::RelayPeer;
use super::transactions;
use crate::local_chain::{ChainStatus, encode_rsk_status};
use crate::network_state::NetworkState;
use crate::peer::events::{PeerEvent, PeerMessage};
use crate::peer::{Peer, PeerKey, key_of};
use crate::peer_tasks::PeerTasks;
use crate::standing::ScoreEvent;
use rhizome_chain::{Chain, ChainEvent, FutureBlocks, OrphanBlocks, TransactionOrigin};
use rhizome_primitives::{B256, Bytes};
use rhizome_wire::rsk::{BlockIdentifier, RskMessage, message_type, types};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc::{Receiver, UnboundedReceiver, UnboundedSender};

/// Time between two looks for transactions that wait and for lost requests.
const TICK: Duration = Duration::from_millis(25);
/// Time between two STATUS to a sample of peers.
const STATUS_INTERVAL: Duration = Duration::from_secs(11);
/// Distance of the best header from which on announcements are ignored: the synchronization brings the blocks.
const FAR_BEHIND: u64 = 24;

/// Result of work outside of the task, or an event of the chain.
pub(super) enum RelayWork {
    /// A message BLOCK of `bytes` bytes was checked.
    Checked { key: PeerKey, bytes: usize, block: Box<JudgedBlock> },
    /// Announced blocks that this node does not have.
    Wanted { key: PeerKey, blocks: Vec<BlockIdentifier> },
    /// An announced block has left the importer, stored or not.
    Imported(B256),
    /// This node has made a block.
    Mined(BlockIdentifier, Bytes),
    /// A peer has sent transactions.
    Sent { key: PeerKey, hashes: Vec<B256> },
    /// A transaction can be mined now.
    Pending { hash: B256, origin: TransactionOrigin },
}

/// State of the relay.
pub(super) struct RelayTask {
    pub(super) shared: Arc<NetworkState>,
    pub(super) chain: Arc<Chain>,
    pub(super) works: UnboundedSender<RelayWork>,
    pub(super) importer: AnnouncedImporter,
    pub(super) peers: HashMap<PeerKey, RelayPeer>,
    pub(super) orphans: OrphanBlocks<PeerKey>,
    pub(super) future: FutureBlocks<PeerKey>,
    /// Blocks that peers were asked for.
    pub(super) requested: HashMap<B256, (PeerKey, Instant)>,
    /// Blocks on their way through the importer.
    pub(super) importing: usize,
    status_sent: Instant,
}

/// Reports blocks of this node and pending transactions of a chain to the relay.
pub(super) fn listen(chain: &Arc<Chain>, works: UnboundedSender<RelayWork>) {
    let source = Arc::downgrade(chain);
    // A closed channel: the network was stopped.
    chain.on_event(Box::new(move |event| match event {
        ChainEvent::PendingTransaction { hash, origin } => {
            let _ = works.send(RelayWork::Pending { hash: *hash, origin: *origin });
        }
        ChainEvent::NewHead { number, hash, enacted, .. } if !enacted.is_empty() => {
            let Some(chain) = source.upgrade() else { return };
            // A block whose header was ahead comes from a synchronization.
            if works.is_closed() || chain.headers().at(*number).is_some_and(|header| header.hash == *hash) {
                return;
            }
            let head = chain.head();
            if head.hash() == *hash {
                let (works, block) = (works.clone(), BlockIdentifier { hash: *hash, number: *number });
                rayon::spawn(move || {
                    let raw = Bytes::from(head.record.block.encode());
                    let _ = works.send(RelayWork::Mined(block, raw));
                });
            }
        }
        _ => {}
    }));
}

impl RelayTask {
    pub(super) fn new(
        shared: Arc<NetworkState>,
        chain: Arc<Chain>,
        works: UnboundedSender<RelayWork>,
        importer: AnnouncedImporter,
    ) -> RelayTask {
        RelayTask {
            shared,
            chain,
            works,
            importer,
            peers: HashMap::new(),
            orphans: OrphanBlocks::default(),
            future: FutureBlocks::default(),
            requested: HashMap::new(),
            importing: 0,
            status_sent: Instant::now(),
        }
    }

    /// Runs until the network stops.
    pub(super) async fn run(mut self, mut events: Receiver<PeerEvent>, mut done: UnboundedReceiver<RelayWork>) {
        let (chain, works, shared) = (Arc::clone(&self.chain), self.works.clone(), Arc::clone(&self.shared));
        let mut pool = PeerTasks::new(move |peer, message| {
            transactions::take(Arc::clone(&shared), Arc::clone(&chain), works.clone(), peer, message)
        });
        let mut ticks = tokio::time::interval(TICK);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                event = events.recv() => match event {
                    Some(PeerEvent::Message(peer, message)) if is_transactions(&message) => {
                        if !self.is_far_behind() {
                            pool.handle(PeerEvent::Message(peer, message));
                        }
                    }
                    Some(PeerEvent::Message(peer, message)) => self.handle(&peer, message),
                    Some(PeerEvent::Connected(peer)) => {
                        self.connected(&peer);
                        pool.handle(PeerEvent::Connected(peer));
                    }
                    Some(PeerEvent::Disconnected(peer, reason)) => {
                        self.disconnected(key_of(&peer));
                        pool.handle(PeerEvent::Disconnected(peer, reason));
                    }
                    None => return,
                },
                Some(work) = done.recv() => self.finish(work),
                _ = ticks.tick() => self.tick(),
            }
            while let Ok(work) = done.try_recv() {
                self.finish(work);
            }
            let now = Instant::now();
            self.peers.values_mut().for_each(|peer| peer.flush(now));
        }
    }

    /// Adds a peer. A head that is younger than the STATUS of the handshake is announced: the relay did not know the peer then.
    fn connected(&mut self, peer: &Arc<Peer>) {
        let mut added = RelayPeer::new(Arc::clone(peer));
        let ChainStatus { number, hash, .. } = (self.shared.status)();
        if peer.told().is_some_and(|told| told != hash) && !self.is_far_behind() {
            let message = RskMessage::NewBlockHashes(vec![BlockIdentifier { hash, number }]);
            if peer.try_send_rsk(message.encode(), 0).is_ok() {
                added.blocks.insert(hash);
            }
        }
        self.peers.insert(key_of(peer), added);
    }

    fn handle(&mut self, peer: &Arc<Peer>, message: PeerMessage) {
        if self.is_far_behind() {
            return;
        }
        let key = key_of(peer);
        match message_type(message.payload()) {
            // Decoded on rayon: a block may have megabytes.
            Ok(types::BLOCK) => self.block_arrived(peer, message),
            Ok(_) => match RskMessage::decode(message.payload()) {
                Ok(RskMessage::NewBlockHashes(blocks)) => self.blocks_announced(peer, blocks),
                Ok(RskMessage::NewBlockHash { hash }) => {
                    let number = self.chain.head().number();
                    self.blocks_announced(peer, vec![BlockIdentifier { hash, number: number + 1 }]);
                }
                Ok(_) => {}
                Err(_malformed) => self.report(key, ScoreEvent::InvalidMessage),
            },
            Err(_malformed) => self.report(key, ScoreEvent::InvalidMessage),
        }
    }

    fn finish(&mut self, work: RelayWork) {
        match work {
            RelayWork::Checked { key, bytes, block } => self.block_checked(key, bytes, *block),
            RelayWork::Wanted { key, blocks } => {
                for block in blocks {
                    self.request(key, block.hash);
                }
            }
            RelayWork::Imported(hash) => self.block_imported(&hash),
            RelayWork::Mined(block, raw) => {
                if self.shared.accepted.insert(block.hash, raw.clone()) {
                    self.announce(block, &raw);
                }
            }
            RelayWork::Sent { key, hashes } => {
                if let Some(peer) = self.peers.get_mut(&key) {
                    hashes.into_iter().for_each(|hash| peer.knows_transaction(hash));
                }
            }
            RelayWork::Pending { hash, origin } => self.relay_transaction(hash, origin),
        }
    }

    fn relay_transaction(&mut self, hash: B256, origin: TransactionOrigin) {
        if let TransactionOrigin::Peer(key) = origin
            && let Some(sender) = self.peers.get_mut(&key)
        {
            sender.knows_transaction(hash);
        }
        // A transaction that was mined meanwhile is not relayed.
        if let Some(transaction) = self.chain.pool().get(&hash) {
            self.peers.values_mut().for_each(|peer| peer.offer(&transaction));
        }
    }

    fn tick(&mut self) {
        let now = Instant::now();
        self.retry_blocks(now);
        if now - self.status_sent >= STATUS_INTERVAL {
            self.status_sent = now;
            self.send_status(now);
        }
    }

    /// Sends STATUS to the peers whose last one is oldest.
    fn send_status(&mut self, now: Instant) {
        let sample = self.peers.len().isqrt().clamp(3, 10);
        let mut peers: Vec<&mut RelayPeer> = self.peers.values_mut().collect();
        peers.sort_by_key(|peer| peer.status_sent);
        let status = encode_rsk_status(&(self.shared.status)());
        for peer in peers.into_iter().take(sample) {
            if peer.peer.try_send_rsk(status.clone(), 0).is_ok() {
                peer.status_sent = now;
            }
        }
    }

    /// Whether the synchronization brings the next blocks. A chain that gets a state first must have no block before.
    fn is_far_behind(&self) -> bool {
        self.shared.awaits_state() || self.chain.headers().best_number() > self.chain.head().number() + FAR_BEHIND
    }

    /// Records an event of a connected peer.
    pub(super) fn report(&self, key: PeerKey, event: ScoreEvent) {
        if let Some(peer) = self.peers.get(&key) {
            self.shared.report(&peer.peer, event);
        }
    }
}

fn is_transactions(message: &PeerMessage) -> bool {
    message_type(message.payload()) == Ok(types::TRANSACTIONS)
}
