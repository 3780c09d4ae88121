//! Proofs that a key has a value, or has none, against a root hash.

use rhizome_primitives::{B256, Bytes, EMPTY_ROOT, keccak256};

use crate::error::TrieError;
use crate::message::{ChildPart, NodeMessage, NodeMessageError, ValuePart};
use crate::node::TrieNode;
use crate::path::bit;
use crate::trie::Trie;

impl Trie {
    /// The messages of the nodes on the way to `key`, root first, down to its node or to the node that proves that there
    /// is none. Embedded nodes are elements of their own. Empty for the empty trie.
    pub fn prove(&self, key: &[u8]) -> Result<Vec<Bytes>, TrieError> {
        Ok(self.walk(key)?.messages(0))
    }

    /// The messages of the nodes on the way to `key`, deepest first, as the reference gives them: None when there is no
    /// node at exactly `key` (a node without a value counts).
    pub fn get_nodes(&self, key: &[u8]) -> Result<Option<Vec<Bytes>>, TrieError> {
        let walk = self.walk(key)?;
        let is_found = walk.is_found;
        let mut messages = walk.messages(0);
        messages.reverse();
        Ok(is_found.then_some(messages))
    }

    /// Hash of the node at exactly `key`, whether it has a value or not: at the mark's key this is the storage root.
    pub fn node_hash(&self, key: &[u8]) -> Result<Option<B256>, TrieError> {
        Ok(self.find(key)?.map(|node| node.hash()))
    }

    /// Like [`Trie::prove`], starting at the node at exactly `top`, of which `key` is an extension: a proof against
    /// [`Trie::node_hash`] of `top`. None when there is no such node.
    pub fn prove_below(&self, top: &[u8], key: &[u8]) -> Result<Option<Vec<Bytes>>, TrieError> {
        let walk = self.walk(key)?;
        let top_bits = top.len() * 8;
        let Some(skipped) = walk.ends.iter().position(|end| *end == top_bits) else { return Ok(None) };
        Ok(key.starts_with(top).then(|| walk.messages(skipped)))
    }

    /// What is loaded on the way is kept, for proofs of an account and its storage have most of it in common.
    fn walk(&self, key: &[u8]) -> Result<ProofPath<'_>, TrieError> {
        let mut walk = ProofPath::default();
        let mut link = &self.root;
        let mut at = 0;
        while let Some(node) = link.node(&*self.source)? {
            walk.nodes.push(node);
            let common = node.path.common_with_key(key, at);
            at += common;
            if common < node.path.len() {
                return Ok(walk);
            }
            walk.ends.push(at);
            if at == key.len() * 8 {
                walk.is_found = true;
                return Ok(walk);
            }
            link = node.child(bit(key, at));
            at += 1;
        }
        Ok(walk)
    }
}

#[derive(Default)]
struct ProofPath<'a> {
    nodes: Vec<&'a TrieNode>,
    /// Number of key bits at the end of each node whose whole path was in the key.
    ends: Vec<usize>,
    is_found: bool,
}

impl ProofPath<'_> {
    /// Of all nodes but the first ones.
    fn messages(&self, skipped: usize) -> Vec<Bytes> {
        self.nodes.iter().skip(skipped).map(|node| node.message().into()).collect()
    }
}

/// What a valid proof says about its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProofOutcome {
    /// The key has no value.
    Absent,
    /// The key has this value, of at most 32 bytes.
    Value(Bytes),
    /// The key has a value of more than 32 bytes, which has to be compared with these.
    LongValue {
        /// Keccak of the value.
        hash: B256,
        /// In bytes.
        length: usize,
    },
}

/// Why a proof proves nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ProofError {
    /// An element is not what the element before it (or the root) commits to.
    #[error("element {index} is not the node that is expected there")]
    Mismatch {
        /// Position in the list, root first.
        index: usize,
    },
    /// An element is not a node message.
    #[error("element {index} is not a node: {reason}")]
    Message {
        /// Position in the list, root first.
        index: usize,
        /// What is wrong with it.
        reason: NodeMessageError,
    },
    /// The list ends before the key is decided.
    #[error("element {index} is missing")]
    Missing {
        /// Position in the list, root first.
        index: usize,
    },
    /// The list goes on after the key is decided.
    #[error("element {index} is superfluous")]
    Superfluous {
        /// Position in the list, root first.
        index: usize,
    },
}

/// Checks a list of messages, root first, against a trusted root hash.
///
/// `first_bit`: number of bits of `key` above the root: 0 for the root of a state; 249 for the storage root of an account
/// with an account key of 31 bytes and the complete key of a cell.
pub fn verify(root: B256, key: &[u8], first_bit: usize, proof: &[Bytes]) -> Result<ProofOutcome, ProofError> {
    if root == EMPTY_ROOT {
        return if proof.is_empty() { Ok(ProofOutcome::Absent) } else { Err(ProofError::Superfluous { index: 0 }) };
    }
    let mut expected = Expected::Hash(root);
    let mut at = first_bit;
    for (index, bytes) in proof.iter().enumerate() {
        let message = match &expected {
            Expected::Hash(hash) if keccak256(bytes) == *hash => NodeMessage::parse(bytes),
            Expected::Bytes(embedded) if *embedded == bytes.as_ref() => NodeMessage::parse_embedded(bytes),
            _ => return Err(ProofError::Mismatch { index }),
        };
        let message = message.map_err(|reason| ProofError::Message { index, reason })?;
        let common = message.path.common_with_key(key, at);
        at += common;
        let proven = if common < message.path.len() {
            ProofOutcome::Absent
        } else if at >= key.len() * 8 {
            match message.value {
                ValuePart::None => ProofOutcome::Absent,
                ValuePart::Short(value) => ProofOutcome::Value(Bytes::copy_from_slice(value)),
                ValuePart::Long { hash, length } => ProofOutcome::LongValue { hash, length: length as usize },
            }
        } else {
            let child = if bit(key, at) { message.right } else { message.left };
            at += 1;
            match child {
                ChildPart::None => ProofOutcome::Absent,
                ChildPart::Hash(hash) => {
                    expected = Expected::Hash(hash);
                    continue;
                }
                ChildPart::Embedded(embedded) => {
                    expected = Expected::Bytes(embedded);
                    continue;
                }
            }
        };
        let is_last = index + 1 == proof.len();
        return if is_last { Ok(proven) } else { Err(ProofError::Superfluous { index: index + 1 }) };
    }
    Err(ProofError::Missing { index: proof.len() })
}

/// What the next element of a proof must be.
enum Expected<'a> {
    Hash(B256),
    Bytes(&'a [u8]),
}
