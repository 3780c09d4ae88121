//! Loads the nodes that changes go through into the caches of the processor before they are changed.
//!
//! A change follows pointers from node to node, and the processor waits for the memory at each. Here the nodes of one level are read
//! without a dependency between them, so that it waits for many at the same time: 6 % of the processor time of an import (`load`).
//! Without it the changes are the same.

use std::hint::black_box;

use crate::node::{Link, TrieNode};
use crate::update::{Change, split_by_bit};

/// Fewer changes have few nodes on the same level.
const LEAST_CHANGES: usize = 8;
/// The nodes of more changes do not fit into the caches.
pub(crate) const MOST_CHANGES: usize = 512;

/// A node in memory, on the way to some changes.
struct TouchedNode<'t> {
    node: &'t TrieNode,
    /// Number of bits above the node.
    at: usize,
    /// The changes below.
    changes: &'t [Change<'t>],
}

/// Reads the nodes below `link` that are in memory and that `changes` (sorted by key, equal in the `at` key bits above the link) go
/// through.
pub(crate) fn touch<'t>(link: &'t Link, at: usize, changes: &'t [Change<'t>]) {
    if !(LEAST_CHANGES..=MOST_CHANGES).contains(&changes.len()) {
        return;
    }
    let mut level = Vec::new();
    add(link, at, changes, &mut level);
    while !level.is_empty() {
        black_box(level.iter().fold(0, |sum: usize, touched| sum ^ touched.node.read_all_parts()));
        let mut below = Vec::with_capacity(level.len() * 2);
        for TouchedNode { node, at, changes } in level {
            let Some(first) = changes.first() else { continue };
            let length = node.path.len();
            if node.path.common_with_key(first.key, at) < length {
                continue;
            }
            let end = at + length;
            let changes = if first.ends_at(end) { changes.get(1..).unwrap_or_default() } else { changes };
            let (zeros, ones) = split_by_bit(changes, end);
            add(&node.left, end + 1, zeros, &mut below);
            add(&node.right, end + 1, ones, &mut below);
        }
        level = below;
    }
}

fn add<'t>(link: &'t Link, at: usize, changes: &'t [Change<'t>], level: &mut Vec<TouchedNode<'t>>) {
    if let Some(node) = link.in_memory().filter(|_| !changes.is_empty()) {
        level.push(TouchedNode { node, at, changes });
    }
}
