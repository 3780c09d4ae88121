//! Eviction of the nodes that the next changes need least: the memory of a trie stays bounded, and the nodes near the root stay,
//! because every change uses them.
//!
//! Keys are spread evenly, so a change goes through a node with a probability in proportion to the size of its subtree. If only the
//! time since the last use counted, the paths of the last blocks would push out the nodes above them that later blocks share: an
//! import in 512 MB (818 new keys in a block, 4.7 million entries) would read 7.9 MB a block, and not 7.2.

use std::mem;
use std::sync::Arc;

use crate::cache_lines::read_all_parts;
use crate::node::{Link, TrieNode};

/// Number of distinct ranks: eight for each doubling.
const RANKS: usize = 128 << RANK_BITS;
const RANK_BITS: u32 = 3;
/// Leaves count as this many times as old: a change of their key makes them from the value before, without a read, and changes of
/// other keys rarely go through them.
const LEAF_AGE: u128 = 8;

/// Links whose nodes are read into the caches of the processor together.
const CHUNK_LINKS: usize = 64;

/// Nodes in memory, by their rank: the time since a change last went through the node, in changes of the trie, in relation to the size
/// of the subtree. The rank of a node is at most that of its children.
struct NodeRanks {
    now: u32,
    /// Number of saved nodes of each rank.
    saved: Vec<usize>,
    /// Number of nodes that are not saved. They stay.
    unsaved: usize,
}

impl NodeRanks {
    fn rank(&self, node: &TrieNode) -> usize {
        let age = u128::from(self.now.saturating_sub(node.last_used)) + 1;
        let age = if node.is_terminal() { age * LEAF_AGE } else { age };
        // At least 1: a size has 64 bits.
        let relative = (age << 64) / u128::from(node.size().max(1));
        let doublings = relative.checked_ilog2().unwrap_or_default();
        let part = (relative >> doublings.saturating_sub(RANK_BITS)) as usize & ((1 << RANK_BITS) - 1);
        ((doublings as usize) << RANK_BITS) | part
    }

    /// Counts the nodes in memory below a link.
    fn count(&mut self, root: &Link) {
        let mut links = vec![root];
        while !links.is_empty() {
            let chunk = links.split_off(links.len().saturating_sub(CHUNK_LINKS));
            read_nodes(chunk.iter().copied());
            for node in chunk.into_iter().filter_map(Link::in_memory) {
                match self.rank(node) {
                    rank if node.is_saved() => self.saved.get_mut(rank).into_iter().for_each(|count| *count += 1),
                    _ => self.unsaved += 1,
                }
                links.extend([node.left(), node.right()].into_iter().filter(|link| !link.is_empty()));
            }
        }
    }

    /// Returns the rank from which nodes are evicted so that at most `nodes` stay, and the number of nodes that stay.
    fn limit(&self, nodes: usize) -> (usize, usize) {
        let mut kept = self.unsaved;
        for (rank, count) in self.saved.iter().enumerate() {
            if kept + count > nodes {
                return (rank, kept);
            }
            kept += count;
        }
        (RANKS, kept)
    }

    /// Replaces the nodes from a rank on by their hashes, and adds their subtrees to `evicted`. Nodes that other versions of the trie
    /// share are copied, the others change in place: a copy of all kept nodes would double the memory of the trie for a while.
    fn evict(&self, root: &mut Link, limit: usize) -> Vec<Link> {
        let mut evicted = Vec::new();
        let mut links = vec![root];
        while !links.is_empty() {
            let chunk = links.split_off(links.len().saturating_sub(CHUNK_LINKS));
            read_nodes(chunk.iter().map(|link| &**link));
            for link in chunk {
                if let Some(replacement) = self.replacement(link, limit) {
                    evicted.push(mem::replace(link, replacement));
                    continue;
                }
                if link.unshared_node().is_none() {
                    if let Some(copy) = self.without_evicted(link, limit) {
                        *link = copy;
                    }
                } else if let Some(node) = link.unshared_node()
                    && !node.is_embeddable()
                    && let Some((left, right)) = node.content.children_mut()
                {
                    links.extend([left, right].into_iter().filter(|link| !link.is_empty()));
                }
            }
        }
        evicted
    }

    /// Returns the hash of a node in memory that is to be evicted.
    fn replacement(&self, link: &Link, limit: usize) -> Option<Link> {
        let node = link.in_memory()?;
        let is_evicted = !node.is_embeddable() && node.is_saved() && self.rank(node) >= limit;
        is_evicted.then(|| Link::stored(node.hash(), link.place()))
    }

    /// Returns a copy of the subtree without the nodes from a rank on; `None` if there are no such nodes.
    fn without_evicted(&self, link: &Link, limit: usize) -> Option<Link> {
        if let Some(replacement) = self.replacement(link, limit) {
            return Some(replacement);
        }
        let node = link.in_memory().filter(|node| !node.is_embeddable())?;
        let (left, right) = match (self.without_evicted(node.left(), limit), self.without_evicted(node.right(), limit))
        {
            (None, None) => return None,
            (left, right) => {
                (left.unwrap_or_else(|| node.left().clone()), right.unwrap_or_else(|| node.right().clone()))
            }
        };
        Some(Link::Loaded(Arc::new(node.with_links(left, right)), link.place()))
    }
}

/// Evicts nodes until at most `nodes` are in memory. Nodes that are not saved stay in any case. `now`: number of changes of the trie
/// so far. Returns the number of nodes that stay, and the evicted subtrees, for the caller to free.
pub(crate) fn evict_least_needed(root: &mut Link, now: u32, nodes: usize) -> (usize, Vec<Link>) {
    let mut ranks = NodeRanks { now, saved: vec![0; RANKS], unsaved: 0 };
    ranks.count(root);
    let (limit, kept) = ranks.limit(nodes);
    (kept, ranks.evict(root, limit))
}

/// Reads the nodes of links into the caches of the processor: first what the links refer to, then the nodes.
fn read_nodes<'l>(links: impl Iterator<Item = &'l Link>) {
    let nodes: Vec<_> = links.map(Link::in_memory).collect();
    read_all_parts(nodes.into_iter().flatten().map(|node| &**node));
}
