//! Which nodes have which head, and which of them count. An announcement is not evidence: the own chain says what a known head is
//! worth, and a head that the chain lacks counts only if the block log has it.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use rhizome_chain::Chain;
use rhizome_primitives::{B256, U256};

/// Time without an announcement after which a node does not count.
const SILENCE: Duration = Duration::from_secs(2);
/// The same for a node that lacks the best head: it has probably ended, and callers wait for it.
const LATE_SILENCE: Duration = Duration::from_millis(250);
/// Time after which it is forgotten.
const FORGOTTEN: Duration = Duration::from_secs(60);
/// Time for which a node may lack the best head and still counts as ready.
const PATIENCE: Duration = Duration::from_secs(1);
/// Time in which all nodes have announced their heads to a new one.
const JOIN_TIME: Duration = Duration::from_millis(500);
/// Maximum number of nodes.
const MAX_NODES: usize = 256;
/// Heads that are looked up in the block log at once.
const MAX_CLAIMS: usize = 4;

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
    pub(crate) fn of(chain: &Chain) -> Self {
        let record = &chain.head().record;
        Self { number: record.number(), hash: record.hash, total_difficulty: record.total_difficulty }
    }
}

/// Contents of an announcement.
pub(crate) struct Announcement {
    pub(crate) head: FleetHead,
    pub(crate) role: String,
    pub(crate) version: String,
}

/// Standing of an announced head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Evidence {
    /// The chain has the block: number and difficulty are those of the chain.
    Known,
    /// The chain lacks it.
    Claimed,
    /// The chain lacks it, the block log has it.
    Logged,
    /// Neither has it.
    Refuted,
}

/// A node and its last announcement.
pub(crate) struct HeardNode {
    pub(crate) announced: Announcement,
    evidence: Evidence,
    pub(crate) heard: Instant,
    /// Since when it announces heads that this chain lacks.
    claims: Option<Instant>,
    /// Since when it lacks the head of this chain.
    pub(crate) behind: Option<Instant>,
    /// Whether it has had the best head since it appeared. Before, it reads the blocks that it has missed.
    has_joined: bool,
    /// Whether it has announced a head that neither the chain nor the log had.
    is_doubted: bool,
}

impl HeardNode {
    pub(crate) fn head(&self) -> &FleetHead {
        &self.announced.head
    }

    /// Whether it claims a head better than that of this chain.
    fn is_ahead(&self, own: &FleetHead) -> bool {
        self.evidence != Evidence::Known && self.head().total_difficulty > own.total_difficulty
    }
}

/// A head that the block log is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Claim {
    pub(crate) node: String,
    pub(crate) head: FleetHead,
}

/// The nodes that announce heads, and the standing of this node among them.
#[derive(Default)]
pub(crate) struct HeardNodes {
    pub(crate) others: BTreeMap<String, HeardNode>,
    /// Since when this node lacks a head that the block log has.
    pub(crate) own_behind: Option<Instant>,
    /// Since when announcements are heard.
    pub(crate) listens: Option<Instant>,
    /// Whether this node has had the best head since its start.
    has_joined: bool,
    /// Agreed number of the last call. It only falls with the own head.
    agreed: u64,
}

impl HeardNodes {
    /// Takes an announcement. `known`: the head as this chain has it.
    pub(crate) fn hear(
        &mut self,
        name: &str,
        mut announced: Announcement,
        known: Option<FleetHead>,
        own: &FleetHead,
        now: Instant,
    ) {
        if self.others.len() >= MAX_NODES && !self.others.contains_key(name) {
            return;
        }
        let before = self.others.remove(name);
        let is_same = before.as_ref().is_some_and(|node| node.head().hash == announced.head.hash);
        let evidence = match (known, &before) {
            (Some(_), _) => Evidence::Known,
            (None, Some(node)) if is_same && node.evidence != Evidence::Known => node.evidence,
            (None, _) => Evidence::Claimed,
        };
        announced.head = known.unwrap_or(announced.head);
        let was_heard = before.as_ref().is_some_and(|node| now.duration_since(node.heard) < SILENCE);
        let is_doubted = before.as_ref().is_some_and(|node| node.is_doubted);
        let before = before.filter(|_| was_heard);
        let claims = match evidence {
            Evidence::Known => None,
            _ => before.as_ref().and_then(|node| node.claims).or(Some(now)),
        };
        let behind = before.as_ref().and_then(|node| node.behind);
        let has_joined = before.is_some_and(|node| node.has_joined);
        let node = HeardNode { announced, evidence, heard: now, claims, behind, has_joined, is_doubted };
        self.others.insert(name.to_owned(), node);
        self.judge(own, now);
    }

