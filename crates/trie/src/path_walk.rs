//! Walks through the nodes in memory that changes go through, level by level.
//!
//! A change follows pointers from node to node, and the processor waits for the memory at each. Here the nodes of one level are read
//! without a dependency between them, so that it waits for many at the same time.

use std::borrow::Cow;
use std::mem;

use crate::cache_lines::read_all_parts;
use crate::node::{Link, StoredNode, TrieNode};
use crate::update::{Action, Change, split_by_bit};

/// The nodes that a walk has reached.
#[derive(Default)]
pub(crate) struct PathWalk<'t> {
    /// Nodes of one level, in memory.
    level: Vec<ReachedNode<'t>>,
    /// Nodes that are not in memory, of all levels so far.
    missing: Vec<MissingNode<'t>>,
}

/// A node in memory, on the way to some changes.
struct ReachedNode<'t> {
    node: &'t TrieNode,
    /// Number of bits above the node.
    at: usize,
    /// The changes below.
    changes: &'t [Change<'t>],
    /// The other child of the parent, which becomes one with the parent if this node is deleted.
    sibling: Option<&'t Link>,
}

/// A node that is not in memory, on the way to some changes.
pub(crate) struct MissingNode<'t> {
    pub(crate) stored: &'t StoredNode,
    /// A key with the bits above the node.
    pub(crate) key: Cow<'t, [u8]>,
    /// Number of bits above the node.
    pub(crate) at: usize,
    /// The changes below.
    pub(crate) changes: &'t [Change<'t>],
    sibling: Option<&'t Link>,
}

impl<'t> PathWalk<'t> {
    /// Starts a walk to `changes`, sorted by key, which agree in the `at` key bits above `link`.
    pub(crate) fn from(link: &'t Link, at: usize, changes: &'t [Change<'t>]) -> Self {
        let mut walk = Self::default();
        walk.add(link, at, changes, None);
        walk
    }

    /// Continues a walk at nodes that were missing, and are in memory now.
    pub(crate) fn resume(missing: Vec<MissingNode<'t>>) -> Self {
        let reached = |MissingNode { stored, at, changes, sibling, .. }| {
            Some(ReachedNode { node: StoredNode::loaded(stored)?, at, changes, sibling })
        };
        Self { level: missing.into_iter().filter_map(reached).collect(), missing: Vec::new() }
    }

    /// Walks to the end. Returns the nodes that are not in memory.
    pub(crate) fn finish(mut self) -> Vec<MissingNode<'t>> {
        while !self.level.is_empty() {
            read_all_parts(self.level.iter().map(|reached| reached.node));
            let next = Vec::with_capacity(self.level.len() * 2);
            for reached in mem::replace(&mut self.level, next) {
                self.go_below(reached);
            }
        }
        self.missing
    }

    fn add(&mut self, link: &'t Link, at: usize, changes: &'t [Change<'t>], sibling: Option<&'t Link>) {
        match (link, link.in_memory(), changes.first()) {
            (_, Some(node), Some(_)) => self.level.push(ReachedNode { node, at, changes, sibling }),
            (Link::Stored(stored), None, Some(first)) => {
                self.missing.push(MissingNode { stored, key: Cow::Borrowed(first.key), at, changes, sibling });
            }
            _ => {}
        }
    }

    fn go_below(&mut self, ReachedNode { node, at, changes, sibling }: ReachedNode<'t>) {
        let agrees = |change: &Change<'_>| node.path().common_with_key(change.key, at) == node.path().len();
        // In a sorted list, the changes that agree with the path are adjacent.
        let (first, last) = (changes.iter().position(agrees), changes.iter().rposition(agrees));
        let (Some(first), Some(last)) = (first, last) else { return };
        let Some(mut changes) = changes.get(first..=last) else { return };
        let end = at + node.path().len();
        if let Some((here, below)) = changes.split_first().filter(|(here, _)| here.ends_at(end)) {
            if node.is_terminal() && matches!(here.action, Action::Delete) {
                return self.add_sibling(sibling, here.key, at);
            }
            changes = below;
        }
        let (zeros, ones) = split_by_bit(changes, end);
        let only =
            |other: &'t Link, others: &[Change<'_>]| (node.value().is_none() && others.is_empty()).then_some(other);
        self.add(node.left(), end + 1, zeros, only(node.right(), ones));
        self.add(node.right(), end + 1, ones, only(node.left(), zeros));
    }

    /// Adds the sibling of a leaf that is deleted, with `at` bits of `key` above it.
    fn add_sibling(&mut self, sibling: Option<&'t Link>, key: &[u8], at: usize) {
        if let Some(last) = at.checked_sub(1)
            && let Some(Link::Stored(stored)) = sibling
            && stored.loaded().is_none()
        {
            let mut key = key.to_vec();
            if let Some(byte) = key.get_mut(last / 8) {
                *byte ^= 0x80 >> (last % 8);
            }
            self.missing.push(MissingNode { stored, key: Cow::Owned(key), at, changes: &[], sibling: None });
        }
    }
}
