//! Every node of a trie: for checking a stored state and for comparing tries node by node.

use std::sync::Arc;

use rhizome_primitives::{B256, Bytes};

use crate::error::TrieError;
use crate::node::{Link, TrieNode};
use crate::path::Path;
use crate::trie::Trie;

/// A node as others see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeView {
    /// The bits from the root to the end of the node, packed from the most significant bit; unused bits are zero.
    pub path: Vec<u8>,
    /// Number of bits in `path`.
    pub bits: usize,
    /// How many of them are the node's own shared path.
    pub own_bits: usize,
    /// The node's bytes.
    pub message: Bytes,
    /// Keccak of the bytes.
    pub hash: B256,
    /// The bytes stand in the parent's message, not on their own.
    pub is_embedded: bool,
    /// Bytes of everything below the node.
    pub children_size: u64,
    /// In bytes, 0 without a value.
    pub value_length: usize,
}

impl Trie {
    /// All nodes in the order node, left subtree, right subtree. Nodes are read when they are reached and not kept.
    pub fn nodes(&self) -> TrieNodes {
        TrieNodes { trie: self.clone(), pending: vec![(self.root.clone(), Path::default())] }
    }
}

/// Iterator over the nodes of a trie. After an error the iteration ends.
pub struct TrieNodes {
    trie: Trie,
    /// Subtrees still to be visited, with the bits above each.
    pending: Vec<(Link, Path)>,
}

impl TrieNodes {
    fn view(&mut self, node: &Arc<TrieNode>, above: Path) -> NodeView {
        let is_root = above.is_empty();
        let mut path = above;
        path.append(&node.path);
        for bit in [true, false] {
            let mut below = path.clone();
            below.push(bit);
            self.pending.push((node.child(bit).clone(), below));
        }
        NodeView {
            path: path.bytes().to_vec(),
            bits: path.len(),
            own_bits: node.path.len(),
            message: node.message().into(),
            hash: node.hash(),
            is_embedded: !is_root && node.is_embeddable(),
            children_size: node.children_size,
            value_length: node.value.length(),
        }
    }
}

impl Iterator for TrieNodes {
    type Item = Result<NodeView, TrieError>;

    fn next(&mut self) -> Option<Self::Item> {
        while let Some((link, above)) = self.pending.pop() {
            match link.peek(&*self.trie.source) {
                Ok(Some(node)) => return Some(Ok(self.view(&node, above))),
                Ok(None) => {}
                Err(error) => {
                    self.pending.clear();
                    return Some(Err(error));
                }
            }
        }
        None
    }
}
