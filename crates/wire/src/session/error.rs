//! Faults of handshake and frames.

use super::base::DisconnectReason;
use super::identity::IdentityError;

/// Reasons to refuse a handshake. The caller closes the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HandshakeError {
    /// The size prefix is outside of the limits (docs/spec/p2p-additions.md, A and F).
    #[error("a handshake packet of {0} bytes")]
    Size(u16),
    /// The encrypted part is shorter than its fixed fields, or does not start with the mark of a point.
    #[error("the encrypted packet has no valid form")]
    Form,
    /// Wrong MAC: the packet was altered or made for another key.
    #[error("the MAC of the packet is wrong")]
    Mac,
    /// A public key is not on the curve, no key belongs to the signature, or random input is not a private key.
    #[error(transparent)]
    Identity(#[from] IdentityError),
    /// The decrypted body is not the list, or not the sequence of fields, that the packet requires.
    #[error("the body of the packet is malformed")]
    Body,
    /// The other side has our own key.
    #[error("the other side uses our own key")]
    OwnKey,
    /// The handshake has failed or is complete: it reads no more.
    #[error("the handshake is over")]
    Over,
}

/// Faults of a frame. The stream has no valid continuation, so that the caller closes the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// Wrong MAC of a header.
    #[error("the MAC of a frame header is wrong")]
    HeaderMac,
    /// Wrong MAC of a body.
    #[error("the MAC of a frame body is wrong")]
    BodyMac,
    /// A body of zero bytes, which has no message code.
    #[error("a frame without a body")]
    Empty,
    /// A body above the limit.
    #[error("a frame body of {size} bytes, limit {limit}")]
    TooLarge {
        /// Size of the body in bytes, as stated by the header or passed by the caller.
        size: usize,
        /// Maximum in bytes.
        limit: usize,
    },
    /// The bytes after the size are not RLP.
    #[error("a frame header without a valid list")]
    HeaderList,
    /// Part of a message in several frames, which only version 5 of the protocol has.
    #[error("a chunked frame")]
    Chunked,
    /// The message code is not a number below 256.
    #[error("a frame without a valid message code")]
    Code,
}

impl FrameError {
    /// Returns the reason to send before closing, `None` if the other side is not authenticated any more.
    pub fn disconnect_reason(&self) -> Option<DisconnectReason> {
        match self {
            FrameError::HeaderMac | FrameError::BodyMac => None,
            _ => Some(DisconnectReason::BadProtocol),
        }
    }
}
