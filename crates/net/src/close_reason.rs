//! Why a connection ends.

use rhizome_wire::session::{DisconnectReason, FrameError, HandshakeError, ProtocolError};

/// Step of a connection that has a time limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Phase {
    /// The TCP connection.
    Connect,
    /// Auth and ack.
    Handshake,
    /// The Hello of the other side.
    Hello,
    /// The Status of the other side.
    Status,
}

/// Reason for which a connection ends.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CloseReason {
    /// A step was not complete in time.
    #[error("{0:?} was not complete in time")]
    TimedOut(Phase),
    /// The handshake failed.
    #[error("handshake: {0}")]
    Handshake(#[from] HandshakeError),
    /// A frame is not valid.
    #[error("frame: {0}")]
    Frame(#[from] FrameError),
    /// A message breaks the order or the codes of messages.
    #[error("protocol: {0}")]
    Protocol(#[from] ProtocolError),
    /// A message before Status, or a second Status.
    #[error("a message out of order")]
    OutOfOrder,
    /// The Status cannot be decoded.
    #[error("malformed Status")]
    MalformedStatus,
    /// The other side speaks another version of rsk.
    #[error("version {0} of rsk")]
    OtherVersion(u64),
    /// The other side is on another network.
    #[error("network {0}")]
    OtherNetwork(u64),
    /// The other side has another genesis block.
    #[error("another genesis block")]
    OtherGenesis,
    /// A frame takes too long to arrive.
    #[error("a frame arrives too slowly")]
    Slow,
    /// The other side does not read its messages.
    #[error("the other side does not read")]
    NotReading,
    /// Nothing has arrived for a long time, in spite of Pings.
    #[error("no answer to a Ping")]
    PingTimeout,
    /// No slot is free for the peer or its network of addresses.
    #[error("no slot is free")]
    TooManyPeers,
    /// Too many connections before Hello, or from one address in a short time.
    #[error("too many new connections")]
    TooManyConnections,
    /// Another connection to the same node exists.
    #[error("the node is connected already")]
    Duplicate,
    /// Address or node id is banned or punished.
    #[error("banned")]
    Banned,
    /// A node of another network of addresses takes the slot.
    #[error("replaced by another node")]
    Rotated,
    /// The operator removed the peer.
    #[error("removed by the operator")]
    Removed,
    /// The peer sent an invalid block or message.
    #[error("punished")]
    Punished,
    /// The peer has nothing that this node needs.
    #[error("useless")]
    Useless,
    /// The node stops.
    #[error("this node stops")]
    Stopping,
    /// The other side sent a Disconnect.
    #[error("the other side disconnects: {0:?}")]
    Remote(DisconnectReason),
    /// The connection was closed by the other side, or is broken.
    #[error("connection lost: {0:?}")]
    Lost(std::io::ErrorKind),
}

impl CloseReason {
    /// Returns the reason to send before closing; `None` if nothing is to be sent.
    pub fn disconnect_reason(&self) -> Option<DisconnectReason> {
        match self {
            CloseReason::Frame(error) => error.disconnect_reason(),
            CloseReason::Protocol(error) => Some(error.disconnect_reason()),
            CloseReason::OutOfOrder | CloseReason::MalformedStatus => Some(DisconnectReason::BadProtocol),
            CloseReason::OtherVersion(_) => Some(DisconnectReason::IncompatibleProtocol),
            CloseReason::OtherNetwork(_) => Some(DisconnectReason::NullIdentity),
            CloseReason::OtherGenesis => Some(DisconnectReason::UnexpectedGenesis),
            CloseReason::NotReading | CloseReason::Useless => Some(DisconnectReason::UselessPeer),
            CloseReason::PingTimeout => Some(DisconnectReason::PingTimeout),
            CloseReason::TooManyPeers | CloseReason::Rotated => Some(DisconnectReason::TooManyPeers),
            CloseReason::Duplicate => Some(DisconnectReason::DuplicatePeer),
            CloseReason::Removed => Some(DisconnectReason::Requested),
            CloseReason::Stopping => Some(DisconnectReason::Quitting),
            CloseReason::TimedOut(Phase::Hello | Phase::Status) | CloseReason::Slow => {
                Some(DisconnectReason::UselessPeer)
            }
            CloseReason::Handshake(_)
            | CloseReason::TimedOut(_)
            | CloseReason::TooManyConnections
            | CloseReason::Banned
            | CloseReason::Punished
            | CloseReason::Remote(_)
            | CloseReason::Lost(_) => None,
        }
    }

    /// Returns the name under which metrics count the reason.
    pub fn name(&self) -> &'static str {
        match self {
            CloseReason::TimedOut(Phase::Connect) => "connect_timeout",
            CloseReason::TimedOut(Phase::Handshake) => "handshake_timeout",
            CloseReason::TimedOut(Phase::Hello) => "hello_timeout",
            CloseReason::TimedOut(Phase::Status) => "status_timeout",
            CloseReason::Handshake(HandshakeError::OwnKey) => "own_key",
            CloseReason::Handshake(_) => "handshake",
            CloseReason::Frame(_) => "frame",
            CloseReason::Protocol(ProtocolError::OwnIdentity) => "own_key",
            CloseReason::Protocol(_) => "protocol",
            CloseReason::OutOfOrder => "out_of_order",
            CloseReason::MalformedStatus => "malformed_status",
            CloseReason::OtherVersion(_) => "other_version",
            CloseReason::OtherNetwork(_) => "other_network",
            CloseReason::OtherGenesis => "other_genesis",
            CloseReason::Slow => "slow",
            CloseReason::NotReading => "not_reading",
            CloseReason::PingTimeout => "ping_timeout",
            CloseReason::TooManyPeers => "too_many_peers",
            CloseReason::TooManyConnections => "too_many_connections",
            CloseReason::Duplicate => "duplicate",
            CloseReason::Banned => "banned",
            CloseReason::Rotated => "rotated",
            CloseReason::Removed => "removed",
            CloseReason::Punished => "punished",
            CloseReason::Useless => "useless",
            CloseReason::Stopping => "stopping",
            CloseReason::Remote(_) => "remote",
            CloseReason::Lost(_) => "lost",
        }
    }
}

impl From<std::io::Error> for CloseReason {
    fn from(error: std::io::Error) -> CloseReason {
        CloseReason::Lost(error.kind())
    }
}
