//! Faults of messages.

use rhizome_primitives::DecodeError;

/// Reasons to refuse a message. The reference closes the connection for the same reasons, unless it throws away the message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RskMessageError {
    /// A field or the RLP around it is malformed.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// A type without a message.
    #[error("there is no message type {0}")]
    UnknownType(u64),
    /// A list where a string is required.
    #[error("{0} must be a string")]
    ExpectedString(&'static str),
    /// A list above the limit of docs/spec/p2p-additions.md, F.
    #[error("{0} has too many elements")]
    TooManyElements(&'static str),
    /// Lists that belong together differ in length.
    #[error("{blocks} blocks with {difficulties} difficulties")]
    Lengths {
        /// Number of blocks.
        blocks: usize,
        /// Number of total difficulties.
        difficulties: usize,
    },
}
