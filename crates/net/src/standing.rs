//! Standing of nodes and addresses: scores, punishments and bans (docs/spec/p2p.md, 11; p2p-additions.md, F).

mod score;

pub use score::{PeerScore, PunishmentRule, ScoreEvent};

use crate::bans::{BanStore, BanTarget, Bans};
use parking_lot::Mutex;
use rhizome_chain::ChainError;
use rhizome_wire::session::NodeId;
use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::sync::Notify;

/// Nodes, and addresses, whose scores are remembered.
const MAX_SCORES: usize = 4_096;
/// Reason of a ban that no event of the peer has caused.
const OPERATOR: &str = "operator";

/// Standing of all nodes and addresses that this node has met. Exists without a network, too.
pub struct PeerStanding {
    bans: Bans,
    scores: Mutex<Scores>,
    /// Wakes the task that closes connections of banned peers.
    pub(crate) banned: Notify,
}

#[derive(Default)]
struct Scores {
    nodes: ScoreTable<NodeId>,
    addresses: ScoreTable<IpAddr>,
    /// Number of punishments by event, and of bans by the operator.
    bans: BTreeMap<&'static str, u64>,
}

/// Subject of a score.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScoredPeer {
    /// A node by its id.
    Node(NodeId),
    /// An address.
    Address(IpAddr),
}

impl PeerStanding {
    /// Reads the stored bans. Scores start empty.
    pub fn open(store: Arc<dyn BanStore>) -> Result<PeerStanding, ChainError> {
        Ok(PeerStanding { bans: Bans::open(store)?, scores: Mutex::default(), banned: Notify::new() })
    }

    /// Records an event of a node and of its address. Returns whether the peer is punished from now on. Loopback addresses
    /// and static peers are not punished.
    pub fn record(&self, id: Option<&NodeId>, address: IpAddr, event: ScoreEvent, is_static: bool) -> bool {
        let now = now_ms();
        let mut scores = self.scores.lock();
        let by_node = id.is_some_and(|id| {
            let score = scores.nodes.entry(*id, now);
            score.record(event, now, (!is_static).then_some(&PunishmentRule::NODES))
        });
        let address = address.to_canonical();
        let rule = (!is_static && !address.is_loopback()).then_some(&PunishmentRule::ADDRESSES);
        let by_address = scores.addresses.entry(address, now).record(event, now, rule);
        if by_node || by_address {
            *scores.bans.entry(event.name()).or_default() += 1;
        }
        by_node || by_address
    }

    /// Whether connections from an address are refused.
    pub fn refuses_address(&self, address: IpAddr) -> bool {
        let now = now_ms();
        let address = address.to_canonical();
        self.bans.has_address(address, now / 1_000) || self.scores.lock().addresses.is_punished(&address, now)
    }

    /// Whether a node is refused.
    pub fn refuses_node(&self, id: &NodeId) -> bool {
        let now = now_ms();
        self.bans.has_node(id, now / 1_000) || self.scores.lock().nodes.is_punished(id, now)
    }

    /// Bans until a time in seconds since 1970, or without end, and closes connections. On disk when the call returns.
    pub fn ban(&self, target: BanTarget, end: Option<u64>) -> Result<(), ChainError> {
        self.bans.add(target, end)?;
        *self.scores.lock().bans.entry(OPERATOR).or_default() += 1;
        self.banned.notify_one();
        Ok(())
    }

    /// Removes a ban, if present.
    pub fn unban(&self, target: &BanTarget) -> Result<(), ChainError> {
        self.bans.remove(target)
    }

    /// Returns the bans in force with their ends in seconds since 1970.
    pub fn bans(&self) -> Vec<(BanTarget, Option<u64>)> {
        self.bans.list(now_ms() / 1_000)
    }

    /// Returns the scores of all nodes, then those of all addresses.
    pub fn scores(&self) -> Vec<(ScoredPeer, PeerScore)> {
        let now = now_ms();
        let scores = self.scores.lock();
        let nodes = scores.nodes.all(now).map(|(id, score)| (ScoredPeer::Node(*id), score));
        let addresses = scores.addresses.all(now).map(|(address, score)| (ScoredPeer::Address(*address), score));
        nodes.chain(addresses).collect()
    }

    /// Returns the score of a node.
    pub fn node_score(&self, id: &NodeId) -> i64 {
        let scores = self.scores.lock();
        scores.nodes.entries.get(id).map_or(0, |entry| entry.score.at(now_ms()).score)
    }

    /// Forgets a score and its punishment.
    pub fn clear(&self, peer: &ScoredPeer) {
        let mut scores = self.scores.lock();
        match peer {
            ScoredPeer::Node(id) => scores.nodes.entries.remove(id),
            ScoredPeer::Address(address) => scores.addresses.entries.remove(&address.to_canonical()),
        };
    }

    /// Returns the number of punishments by event, and of bans by the operator, since the start.
    pub fn ban_counts(&self) -> BTreeMap<&'static str, u64> {
        let offences = ScoreEvent::ALL.iter().filter(|event| event.bans()).map(|event| event.name());
        let mut counts: BTreeMap<_, _> = offences.chain([OPERATOR]).map(|reason| (reason, 0)).collect();
        counts.extend(&self.scores.lock().bans);
        counts
    }
}

/// Scores of the most recently met peers.
struct ScoreTable<K> {
    entries: HashMap<K, ScoreEntry>,
}

struct ScoreEntry {
    score: PeerScore,
    used_ms: u64,
}

impl<K> Default for ScoreTable<K> {
    fn default() -> ScoreTable<K> {
        ScoreTable { entries: HashMap::new() }
    }
}

impl<K: Eq + Hash + Copy> ScoreTable<K> {
    fn entry(&mut self, key: K, now: u64) -> &mut PeerScore {
        if self.entries.len() >= MAX_SCORES && !self.entries.contains_key(&key) {
            self.evict(now);
        }
        let entry = self.entries.entry(key).or_insert(ScoreEntry { score: PeerScore::default(), used_ms: now });
        entry.used_ms = now;
        &mut entry.score
    }

    /// Removes the quarter that was not used for the longest time, peers without a punishment first.
    fn evict(&mut self, now: u64) {
        let mut order: Vec<_> = self
            .entries
            .iter()
            .map(|(key, entry)| (entry.score.at(now).is_punished(now), entry.used_ms, *key))
            .collect();
        order.sort_unstable_by_key(|(is_punished, used, _)| (*is_punished, *used));
        for (_, _, key) in order.into_iter().take(MAX_SCORES / 4) {
            self.entries.remove(&key);
        }
    }

    fn is_punished(&self, key: &K, now: u64) -> bool {
        self.entries.get(key).is_some_and(|entry| entry.score.is_punished(now))
    }

    fn all(&self, now: u64) -> impl Iterator<Item = (&K, PeerScore)> {
        self.entries.iter().map(move |(key, entry)| (key, entry.score.at(now)))
    }
}

/// Returns milliseconds since 1970.
fn now_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}
