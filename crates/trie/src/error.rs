//! What can go wrong with a trie: always the source, its contents or a value out of range, never a key.

use std::error::Error;

use rhizome_primitives::B256;

use crate::message::NodeMessageError;

/// A look-up in a node source failed (absence is not a failure).
#[derive(Debug, thiserror::Error)]
#[error("reading {hash} failed: {reason}")]
pub struct SourceError {
    /// What was looked up.
    pub hash: B256,
    /// The failure as the source describes it.
    #[source]
    pub reason: Box<dyn Error + Send + Sync>,
}

/// Errors of trie operations.
#[derive(Debug, thiserror::Error)]
pub enum TrieError {
    /// The source does not have a node that another node refers to.
    #[error("the node {hash} is missing")]
    MissingNode {
        /// Keccak of the node's message.
        hash: B256,
    },
    /// The source does not have the bytes of a long value.
    #[error("the value {hash} is missing")]
    MissingValue {
        /// Keccak of the value.
        hash: B256,
    },
    /// The source failed.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// What the source holds is not a node message.
    #[error("the node {hash} cannot be read: {reason}")]
    Message {
        /// The hash under which it was found.
        hash: B256,
        /// What is wrong with it.
        reason: NodeMessageError,
    },
    /// A node says that its subtrees are smaller than they are.
    #[error("the children size of a stored node is wrong")]
    ChildrenSize,
    /// A value does not fit: its length has three bytes in a message.
    #[error("a value of {length} bytes is too long, the limit is 16777215")]
    ValueTooLong {
        /// In bytes.
        length: usize,
    },
}
