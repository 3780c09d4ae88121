//! Handshake of both sides as state machines over bytes (docs/spec/p2p.md, 3). The caller provides keys and random input
//! and moves the bytes; the result is a pair of codecs for frames.
//!
//! Differences from the reference (docs/spec/p2p.md, 3.4): a packet that arrives in parts is read, and every fault ends
//! the handshake at once.

use rhizome_primitives::keccak256;

use super::ecies::POINT_MARK;
use super::entropy::HandshakeEntropy;
use super::error::HandshakeError;
use super::frame::{FrameDecoder, FrameEncoder};
use super::identity::{NodeId, NodeKey};
use super::mac::RunningMac;
use super::packets::{AckBody, AuthBody, MAX_PACKET, OLD_ACK_PACKET, OLD_AUTH_PACKET, PREFIX};

/// Result of a handshake.
pub struct EstablishedSession {
    /// Id of the other side, as dialled or as stated in the auth. The first frame with a valid MAC proves it; the packets
    /// of the handshake do not.
    pub remote: NodeId,
    /// Outgoing direction.
    pub encoder: FrameEncoder,
    /// Incoming direction.
    pub decoder: FrameDecoder,
}

/// Result of a handshake for the responder.
pub struct AcceptedSession {
    /// Packet to send before any frame, in one write: the reference does not read it in parts.
    pub ack: Vec<u8>,
    /// The session.
    pub session: EstablishedSession,
}

/// Dialling side.
pub struct Initiator {
    key: NodeKey,
    remote: NodeId,
    entropy: HandshakeEntropy,
    auth: Vec<u8>,
    buffer: PacketBuffer,
}

impl Initiator {
    /// Starts a handshake with the node `remote`. Fails if `remote` is our own id or not a point of the curve.
    pub fn new(key: NodeKey, remote: NodeId, entropy: HandshakeEntropy) -> Result<Initiator, HandshakeError> {
        if remote == key.id() {
            return Err(HandshakeError::OwnKey);
        }
        let shared = key.shared_x(&remote)?;
        let signature = entropy.ephemeral.sign(xor(&shared, &entropy.nonce));
        let body = AuthBody { signature, initiator: key.id(), nonce: entropy.nonce };
        let auth = body.seal(&remote, &entropy)?;
        Ok(Initiator { key, remote, entropy, auth, buffer: PacketBuffer::default() })
    }

    /// Returns the packet to send first, in one write: the reference does not read it in parts.
    pub fn auth(&self) -> &[u8] {
        &self.auth
    }

    /// Takes bytes from the front of `input` up to the end of the ack. Returns `None` if all bytes are taken and the ack
    /// is not complete. Bytes after the ack stay in `input`; they belong to the first frames.
    pub fn read(&mut self, input: &mut &[u8]) -> Result<Option<EstablishedSession>, HandshakeError> {
        self.buffer.guard(|buffer| {
            let Some(length) = buffer.read_length(input, OLD_ACK_PACKET)? else { return Ok(None) };
            let Some(packet) = buffer.read_to(input, length) else { return Ok(None) };
            let ack = AckBody::open(&self.key, packet)?;
            let secrets = Secrets {
                shared: self.entropy.ephemeral.shared_x(&ack.ephemeral)?,
                initiator_nonce: self.entropy.nonce,
                responder_nonce: ack.nonce,
            };
            let (from_initiator, from_responder) = secrets.directions(&self.auth, packet);
            Ok(Some(EstablishedSession {
                remote: self.remote,
                encoder: from_initiator.encoder(),
                decoder: from_responder.decoder(),
            }))
        })
    }
}

/// Listening side.
pub struct Responder {
    key: NodeKey,
    entropy: HandshakeEntropy,
    buffer: PacketBuffer,
    is_old_form_refused: bool,
}

impl Responder {
    /// Waits for a handshake.
    pub fn new(key: NodeKey, entropy: HandshakeEntropy) -> Responder {
        Responder { key, entropy, buffer: PacketBuffer::default(), is_old_form_refused: false }
    }

    /// Takes bytes from the front of `input` up to the end of the auth. Returns `None` if all bytes are taken and the
    /// auth is not complete. Answers in the form of the auth.
    pub fn read(&mut self, input: &mut &[u8]) -> Result<Option<AcceptedSession>, HandshakeError> {
        self.buffer.guard(|buffer| {
            let Some(length) = buffer.read_length(input, OLD_AUTH_PACKET)? else { return Ok(None) };
            // The older form starts with the mark of a point, which is also a possible first byte of a size.
            if !self.is_old_form_refused && buffer.bytes.first() == Some(&POINT_MARK) {
                let Some(packet) = buffer.read_to(input, OLD_AUTH_PACKET) else { return Ok(None) };
                match AuthBody::open_old(&self.key, packet) {
                    Ok(auth) => return accept(&self.key, &self.entropy, &auth, packet, AckBody::seal_old).map(Some),
                    Err(fault) if packet[PREFIX] != POINT_MARK => return Err(fault),
                    Err(_) => {}
                }
                self.is_old_form_refused = true;
            }
            let Some(packet) = buffer.read_to(input, length) else { return Ok(None) };
            let auth = AuthBody::open(&self.key, packet)?;
            accept(&self.key, &self.entropy, &auth, packet, AckBody::seal).map(Some)
        })
    }
}

