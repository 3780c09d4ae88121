//! Proofs of the value of a key, or of its absence, against a root hash (docs/spec/state.md, 6).

use rhizome_primitives::{B256, Bytes, EMPTY_ROOT, keccak256};

use crate::error::TrieError;
use crate::message::{ChildPart, NodeMessage, NodeMessageError, ValuePart};
use crate::node::TrieNode;
use crate::path::bit;
use crate::source::NodePosition;
use crate::trie::Trie;

impl Trie {
    /// Returns the messages of the nodes on the path to `key`, root first, down to its node or to the node that proves
    /// its absence. Embedded nodes are separate elements. Empty for the empty trie.
    pub fn prove(&self, key: &[u8]) -> Result<Vec<Bytes>, TrieError> {
        Ok(self.walk(key)?.messages(0))
    }

    /// Returns the messages of the nodes on the path to `key`, deepest first, like `getNodes` of the reference; `None`
    /// if there is no node at exactly `key` (a node without a value counts).
    pub fn get_nodes(&self, key: &[u8]) -> Result<Option<Vec<Bytes>>, TrieError> {
        let walk = self.walk(key)?;
        let is_found = walk.is_found;
        let mut messages = walk.messages(0);
        messages.reverse();
        Ok(is_found.then_some(messages))
    }

    /// Returns the hash of the node at exactly `key`, with or without a value. At the key of the contract mark this is
    /// the storage root.
    pub fn node_hash(&self, key: &[u8]) -> Result<Option<B256>, TrieError> {
        Ok(self.find(key)?.map(|node| node.hash()))
    }

    /// Like [`Trie::prove`], from the node at exactly `top` on, a prefix of `key`: a proof against [`Trie::node_hash`]
    /// of `top`. `None` if there is no such node.
    pub fn prove_below(&self, top: &[u8], key: &[u8]) -> Result<Option<Vec<Bytes>>, TrieError> {
        let walk = self.walk(key)?;
        let top_bits = top.len() * 8;
        let Some(skipped) = walk.ends.iter().position(|end| *end == top_bits) else { return Ok(None) };
        Ok(key.starts_with(top).then(|| walk.messages(skipped)))
    }

    /// Loaded nodes are kept, because proofs of an account and of its storage share most of the path.
    fn walk(&self, key: &[u8]) -> Result<ProofPath<'_>, TrieError> {
        let mut walk = ProofPath::default();
        let mut link = &self.root;
        let mut at = 0;
        while let Some(node) = link.node(&*self.source, NodePosition::below(key, at))? {
            walk.nodes.push(node);
            let common = node.path().common_with_key(key, at);
            at += common;
            if common < node.path().len() {
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
    /// Number of key bits at the end of each node whose whole shared path matches the key.
    ends: Vec<usize>,
    is_found: bool,
}

impl ProofPath<'_> {
    /// Returns the messages of all nodes except the first `skipped`.
    fn messages(&self, skipped: usize) -> Vec<Bytes> {
        self.nodes.iter().skip(skipped).map(|node| node.message().into()).collect()
    }
}

/// Statement of a valid proof about its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProofOutcome {
    /// The key has no value.
    Absent,
    /// The key has this value, of at most 32 bytes.
    Value(Bytes),
    /// The key has a value of more than 32 bytes with this hash and length.
    LongValue {
        /// Keccak hash of the value.
        hash: B256,
        /// Length in bytes.
        length: usize,
    },
}

/// Reasons to reject a proof.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ProofError {
    /// An element does not have the hash or bytes in its parent, or the root hash.
    #[error("element {index} is not the expected node")]
    Mismatch {
        /// Position in the list, root first.
        index: usize,
    },
    /// An element is not a node message.
    #[error("element {index} is not a node: {reason}")]
    Message {
        /// Position in the list, root first.
        index: usize,
        /// Reason.
        reason: NodeMessageError,
    },
    /// The list ends before the key is reached.
    #[error("element {index} is missing")]
    Missing {
        /// Position in the list, root first.
        index: usize,
    },
    /// The list continues after the last necessary element.
    #[error("element {index} is superfluous")]
    Superfluous {
        /// Position in the list, root first.
        index: usize,
    },
}

/// Verifies a list of messages, root first, against a trusted root hash.
///
/// `first_bit` is the number of key bits above the root: 0 for a state root; 249 for a storage root below an account
/// key of 31 bytes, with the full key of a slot.
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
        let common = message.path.all_bits().common_with_key(key, at);
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

/// Next element of a proof.
enum Expected<'a> {
    Hash(B256),
    Bytes(&'a [u8]),
}
