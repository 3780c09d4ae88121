//! Reads of nodes that load them into the caches of the processor before they are used.
//!
//! Walks through the trie follow pointers from node to node, and the processor waits for the memory at each. Here it reads many nodes
//! without a dependency between them, and waits for them at the same time. The results are the same without these reads.
//!
//! Measured with 818 new keys in a block at 5 million entries, all proofs (AMD EPYC, 2 cores): comparing a block takes 5.2 ms of
//! processor time in place of 8.5, together with subtrees that fit into the second cache ([`SUBTREE_CHANGES`]).

use std::hint::black_box;

use crate::node::TrieNode;

/// Changes whose nodes fit into the second cache of a processor: about 12 nodes for a change, with 128 bytes each, and their messages.
pub(crate) const SUBTREE_CHANGES: usize = 128;

/// Reads all cache lines of nodes.
pub(crate) fn read_all_parts<'n>(nodes: impl Iterator<Item = &'n TrieNode>) {
    black_box(nodes.fold(0, |sum, node| sum ^ node.read_all_parts()));
}

/// Reads the hashes of the children of nodes.
pub(crate) fn read_child_hashes(nodes: &[&TrieNode]) {
    black_box(nodes.iter().fold(0, |sum, node| sum ^ node.read_child_hashes()));
}
