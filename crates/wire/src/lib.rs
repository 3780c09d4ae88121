//! Peer-to-peer protocol: bytes to typed messages and back (docs/spec/p2p.md with p2p-additions.md). No sockets, no clock,
//! no source of randomness; allocations are bounded by the bytes received.
//!
//! # A connection, step by step
//!
//! The caller moves the bytes and keeps the time limits. Each reader takes bytes from the front of a slice and leaves
//! those of the next step, so that input can arrive in parts of any size. An `Err` ends the connection.
//!
//! 1. *Handshake.* The dialling side sends [`Initiator::auth`](session::Initiator::auth) in one write and feeds the
//!    answer to [`Initiator::read`](session::Initiator::read). The listening side feeds
//!    [`Responder::read`](session::Responder::read) and sends the ack that it returns, in one write too. Keys, nonces and
//!    padding come from the caller ([`HandshakeEntropy`](session::HandshakeEntropy)). The result is a pair of codecs.
//! 2. *Hello.* Both sides send [`Hello`](session::Hello) as a frame. Received frames pass through
//!    [`Dialogue::receive`](session::Dialogue::receive), which checks the Hello and the order and codes of messages. On a
//!    fault its `disconnect_reason` is sent in a Disconnect before closing.
//! 3. *Status.* Frames are limited to 4 KiB until the caller has accepted the Status of the other side and calls
//!    [`FrameDecoder::allow_large_frames`](session::FrameDecoder::allow_large_frames).
//! 4. *Messages.* The payloads of [`Incoming::Status`](session::Incoming::Status) and
//!    [`Incoming::Rsk`](session::Incoming::Rsk) are decoded by [`rsk`].
//!
//! ```ignore
//! let mut initiator = Initiator::new(key, remote, HandshakeEntropy::from_random(&random)?)?;
//! socket.write_all(initiator.auth());
//! let mut input: &[u8] = socket.read();
//! let Some(EstablishedSession { remote, mut encoder, mut decoder }) = initiator.read(&mut input)? else { /* more */ };
//!
//! let hello = Hello::new(client, vec![Capability::rsk(), Capability::rhizome()], port, id);
//! encoder.encode(codes::HELLO, &hello.encode(), &mut output)?;
//! let mut dialogue = Dialogue::new(&hello, remote);
//! while let Some(frame) = decoder.decode(&mut input)? {
//!     match dialogue.receive(frame)? {
//!         Incoming::Hello(hello, shared) => encoder.encode(codes::STATUS, &status, &mut output)?,
//!         Incoming::Ping => encoder.encode(codes::PONG, &EMPTY_LIST, &mut output)?,
//!         Incoming::Status(frame) => decoder.allow_large_frames(),
//!         Incoming::Rsk(frame) => handle(frame.payload()),
//!         Incoming::Disconnect(reason) => close(reason),
//!         Incoming::Pong | Incoming::Ignored | Incoming::Rhizome(..) => {}
//!     }
//! }
//! ```
//!
//! Discovery over UDP has no state here: [`DiscoveryMessage::encode`](session::DiscoveryMessage::encode) and
//! [`DiscoveryPacket::decode`](session::DiscoveryPacket::decode), whose signature is checked separately because that
//! costs far more than the rest.

pub mod rhz;
pub mod rsk;
pub mod session;
