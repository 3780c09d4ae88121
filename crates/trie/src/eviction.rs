//! Eviction of the nodes that were not used recently: the memory of a trie stays bounded, and the nodes near the root stay,
//! because every change uses them.

use std::mem;
use std::sync::Arc;

use crate::node::{Link, TrieNode};

/// Number of distinct ages. Older nodes count as this old.
const AGES: usize = 1 << 14;
/// Leaves count as this many times as old: a change of their key makes them from the value before, without a read, and changes of
/// other keys rarely go through them.
const LEAF_AGE: usize = 8;

/// Nodes in memory, by their age: the number of changes of the trie since a change last went through the node.
struct NodeAges {
    now: u32,
    /// Number of saved nodes of each age.
    saved: Vec<usize>,
    /// Number of nodes that are not saved. They stay.
    unsaved: usize,
}

impl NodeAges {
    fn age(&self, node: &TrieNode) -> usize {
        let factor = if node.is_terminal() { LEAF_AGE } else { 1 };
        (self.now.saturating_sub(node.last_used) as usize).saturating_mul(factor).min(AGES - 1)
    }

    fn count(&mut self, link: &Link) {
        let Some(node) = link.in_memory() else { return };
        match self.age(node) {
            age if node.is_saved() => self.saved.get_mut(age).into_iter().for_each(|count| *count += 1),
            _ => self.unsaved += 1,
        }
        self.count(&node.left);
        self.count(&node.right);
    }

    /// Returns the age from which nodes are evicted so that at most `nodes` stay, and the number of nodes that stay.
    fn limit(&self, nodes: usize) -> (usize, usize) {
        let mut kept = self.unsaved;
        for (age, count) in self.saved.iter().enumerate() {
            if kept + count > nodes {
                return (age, kept);
            }
            kept += count;
        }
        (AGES, kept)
    }

    /// Replaces the nodes from an age on by their hashes, and adds their subtrees to `evicted`. Nodes that other versions of the trie
    /// share are copied, the others change in place: a copy of all kept nodes would double the memory of the trie for a while.
    fn evict(&self, link: &mut Link, limit: usize, evicted: &mut Vec<Link>) {
        if let Some(replacement) = self.replacement(link, limit) {
            return evicted.push(mem::replace(link, replacement));
        }
        match link.unshared_node() {
            Some(node) if !node.is_embeddable() => {
                self.evict(&mut node.left, limit, evicted);
                self.evict(&mut node.right, limit, evicted);
            }
            Some(_) => {}
            None => {
                if let Some(copy) = self.without_old(link, limit) {
                    *link = copy;
                }
            }
        }
    }

    /// Returns the hash of a node in memory that is to be evicted.
    fn replacement(&self, link: &Link, limit: usize) -> Option<Link> {
        let node = link.in_memory()?;
        let is_old = !node.is_embeddable() && node.is_saved() && self.age(node) >= limit;
        is_old.then(|| Link::stored(node.hash()))
    }

    /// Returns a copy of the subtree without the nodes from an age on; `None` if there are no such nodes.
    fn without_old(&self, link: &Link, limit: usize) -> Option<Link> {
        if let Some(replacement) = self.replacement(link, limit) {
            return Some(replacement);
        }
        let node = link.in_memory().filter(|node| !node.is_embeddable())?;
        let (left, right) = match (self.without_old(&node.left, limit), self.without_old(&node.right, limit)) {
            (None, None) => return None,
            (left, right) => (left.unwrap_or_else(|| node.left.clone()), right.unwrap_or_else(|| node.right.clone())),
        };
        Some(Link::Loaded(Arc::new(node.with_links(left, right))))
    }
}

/// Evicts nodes until at most `nodes` are in memory. Nodes that are not saved stay in any case. `now`: number of changes of the trie
/// so far. Returns the number of nodes that stay, and the evicted subtrees, for the caller to free.
pub(crate) fn evict_least_used(root: &mut Link, now: u32, nodes: usize) -> (usize, Vec<Link>) {
    let mut ages = NodeAges { now, saved: vec![0; AGES], unsaved: 0 };
    ages.count(root);
    let (limit, kept) = ages.limit(nodes);
    let mut evicted = Vec::new();
    ages.evict(root, limit, &mut evicted);
    (kept, evicted)
}
