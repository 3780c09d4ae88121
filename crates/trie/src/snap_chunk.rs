//! Chunks of a state trie for snap synchronization (docs/spec/p2p.md, 10.4 and 10.5).
//!
//! A chunk has the nodes of a byte range of the trie, in order of their keys (a node comes between its left and its right
//! subtree). Nodes above and beside it are included, so that each chunk is verified alone against the state root. A
//! node belongs to the range `from..to` if it ends at `from` or later and before `to`, where each node is as long as its
//! message with its long value and its embedded children. Offsets therefore follow from the children sizes, which the
//! root hash covers, and a chunk proves that no node of its range is missing.

mod build;
mod sync_form;
mod verify;

use rhizome_primitives::{B256, Bytes, DecodeError};

use crate::message::NodeMessageError;

pub use build::{BuiltChunk, build_chunk};
pub use verify::verify_chunk;

/// Length in bytes of the range of a chunk, fixed by the protocol.
pub const CHUNK_SIZE: u64 = 50 * 1024;

/// Content of a verified chunk.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VerifiedChunk {
    /// Nodes of the range that are not embedded, in order of their keys.
    pub nodes: Vec<ChunkNode>,
    /// Long values of these nodes and of those embedded in them, with their Keccak hashes.
    pub values: Vec<(B256, Vec<u8>)>,
    /// Keys and values of these nodes and of those embedded in them, long values included.
    pub entries: Vec<(Vec<u8>, Bytes)>,
    /// Size of the whole trie in bytes. The root hash covers it.
    pub trie_size: u64,
}

/// Node of a verified chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChunkNode {
    /// Row key of the node's position (see `NodePosition::row_key`).
    pub row_key: Vec<u8>,
    /// Keccak hash of the message.
    pub hash: B256,
    /// Message of the node.
    pub message: Vec<u8>,
}

/// Reasons to refuse a chunk.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SnapChunkError {
    /// The chunk is not the list that it must be.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// A node is malformed.
    #[error("a node is malformed: {0}")]
    Node(#[from] NodeMessageError),
    /// There are no nodes at all, or more than a chunk can have.
    #[error("a chunk of {0} nodes")]
    Length(usize),
    /// An embedded node has children, or is too long to be embedded.
    #[error("a node cannot be embedded")]
    Embedding,
    /// A long value above the limit of the trie.
    #[error("a value of {0} bytes is too long")]
    ValueLength(usize),
    /// The hash of a child is missing, superfluous, or not that of the included child.
    #[error("the hash of a child is missing, superfluous or wrong")]
    ChildHash,
    /// The nodes do not have the root hash.
    #[error("the nodes have the root {0}")]
    Root(B256),
    /// The keys are longer than those of a state.
    #[error("a key of {0} bits")]
    KeyLength(usize),
    /// The nodes are not those of the range.
    #[error("the nodes are not those of the requested range")]
    Range,
}
