//! Message codes of a connection (docs/spec/p2p.md, 5.2 and 5.3).

/// First message in each direction.
pub const HELLO: u8 = 0x00;
/// Last message of a side.
pub const DISCONNECT: u8 = 0x01;
/// Answered at once with [`PONG`].
pub const PING: u8 = 0x02;
/// Answer to [`PING`].
pub const PONG: u8 = 0x03;
/// Ignored on receipt, never sent.
pub const GET_PEERS: u8 = 0x04;
/// Ignored on receipt, never sent.
pub const PEERS: u8 = 0x05;
/// Eth-like Status, first message of the subprotocol rsk/62.
pub const STATUS: u8 = 0x10;
/// Envelope of all other messages of rsk/62.
pub const RSK: u8 = 0x18;
/// First code of the second capability, rhz/1. The nine codes of rsk/62 always come first: the reference places them
/// at 0x10 whatever else is shared.
pub const RHIZOME: u8 = 0x19;
/// Number of codes of rhz/1.
pub const RHIZOME_COUNT: u8 = 8;
