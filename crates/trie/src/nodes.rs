//! Iteration over all nodes of a trie, for checking a stored state and comparing tries node by node.

use std::sync::Arc;

use rhizome_primitives::{B256, Bytes};

use crate::error::TrieError;
use crate::node::{Link, TrieNode};
use crate::path::Path;
use crate::processor_turn::yield_processor;
use crate::source::NodePosition;
use crate::trie::Trie;

/// Public view of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeView {
    /// Bits from the root to the end of the node, packed from the most significant bit; unused bits are zero.
    pub path: Vec<u8>,
    /// Number of bits in `path`.
    pub bits: usize,
    /// Number of bits at the end of `path` that are the node's shared path.
    pub own_bits: usize,
    /// Message of the node.
    pub message: Bytes,
    /// Keccak hash of the message.
    pub hash: B256,
    /// True if the message is embedded in that of the parent.
    pub is_embedded: bool,
    /// Size in bytes of everything below the node.
    pub children_size: u64,
    /// Length of the value in bytes, 0 without a value.
    pub value_length: usize,
}

/// Iterator over the nodes of a trie. After an error the iteration ends.
pub struct TrieNodes {
    trie: Trie,
    /// Subtrees to visit, with the key bits above each.
    pending: Vec<(Link, Path)>,
}

impl TrieNodes {
    pub(crate) fn new(trie: &Trie) -> TrieNodes {
        TrieNodes { trie: trie.clone(), pending: vec![(trie.root.clone(), Path::default())] }
    }

    fn view(&mut self, node: &Arc<TrieNode>, above: Path) -> NodeView {
        let is_root = above.is_empty();
        let mut path = above;
        path.append(node.path());
        for bit in [true, false] {
            let mut below = path.clone();
            below.push(bit);
            self.pending.push((node.child(bit).clone(), below));
        }
        NodeView {
            path: path.bytes().to_vec(),
            bits: path.len(),
            own_bits: node.path().len(),
            message: node.message().into(),
            hash: node.hash(),
            is_embedded: !is_root && node.is_embeddable(),
            children_size: node.children_size,
            value_length: node.value().length(),
        }
    }
}

impl Iterator for TrieNodes {
    type Item = Result<NodeView, TrieError>;

    fn next(&mut self) -> Option<Self::Item> {
        while let Some((link, above)) = self.pending.pop() {
            yield_processor();
            match link.peek(&*self.trie.source, NodePosition::below_path(&above)) {
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
