//! Peer-to-peer protocol: bytes to typed messages and back (docs/spec/p2p.md with p2p-additions.md). No sockets, no clock;
//! allocations are bounded by the bytes received.

pub mod rsk;
pub mod session;
