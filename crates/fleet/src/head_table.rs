//! The table of heads: the nodes that announce theirs, beside the head of this node.

use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rhizome_chain::Chain;

use crate::heard_nodes::{Announcement, Claim, FleetHead, HeardNodes};
use crate::options::FleetOptions;

/// A node of the fleet.
#[derive(Debug, Clone)]
pub struct FleetNode {
    /// Its name.
    pub name: String,
    /// `importer` or `replica`.
    pub role: String,
    /// Its version.
    pub version: String,
    /// Its head, as announced if this chain lacks it.
    pub head: FleetHead,
    /// Time since its last announcement.
    pub silence: Duration,
    /// Whether it has the best head of the fleet, or lacks it for less than a second.
    pub is_ready: bool,
    /// Time for which it has lacked the best head; zero if it has that.
    pub behind: Duration,
}

/// The announced heads of the other nodes.
pub(crate) struct HeadTable {
    own: String,
    nodes: Mutex<HeardNodes>,
}

impl HeadTable {
    pub(crate) fn new(own: String) -> Self {
        Self { own, nodes: Mutex::default() }
    }

    /// Reports that announcements are heard from now on, or no longer.
    pub(crate) fn listen(&self, listens: bool) {
        self.nodes.lock().listens = listens.then(Instant::now);
    }

    pub(crate) fn hear(&self, name: &str, announced: Announcement, chain: &Chain) {
        if name == self.own {
            return;
        }
        let own = FleetHead::of(chain);
        let known = known(chain, &announced.head, &own);
        self.nodes.lock().hear(name, announced, known, &own, Instant::now());
    }

    /// Whether this node lacks the best head of the fleet for more than a second, or has not had it since its start.
    pub(crate) fn is_behind(&self, chain: &Chain) -> bool {
        let now = Instant::now();
        let mut nodes = self.nodes.lock();
        nodes.judge(&FleetHead::of(chain), now);
        nodes.is_behind(now)
    }

    /// Returns the highest number that all ready nodes have reached.
    pub(crate) fn agreed(&self, chain: &Chain) -> u64 {
        let now = Instant::now();
        let own = FleetHead::of(chain);
        let mut nodes = self.nodes.lock();
        nodes.judge(&own, now);
        nodes.agree(&own, now)
    }

    /// Returns the heads to look up in the block log.
    pub(crate) fn claims(&self, chain: &Chain) -> Vec<Claim> {
        self.nodes.lock().claims(&FleetHead::of(chain), Instant::now())
    }

    /// Takes the answer of the block log. Returns whether it is the first head of the node that is not there.
    pub(crate) fn decide(&self, claim: &Claim, is_logged: bool) -> bool {
        self.nodes.lock().decide(claim, is_logged)
    }

    pub(crate) fn nodes(&self, chain: &Chain, options: &FleetOptions) -> Vec<FleetNode> {
        let now = Instant::now();
        let own = FleetHead::of(chain);
        let mut nodes = self.nodes.lock();
        nodes.judge(&own, now);
        let others = nodes.others.iter().map(|(name, node)| FleetNode {
            name: name.clone(),
            role: node.announced.role.clone(),
            version: node.announced.version.clone(),
            head: *node.head(),
            silence: now.duration_since(node.heard),
            is_ready: node.is_ready(now),
            behind: elapsed(node.behind, now),
        });
        let this = FleetNode {
            name: self.own.clone(),
            role: options.role.name().into(),
            version: options.version.clone(),
            head: own,
            silence: Duration::ZERO,
            is_ready: !nodes.is_behind(now),
            behind: elapsed(nodes.own_behind, now),
        };
        let mut all: Vec<_> = others.chain([this]).collect();
        all.sort_by(|left, right| left.name.cmp(&right.name));
        all
    }
}

/// Returns an announced head as the chain has it.
fn known(chain: &Chain, announced: &FleetHead, own: &FleetHead) -> Option<FleetHead> {
    let FleetHead { number, hash, .. } = *announced;
    if hash == own.hash {
        return Some(*own);
    }
    // A failing database fails the import, too, which reports it.
    let mut at_height = chain.blocks_at(number).ok()?.into_iter();
    if let Some(block) = at_height.find(|block| block.hash == hash) {
        return Some(FleetHead { number, hash, total_difficulty: block.total_difficulty });
    }
    // The number may be wrong. Reads the whole block.
    let record = chain.block(&hash).ok().flatten()?;
    Some(FleetHead { number: record.number(), hash: record.hash, total_difficulty: record.total_difficulty })
}

fn elapsed(behind: Option<Instant>, now: Instant) -> Duration {
    behind.map_or(Duration::ZERO, |since| now.duration_since(since))
}