fn accept(
    key: &NodeKey,
    entropy: &HandshakeEntropy,
    auth: &AuthBody,
    packet: &[u8],
    seal: impl Fn(&AckBody, &NodeId, &HandshakeEntropy) -> Result<Vec<u8>, HandshakeError>,
) -> Result<AcceptedSession, HandshakeError> {
    if auth.initiator == key.id() {
        return Err(HandshakeError::OwnKey);
    }
    let static_shared = key.shared_x(&auth.initiator)?;
    let initiator_ephemeral = NodeId::recover(xor(&static_shared, &auth.nonce), &auth.signature)?;
    let ack = seal(&AckBody { ephemeral: entropy.ephemeral.id(), nonce: entropy.nonce }, &auth.initiator, entropy)?;
    let secrets = Secrets {
        shared: entropy.ephemeral.shared_x(&initiator_ephemeral)?,
        initiator_nonce: auth.nonce,
        responder_nonce: entropy.nonce,
    };
    let (from_initiator, from_responder) = secrets.directions(packet, &ack);
    let session = EstablishedSession {
        remote: auth.initiator,
        encoder: from_responder.encoder(),
        decoder: from_initiator.decoder(),
    };
    Ok(AcceptedSession { ack, session })
}

/// Input of the session keys (docs/spec/p2p.md, 3.5).
struct Secrets {
    /// x coordinate of one ephemeral key times the other.
    shared: [u8; 32],
    initiator_nonce: [u8; 32],
    responder_nonce: [u8; 32],
}

/// Key and MAC of one direction.
struct Direction {
    key: [u8; 32],
    mac: RunningMac,
}

impl Secrets {
    /// Returns the direction from the initiator and the one from the responder.
    fn directions(&self, auth: &[u8], ack: &[u8]) -> (Direction, Direction) {
        let nonces = keccak256([self.responder_nonce, self.initiator_nonce].concat());
        let session = keccak256([self.shared, nonces.0].concat());
        let key = keccak256([self.shared, session.0].concat()).0;
        let mac_key = keccak256([self.shared, key].concat()).0;
        let from_initiator = RunningMac::new(&mac_key, &self.responder_nonce, auth);
        let from_responder = RunningMac::new(&mac_key, &self.initiator_nonce, ack);
        (Direction { key, mac: from_initiator }, Direction { key, mac: from_responder })
    }
}

impl Direction {
    fn encoder(self) -> FrameEncoder {
        FrameEncoder::new(&self.key, self.mac)
    }

    fn decoder(self) -> FrameDecoder {
        FrameDecoder::new(&self.key, self.mac)
    }
}

/// Bytes of the packet that is being read, at most [`PREFIX`] + [`MAX_PACKET`].
#[derive(Default)]
struct PacketBuffer {
    bytes: Vec<u8>,
    is_over: bool,
}

impl PacketBuffer {
    /// Runs `step` unless the handshake is over; a result or a fault ends it.
    fn guard<T>(
        &mut self,
        step: impl FnOnce(&mut PacketBuffer) -> Result<Option<T>, HandshakeError>,
    ) -> Result<Option<T>, HandshakeError> {
        if self.is_over {
            return Err(HandshakeError::Over);
        }
        let outcome = step(self);
        self.is_over = !matches!(outcome, Ok(None));
        outcome
    }

    /// Reads the size prefix and returns the length of the packet with it.
    fn read_length(&mut self, input: &mut &[u8], min: usize) -> Result<Option<usize>, HandshakeError> {
        let Some(&[high, low, ..]) = self.read_to(input, PREFIX) else { return Ok(None) };
        let size = u16::from_be_bytes([high, low]);
        let length = usize::from(size);
        if (min..=MAX_PACKET).contains(&length) { Ok(Some(PREFIX + length)) } else { Err(HandshakeError::Size(size)) }
    }

    /// Takes bytes until `length` of them are there and returns these.
    fn read_to(&mut self, input: &mut &[u8], length: usize) -> Option<&[u8]> {
        let missing = length.saturating_sub(self.bytes.len());
        let (part, rest) = input.split_at(input.len().min(missing));
        self.bytes.extend_from_slice(part);
        *input = rest;
        self.bytes.get(..length)
    }
}

fn xor(left: &[u8; 32], right: &[u8; 32]) -> [u8; 32] {
    std::array::from_fn(|at| left[at] ^ right[at])
}

#[cfg(test)]
mod tests;