    /// Updates which nodes lack the best head, and since when.
    pub(crate) fn judge(&mut self, own: &FleetHead, now: Instant) {
        self.others.retain(|_, node| now.duration_since(node.heard) < FORGOTTEN);
        let heard = |node: &&HeardNode| now.duration_since(node.heard) < SILENCE && node.is_ahead(own);
        let logged = self.others.values().filter(heard).filter(|node| node.evidence == Evidence::Logged);
        self.own_behind = logged.filter_map(|node| node.claims).min();
        let counts = |node: &HeardNode| node.evidence == Evidence::Logged || !node.is_doubted;
        let is_missing = self.others.values().any(|node| heard(&node) && counts(node));
        self.has_joined |= !is_missing && self.listens.is_some_and(|since| now.duration_since(since) >= JOIN_TIME);
        for node in self.others.values_mut() {
            let is_behind = node.head().total_difficulty < own.total_difficulty;
            node.behind = if is_behind { node.behind.or(Some(now)) } else { None };
            node.has_joined |= node.evidence == Evidence::Known && !is_behind;
        }
    }

    /// Whether this node lacks the best head for too long, or has never had it.
    pub(crate) fn is_behind(&self, now: Instant) -> bool {
        !self.has_joined || is_late(self.own_behind, now)
    }

    /// Returns the highest number that this node and all ready ones have reached.
    pub(crate) fn agree(&mut self, own: &FleetHead, now: Instant) -> u64 {
        let counts = |node: &&HeardNode| node.evidence == Evidence::Known && node.is_ready(now);
        let lowest = self.others.values().filter(counts).map(|node| node.head().number).min();
        let number = lowest.unwrap_or(own.number).max(self.agreed).min(own.number);
        self.agreed = number;
        number
    }

    /// Returns the heads to look up in the log: each makes this node late if it is there.
    pub(crate) fn claims(&self, own: &FleetHead, now: Instant) -> Vec<Claim> {
        let is_open = |node: &&HeardNode| {
            node.evidence == Evidence::Claimed
                && node.is_ahead(own)
                && now.duration_since(node.heard) < SILENCE
                && (is_late(node.claims, now) || !self.has_joined)
        };
        let open = self.others.iter().filter(|(_, node)| is_open(node)).take(MAX_CLAIMS);
        open.map(|(name, node)| Claim { node: name.clone(), head: *node.head() }).collect()
    }

    /// Takes the answer of the log. Returns whether it is the first head of the node that is not there.
    pub(crate) fn decide(&mut self, claim: &Claim, is_logged: bool) -> bool {
        let Some(node) = self.others.get_mut(&claim.node) else { return false };
        // The node may have announced another head since.
        if node.head().hash == claim.head.hash && node.evidence != Evidence::Known {
            node.evidence = if is_logged { Evidence::Logged } else { Evidence::Refuted };
        }
        let is_first = !is_logged && !node.is_doubted;
        node.is_doubted |= !is_logged;
        is_first
    }
}

fn is_late(behind: Option<Instant>, now: Instant) -> bool {
    behind.is_some_and(|since| now.duration_since(since) > PATIENCE)
}

