//! Handshake, frames, base protocol and discovery packets (docs/spec/p2p.md, 2 to 5).

mod base;
pub mod codes;
mod dialogue;
mod discovery;
mod ecies;
mod enode;
mod entropy;
mod error;
mod fields;
mod frame;
mod handshake;
mod identity;
mod mac;
mod packets;

pub use base::{Capability, DisconnectReason, EMPTY_LIST, Hello};
pub use dialogue::{Dialogue, Incoming, ProtocolError, SharedCapabilities};
pub use discovery::{
    DiscoveryContent, DiscoveryError, DiscoveryMessage, DiscoveryPacket, MAX_DISCOVERY_PACKET, NodeEndpoint,
    NodeRecord, PacketId,
};
pub use enode::{Enode, EnodeError, HostPort};
pub use entropy::HandshakeEntropy;
pub use error::{FrameError, HandshakeError};
pub use frame::{DecodedFrame, FrameDecoder, FrameEncoder, MAX_FRAME_BODY, MAX_FRAME_BODY_BEFORE_STATUS};
pub use handshake::{AcceptedSession, EstablishedSession, Initiator, Responder};
pub use identity::{IdentityError, NodeId, NodeKey};
