//! Errors of the trie: of the source, of its contents, or of a value out of range, never of a key.

use std::error::Error;

use rhizome_primitives::B256;

use crate::message::NodeMessageError;

/// A look-up in a node source failed. The absence of a node is not a failure.
#[derive(Debug, thiserror::Error)]
#[error("reading {hash} failed: {reason}")]
pub struct SourceError {
    /// Hash of the node or value.
    pub hash: B256,
    /// Error of the source.
    #[source]
    pub reason: Box<dyn Error + Send + Sync>,
}

/// Errors of trie operations.
#[derive(Debug, thiserror::Error)]
pub enum TrieError {
    /// The source has no node with a hash that another node refers to.
    #[error("the node {hash} is missing")]
    MissingNode {
        /// Keccak hash of the node's message.
        hash: B256,
    },
    /// The source has no long value with this hash.
    #[error("the value {hash} is missing")]
    MissingValue {
        /// Keccak hash of the value.
        hash: B256,
    },
    /// The source failed.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The source returned bytes that are not a node message.
    #[error("the node {hash} cannot be decoded: {reason}")]
    Message {
        /// Hash that was looked up.
        hash: B256,
        /// Reason.
        reason: NodeMessageError,
    },
    /// The children size of a stored node is smaller than that of its subtrees.
    #[error("the children size of a stored node is wrong")]
    ChildrenSize,
    /// The length of a value does not fit into the three bytes of its field.
    #[error("a value of {length} bytes is too long, the limit is 16777215")]
    ValueTooLong {
        /// Length in bytes.
        length: usize,
    },
}
