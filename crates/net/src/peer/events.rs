//! Events of peers.

use super::Peer;
use super::inbox::InboxShare;
use crate::close_reason::CloseReason;
use rhizome_wire::session::DecodedFrame;
use std::sync::Arc;

/// Event of a peer. Those of one peer arrive in order: `Connected`, messages, `Disconnected`.
#[derive(Debug)]
pub enum PeerEvent {
    /// The peer has sent a Status of our chain.
    Connected(Arc<Peer>),
    /// A message of a subprotocol.
    Message(Arc<Peer>, PeerMessage),
    /// The connection has ended. Only after `Connected`.
    Disconnected(Arc<Peer>, CloseReason),
}

/// Subprotocol of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MessageKind {
    /// Envelope of rsk/62, code 0x18.
    Rsk,
    /// Message of rhz/1 with its number.
    Rhizome(u8),
}

/// Message of a subprotocol, not decoded. While it exists its bytes count against the budget of the peer: hold it until
/// the work on it is done.
#[derive(Debug)]
pub struct PeerMessage {
    /// Subprotocol.
    pub kind: MessageKind,
    frame: DecodedFrame,
    _share: InboxShare,
}

impl PeerMessage {
    pub(crate) fn new(kind: MessageKind, frame: DecodedFrame, share: InboxShare) -> PeerMessage {
        PeerMessage { kind, frame, _share: share }
    }

    /// Returns the bytes to decode.
    pub fn payload(&self) -> &[u8] {
        self.frame.payload()
    }
}