impl HeardNode {
    /// Whether it has the best head, or lacks it for less than a second.
    pub(crate) fn is_ready(&self, now: Instant) -> bool {
        let silence = now.duration_since(self.heard);
        let is_heard = silence < if self.behind.is_some() { LATE_SILENCE } else { SILENCE };
        is_heard && self.has_joined && self.evidence != Evidence::Refuted && !is_late(self.behind, now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A_WHILE: Duration = Duration::from_millis(1);

    fn head(number: u64) -> FleetHead {
        FleetHead { number, hash: B256::repeat_byte(number as u8), total_difficulty: U256::from(number) }
    }

    fn announced(number: u64) -> Announcement {
        Announcement { head: head(number), role: "replica".into(), version: "1".into() }
    }

    struct Table {
        nodes: HeardNodes,
        own: FleetHead,
        now: Instant,
    }

    impl Table {
        /// Returns the table of a node that has joined.
        fn new(own: u64) -> Table {
            let now = Instant::now();
            let mut table = Table { nodes: HeardNodes::default(), own: head(own), now };
            table.nodes.listens = Some(now);
            table.after(JOIN_TIME);
            table
        }

        /// Lets time pass.
        fn after(&mut self, time: Duration) {
            self.now += time;
            self.nodes.judge(&self.own, self.now);
        }

        pub(crate) fn hear(&mut self, name: &str, number: u64) {
            let known = (number <= self.own.number).then(|| head(number));
            self.nodes.hear(name, announced(number), known, &self.own, self.now);
        }

        fn is_ready(&self, name: &str) -> bool {
            self.nodes.others.get(name).is_some_and(|node| node.is_ready(self.now))
        }

        fn is_behind(&self) -> bool {
            self.nodes.is_behind(self.now)
        }

        fn agreed(&mut self) -> u64 {
            self.nodes.agree(&self.own, self.now)
        }
    }

    #[test]
    fn a_node_that_lacks_the_head_of_this_one_for_a_second_does_not_count() {
        let mut table = Table::new(8);
        table.hear("other", 8);
        table.own = head(9);
        for _ in 0..10 {
            table.hear("other", 8);
            assert_eq!((table.is_ready("other"), table.agreed()), (true, 8));
            table.after(PATIENCE / 10);
        }
        table.after(A_WHILE);
        table.hear("other", 8);
        assert_eq!((table.is_ready("other"), table.agreed()), (false, 9));
        table.hear("other", 9);
        assert!(table.is_ready("other"));
    }

    #[test]
    fn a_node_that_is_gone_holds_the_others_for_a_moment_only() {
        let mut table = Table::new(8);
        table.hear("gone", 8);
        table.after(LATE_SILENCE);
        assert_eq!((table.is_ready("gone"), table.agreed()), (true, 8));
        table.own = head(9);
        table.after(A_WHILE);
        assert_eq!((table.is_ready("gone"), table.agreed()), (false, 9));
        table.after(FORGOTTEN);
        assert!(table.nodes.others.is_empty());
    }

    #[test]
    fn a_node_that_appears_counts_from_the_first_time_it_has_the_head() {
        let mut table = Table::new(8);
        table.hear("new", 2);
        assert_eq!((table.is_ready("new"), table.agreed()), (false, 8));
        table.hear("new", 8);
        table.own = head(9);
        table.hear("new", 8);
        assert_eq!((table.is_ready("new"), table.agreed()), (true, 8));
        // After a silence it is new again.
        table.after(SILENCE);
        table.hear("new", 8);
        assert_eq!((table.is_ready("new"), table.agreed()), (false, 9));
    }

    #[test]
    fn the_agreed_number_does_not_fall() {
        let mut table = Table::new(8);
        table.hear("other", 8);
        assert_eq!(table.agreed(), 8);
        table.hear("other", 3);
        assert_eq!((table.is_ready("other"), table.agreed()), (true, 8));
        table.own = head(6);
        assert_eq!(table.agreed(), 6);
    }

    #[test]
    fn a_head_that_this_chain_lacks_counts_if_the_log_has_it() {
        let mut table = Table::new(8);
        table.hear("ahead", 9);
        assert!(table.nodes.claims(&table.own, table.now).is_empty(), "the block may be on its way");
        table.after(PATIENCE + A_WHILE);
        table.hear("ahead", 10);
        let claims = table.nodes.claims(&table.own, table.now);
        assert_eq!(claims, [Claim { node: "ahead".into(), head: head(10) }]);
        assert!(!table.is_behind());
        table.nodes.decide(&claims[0], true);
        table.after(A_WHILE);
        assert!(table.is_behind());
        table.hear("ahead", 10);
        assert_eq!((table.is_behind(), table.agreed()), (true, 8));
        table.own = head(10);
        table.hear("ahead", 10);
        assert!(!table.is_behind());
    }

    #[test]
    fn a_head_that_nobody_has_makes_no_node_late() {
        let mut table = Table::new(8);
        table.hear("honest", 8);
        for number in [200, 201] {
            table.hear("forged", number);
            table.after(PATIENCE + A_WHILE);
            table.hear("honest", 8);
            table.hear("forged", number);
            let claims = table.nodes.claims(&table.own, table.now);
            assert_eq!(claims.len(), 1);
            assert_eq!(table.nodes.decide(&claims[0], false), number == 200, "told once");
            table.after(A_WHILE);
            assert!(!table.is_behind() && table.is_ready("honest") && !table.is_ready("forged"));
            assert_eq!((table.agreed(), table.nodes.claims(&table.own, table.now)), (8, Vec::new()));
        }
    }

    #[test]
    fn a_node_has_joined_when_it_has_all_heads_that_it_has_heard() {
        let mut table = Table { nodes: HeardNodes::default(), own: head(3), now: Instant::now() };
        table.after(FORGOTTEN);
        assert!(table.is_behind(), "without a connection it knows no other heads");
        table.nodes.listens = Some(table.now);
        table.hear("ahead", 8);
        table.after(JOIN_TIME);
        assert!(table.is_behind());
        // At once: the node does not know how old its head is.
        let claims = table.nodes.claims(&table.own, table.now);
        // The next announcement comes before the answer.
        table.hear("ahead", 9);
        table.nodes.decide(&claims[0], false);
        table.after(A_WHILE);
        assert!(!table.is_behind());
        let mut table = Table { nodes: HeardNodes::default(), own: head(3), now: Instant::now() };
        table.nodes.listens = Some(table.now);
        table.hear("ahead", 8);
        table.own = head(8);
        table.hear("ahead", 8);
        assert!(table.is_behind());
        table.after(JOIN_TIME);
        assert!(!table.is_behind());
    }
}
