//! Heads of all nodes. Each node announces its own at every change and four times a second.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use parking_lot::Mutex;
use rhizome_chain::Chain;
use rhizome_primitives::{B256, U256};

use crate::error::FleetError;
use crate::fleet_state::FleetState;
use crate::options::{FleetOptions, FleetRole};
use crate::session::Session;

/// Time between two announcements of the same head.
const PERIOD: Duration = Duration::from_millis(250);
/// Time without an announcement after which a node does not count.
const SILENCE: Duration = Duration::from_secs(2);
/// Time after which it is forgotten.
const FORGOTTEN: Duration = Duration::from_secs(60);
/// Time for which a node may lack the best head and still counts as ready.
const PATIENCE: Duration = Duration::from_secs(1);
/// Maximum number of nodes.
const MAX_NODES: usize = 256;
/// Maximum length of an announcement in bytes.
const MAX_BYTES: usize = 512;

/// The best block of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FleetHead {
    /// Its number.
    pub number: u64,
    /// Its hash.
    pub hash: B256,
    /// Difficulty of the chain up to it, uncles included.
    pub total_difficulty: U256,
}

impl FleetHead {
    fn of(chain: &Chain) -> Self {
        let record = &chain.head().record;
        Self { number: record.number(), hash: record.hash, total_difficulty: record.total_difficulty }
    }
}

/// A node of the fleet.
#[derive(Debug, Clone)]
pub struct FleetNode {
    /// Its name.
    pub name: String,
    /// `importer` or `replica`.
    pub role: String,
    /// Its version.
    pub version: String,
    /// Its head.
    pub head: FleetHead,
    /// Time since its last announcement.
    pub silence: Duration,
    /// Whether it has the best head of the fleet, or lacks it for less than a second.
    pub is_ready: bool,
    /// Time for which it has lacked the best head; zero if it has that.
    pub behind: Duration,
}

struct HeardNode {
    role: String,
    version: String,
    head: FleetHead,
    heard: Instant,
    /// Since when it lacks the best head.
    behind: Option<Instant>,
}

/// The announced heads of the other nodes.
pub(crate) struct HeadTable {
    own: String,
    nodes: Mutex<HeardNodes>,
}

#[derive(Default)]
struct HeardNodes {
    others: BTreeMap<String, HeardNode>,
    own_behind: Option<Instant>,
}

impl HeardNodes {
    /// Updates since when each node lacks the best head. Returns whether this one counts as behind.
    fn judge(&mut self, own: &FleetHead, now: Instant) {
        self.others.retain(|_, node| now.duration_since(node.heard) < FORGOTTEN);
        let is_heard = |node: &&HeardNode| now.duration_since(node.heard) < SILENCE;
        let best = self.others.values().filter(is_heard).map(|node| node.head.total_difficulty).max();
        let best = best.unwrap_or_default().max(own.total_difficulty);
        let since = |behind: Option<Instant>, head: &FleetHead| {
            if head.total_difficulty < best { behind.or(Some(now)) } else { None }
        };
        self.own_behind = since(self.own_behind, own);
        for node in self.others.values_mut() {
            node.behind = since(node.behind, &node.head);
        }
    }
}

fn is_late(behind: Option<Instant>, now: Instant) -> bool {
    behind.is_some_and(|since| now.duration_since(since) > PATIENCE)
}

impl HeadTable {
    pub(crate) fn new(own: String) -> Self {
        Self { own, nodes: Mutex::default() }
    }

    fn hear(&self, name: &str, announcement: &[u8], chain: &Chain) {
        let Some((head, role, version)) = decode(announcement) else { return };
        let now = Instant::now();
        let mut nodes = self.nodes.lock();
        if name == self.own || (nodes.others.len() >= MAX_NODES && !nodes.others.contains_key(name)) {
            return;
        }
        let behind = nodes.others.get(name).and_then(|node| node.behind);
        nodes.others.insert(name.to_owned(), HeardNode { role, version, head, heard: now, behind });
        nodes.judge(&FleetHead::of(chain), now);
    }

    /// Whether this node lacks the best head of the fleet for more than a second.
    pub(crate) fn is_behind(&self, chain: &Chain) -> bool {
        let now = Instant::now();
        let mut nodes = self.nodes.lock();
        nodes.judge(&FleetHead::of(chain), now);
        is_late(nodes.own_behind, now)
    }

    /// Returns the highest number that all ready nodes have reached.
    pub(crate) fn agreed(&self, chain: &Chain) -> u64 {
        let now = Instant::now();
        let own = FleetHead::of(chain);
        let mut nodes = self.nodes.lock();
        nodes.judge(&own, now);
        let ready = nodes.others.values().filter(|node| is_ready(node, now)).map(|node| node.head.number);
        ready.min().map_or(own.number, |lowest| lowest.min(own.number))
    }

