//! Order and codes of messages after the handshake (docs/spec/p2p.md, 5).

use rhizome_primitives::DecodeError;

use super::base::{Capability, DisconnectReason, Hello};
use super::codes;
use super::frame::DecodedFrame;
use super::identity::NodeId;

/// Maximum payload of a message of the base protocol in bytes.
const MAX_BASE_PAYLOAD: usize = 4_096;

/// Result of the capability lists of both sides, besides rsk/62.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SharedCapabilities {
    /// The other side serves snap synchronization.
    pub serves_snap: bool,
    /// Both sides speak rhz/1.
    pub has_rhizome: bool,
}

/// Received message, by subprotocol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Incoming {
    /// The Hello of the other side, the first message.
    Hello(Hello, SharedCapabilities),
    /// The other side closes the connection. The reference does not close its side after it received one.
    Disconnect(DisconnectReason),
    /// To be answered with Pong.
    Ping,
    /// Answer to a Ping.
    Pong,
    /// A message without a consequence: GetPeers and Peers.
    Ignored,
    /// Eth-like Status of rsk/62.
    Status(DecodedFrame),
    /// Envelope of rsk/62.
    Rsk(DecodedFrame),
    /// Message of rhz/1 with its number from 0 on.
    Rhizome(u8, DecodedFrame),
}

/// Faults in the order or the content of messages. The caller sends a Disconnect with the reason and closes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProtocolError {
    /// A message before Hello.
    #[error("the first message has code {0:#04x} instead of Hello")]
    FirstMessage(u8),
    /// A Hello after the first one.
    #[error("a second Hello")]
    SecondHello,
    /// A Hello that cannot be decoded.
    #[error("malformed Hello: {0}")]
    MalformedHello(#[from] DecodeError),
    /// A version of the base protocol other than 4 and 5.
    #[error("version {0} of the base protocol")]
    Version(u32),
    /// The other side does not offer rsk/62.
    #[error("the other side does not offer rsk/62")]
    NoSharedProtocol,
    /// The id in the Hello is not the key of the handshake.
    #[error("the Hello names the node {0}")]
    OtherIdentity(NodeId),
    /// The other side has our own id.
    #[error("the other side has our own id")]
    OwnIdentity,
    /// A code that no shared subprotocol has.
    #[error("message code {0:#04x} is not in use")]
    UnknownCode(u8),
    /// A message of the base protocol above its limit.
    #[error("a base message of {0} bytes")]
    TooLong(usize),
}

impl ProtocolError {
    /// Returns the reason to send before closing.
    pub fn disconnect_reason(&self) -> DisconnectReason {
        match self {
            // The answer of the reference to a second Hello.
            ProtocolError::SecondHello => DisconnectReason::Requested,
            ProtocolError::Version(_) | ProtocolError::NoSharedProtocol => DisconnectReason::IncompatibleProtocol,
            ProtocolError::OtherIdentity(_) => DisconnectReason::UnexpectedIdentity,
            ProtocolError::OwnIdentity => DisconnectReason::LocalIdentity,
            _ => DisconnectReason::BadProtocol,
        }
    }
}

/// State of the incoming direction after the handshake. The first message is Hello or Disconnect; no second Hello and
/// only codes of shared subprotocols follow.
#[derive(Debug, Clone)]
pub struct Dialogue {
    own: NodeId,
    remote: NodeId,
    offers_rhizome: bool,
    shared: Option<SharedCapabilities>,
}

impl Dialogue {
    /// Starts with our own Hello, and the id of the other side from the handshake.
    pub fn new(own: &Hello, remote: NodeId) -> Dialogue {
        let offers_rhizome = own.capabilities.contains(&Capability::rhizome());
        Dialogue { own: own.id, remote, offers_rhizome, shared: None }
    }

    /// Sorts a message by its code, and decodes it if the base protocol defines it.
    pub fn receive(&mut self, frame: DecodedFrame) -> Result<Incoming, ProtocolError> {
        let code = frame.code;
        if code < codes::STATUS && frame.payload().len() > MAX_BASE_PAYLOAD {
            return Err(ProtocolError::TooLong(frame.payload().len()));
        }
        match (self.shared, code) {
            (_, codes::DISCONNECT) => Ok(Incoming::Disconnect(DisconnectReason::decode(frame.payload()))),
            (None, codes::HELLO) => self.hello(Hello::decode(frame.payload())?),
            (None, _) => Err(ProtocolError::FirstMessage(code)),
            (Some(_), codes::HELLO) => Err(ProtocolError::SecondHello),
            (Some(_), codes::PING) => Ok(Incoming::Ping),
            (Some(_), codes::PONG) => Ok(Incoming::Pong),
            (Some(_), codes::GET_PEERS | codes::PEERS) => Ok(Incoming::Ignored),
            (Some(_), codes::STATUS) => Ok(Incoming::Status(frame)),
            (Some(_), codes::RSK) => Ok(Incoming::Rsk(frame)),
            (Some(shared), _) => match code.checked_sub(codes::RHIZOME) {
                Some(number) if shared.has_rhizome && number < codes::RHIZOME_COUNT => {
                    Ok(Incoming::Rhizome(number, frame))
                }
                _ => Err(ProtocolError::UnknownCode(code)),
            },
        }
    }

    fn hello(&mut self, hello: Hello) -> Result<Incoming, ProtocolError> {
        if !matches!(hello.version, 4 | 5) {
            return Err(ProtocolError::Version(hello.version));
        }
        if hello.id == self.own {
            return Err(ProtocolError::OwnIdentity);
        }
        if hello.id != self.remote {
            return Err(ProtocolError::OtherIdentity(hello.id));
        }
        if !hello.capabilities.contains(&Capability::rsk()) {
            return Err(ProtocolError::NoSharedProtocol);
        }
        let shared = SharedCapabilities {
            serves_snap: hello.capabilities.contains(&Capability::snap()),
            has_rhizome: self.offers_rhizome && hello.capabilities.contains(&Capability::rhizome()),
        };
        self.shared = Some(shared);
        Ok(Incoming::Hello(hello, shared))
    }
}