    pub(crate) fn nodes(&self, chain: &Chain, options: &FleetOptions) -> Vec<FleetNode> {
        let now = Instant::now();
        let own = FleetHead::of(chain);
        let mut nodes = self.nodes.lock();
        nodes.judge(&own, now);
        let others = nodes.others.iter().map(|(name, node)| FleetNode {
            name: name.clone(),
            role: node.role.clone(),
            version: node.version.clone(),
            head: node.head,
            silence: now.duration_since(node.heard),
            is_ready: is_ready(node, now),
            behind: elapsed(node.behind, now),
        });
        let this = FleetNode {
            name: self.own.clone(),
            role: options.role.name().into(),
            version: options.version.clone(),
            head: own,
            silence: Duration::ZERO,
            is_ready: !is_late(nodes.own_behind, now),
            behind: elapsed(nodes.own_behind, now),
        };
        let mut all: Vec<_> = others.chain([this]).collect();
        all.sort_by(|left, right| left.name.cmp(&right.name));
        all
    }
}

fn elapsed(behind: Option<Instant>, now: Instant) -> Duration {
    behind.map_or(Duration::ZERO, |since| now.duration_since(since))
}

fn is_ready(node: &HeardNode, now: Instant) -> bool {
    now.duration_since(node.heard) < SILENCE && !is_late(node.behind, now)
}

/// An announcement: number, hash, total difficulty, role and version, separated by spaces.
fn encode(head: &FleetHead, role: FleetRole, version: &str) -> String {
    format!("{} {} {} {} {version}", head.number, head.hash, head.total_difficulty, role.name())
}

fn decode(announcement: &[u8]) -> Option<(FleetHead, String, String)> {
    if announcement.len() > MAX_BYTES {
        return None;
    }
    let mut words = std::str::from_utf8(announcement).ok()?.split(' ');
    let head = FleetHead {
        number: words.next()?.parse().ok()?,
        hash: words.next()?.parse().ok()?,
        total_difficulty: words.next()?.parse().ok()?,
    };
    Some((head, words.next()?.to_owned(), words.next()?.to_owned()))
}

/// Announces the head of this node.
pub(crate) async fn announce(session: &Session, state: &FleetState) -> Result<Infallible, FleetError> {
    let subject = state.names.head(&state.options.name);
    loop {
        let head = FleetHead::of(&state.chain);
        let text = encode(&head, state.options.role, &state.options.version);
        session.client.publish(subject.clone(), text.into()).await.map_err(|_closed| FleetError::Lost)?;
        tokio::select! {
            () = state.moved.notified() => {}
            () = tokio::time::sleep(PERIOD) => {}
        }
    }
}

/// Listens to the heads of the other nodes.
pub(crate) async fn listen(session: &Session, state: &FleetState) -> Result<Infallible, FleetError> {
    let subscribed = session.client.subscribe(state.names.all_heads()).await;
    let mut announcements = subscribed.map_err(|error| FleetError::Refused(error.to_string()))?;
    while let Some(message) = announcements.next().await {
        let name = message.subject.rsplit('.').next().unwrap_or_default();
        state.heads.hear(name, &message.payload, &state.chain);
    }
    Err(FleetError::Lost)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(number: u64) -> FleetHead {
        FleetHead { number, hash: B256::repeat_byte(3), total_difficulty: U256::from(number) }
    }

    fn heard(number: u64, now: Instant) -> HeardNode {
        HeardNode { role: "replica".into(), version: "1".into(), head: head(number), heard: now, behind: None }
    }

    #[test]
    fn an_announcement_is_read_back() {
        let text = encode(&head(7), FleetRole::Replica, "0.1.0");
        assert_eq!(decode(text.as_bytes()), Some((head(7), "replica".into(), "0.1.0".into())));
        assert_eq!(decode(b"7 0x 1"), None);
        assert_eq!(decode(&[b'1'; MAX_BYTES + 1]), None);
    }

    #[test]
    fn a_node_that_lacks_the_best_head_for_a_second_is_not_ready() {
        let start = Instant::now();
        let mut nodes = HeardNodes::default();
        nodes.others.insert("ahead".into(), heard(9, start));
        nodes.others.insert("behind".into(), heard(8, start));
        nodes.judge(&head(8), start);
        let late = start + PATIENCE + Duration::from_millis(1);
        let judged = |nodes: &HeardNodes, name: &str, at| nodes.others.get(name).is_some_and(|node| is_ready(node, at));
        assert!(judged(&nodes, "behind", start) && !is_late(nodes.own_behind, start));
        assert!(!judged(&nodes, "behind", late) && is_late(nodes.own_behind, late) && judged(&nodes, "ahead", late));
        // The own head is now the best one, and the others are silent.
        nodes.judge(&head(10), start + SILENCE);
        assert_eq!(nodes.own_behind, None);
        assert!(!judged(&nodes, "ahead", start + SILENCE));
        nodes.judge(&head(10), start + FORGOTTEN);
        assert!(nodes.others.is_empty());
    }
}
