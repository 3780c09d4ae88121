//! Handshake packets, auth and ack, in both forms (docs/spec/p2p.md, 3.2 and 3.3): EIP-8, which carries its size, and the
//! older one, which has a fixed size.

use rhizome_primitives::rlp::{Item, list, put_bytes, put_u64};

use super::ecies::{ECIES_OVERHEAD, decrypt, encrypt};
use super::entropy::HandshakeEntropy;
use super::error::HandshakeError;
use super::identity::{NodeId, NodeKey, SIGNATURE_LENGTH};

/// Version in the handshake packets; not checked by any reader.
const HANDSHAKE_VERSION: u64 = 4;

/// Length of the size prefix.
pub(super) const PREFIX: usize = 2;

/// Maximum of the size prefix (docs/spec/p2p-additions.md, F).
pub(super) const MAX_PACKET: usize = 2_048;

const OLD_AUTH_BODY: usize = SIGNATURE_LENGTH + 32 + 64 + 32 + 1;
const OLD_ACK_BODY: usize = 64 + 32 + 1;

/// Length of an auth packet in the older form; the reference refuses a smaller size in the new form, too.
pub(super) const OLD_AUTH_PACKET: usize = OLD_AUTH_BODY + ECIES_OVERHEAD;

/// Length of an ack packet in the older form; the reference refuses a smaller size in the new form, too.
pub(super) const OLD_ACK_PACKET: usize = OLD_ACK_BODY + ECIES_OVERHEAD;

/// Fields of the first packet, from the initiator.
pub(super) struct AuthBody {
    pub(super) signature: [u8; SIGNATURE_LENGTH],
    pub(super) initiator: NodeId,
    pub(super) nonce: [u8; 32],
}

impl AuthBody {
    /// Returns the packet in the form of EIP-8.
    pub(super) fn seal(&self, to: &NodeId, entropy: &HandshakeEntropy) -> Result<Vec<u8>, HandshakeError> {
        let mut fields = Vec::with_capacity(256);
        put_bytes(&mut fields, &self.signature);
        put_bytes(&mut fields, &self.initiator.0);
        put_bytes(&mut fields, &self.nonce);
        put_u64(&mut fields, HANDSHAKE_VERSION);
        seal_list(to, &fields, entropy)
    }

    /// Opens a packet in the form of EIP-8, size prefix included.
    pub(super) fn open(key: &NodeKey, packet: &[u8]) -> Result<AuthBody, HandshakeError> {
        let plain = open_list(key, packet)?;
        let [signature, initiator, nonce] = first_fields(&plain)?;
        Ok(AuthBody { signature: exact(signature)?, initiator: NodeId(exact(initiator)?), nonce: exact(nonce)? })
    }

    /// Opens a packet in the older form. Like the reference, ignores the hash of the ephemeral key.
    pub(super) fn open_old(key: &NodeKey, packet: &[u8]) -> Result<AuthBody, HandshakeError> {
        let plain = decrypt(key, packet, &[])?;
        let (signature, rest) = plain.split_first_chunk().ok_or(HandshakeError::Body)?;
        let (_ephemeral_hash, rest) = rest.split_first_chunk::<32>().ok_or(HandshakeError::Body)?;
        let (initiator, rest) = rest.split_first_chunk().ok_or(HandshakeError::Body)?;
        let (nonce, flag) = rest.split_first_chunk().ok_or(HandshakeError::Body)?;
        match flag {
            [0 | 1] => Ok(AuthBody { signature: *signature, initiator: NodeId(*initiator), nonce: *nonce }),
            _ => Err(HandshakeError::Body),
        }
    }
}

/// Fields of the second packet, from the responder.
pub(super) struct AckBody {
    pub(super) ephemeral: NodeId,
    pub(super) nonce: [u8; 32],
}

impl AckBody {
    /// Returns the packet in the form of EIP-8.
    pub(super) fn seal(&self, to: &NodeId, entropy: &HandshakeEntropy) -> Result<Vec<u8>, HandshakeError> {
        let mut fields = Vec::with_capacity(128);
        put_bytes(&mut fields, &self.ephemeral.0);
        put_bytes(&mut fields, &self.nonce);
        put_u64(&mut fields, HANDSHAKE_VERSION);
        seal_list(to, &fields, entropy)
    }

    /// Returns the packet in the older form.
    pub(super) fn seal_old(&self, to: &NodeId, entropy: &HandshakeEntropy) -> Result<Vec<u8>, HandshakeError> {
        let plain = [&self.ephemeral.0[..], &self.nonce, &[0]].concat();
        let mut packet = Vec::with_capacity(OLD_ACK_PACKET);
        encrypt(to, &plain, &[], &entropy.ecies_ephemeral, &entropy.ecies_iv, &mut packet)?;
        Ok(packet)
    }

    /// Opens a packet in the form of EIP-8, size prefix included.
    pub(super) fn open(key: &NodeKey, packet: &[u8]) -> Result<AckBody, HandshakeError> {
        let plain = open_list(key, packet)?;
        let [ephemeral, nonce] = first_fields(&plain)?;
        Ok(AckBody { ephemeral: NodeId(exact(ephemeral)?), nonce: exact(nonce)? })
    }
}

fn seal_list(to: &NodeId, fields: &[u8], entropy: &HandshakeEntropy) -> Result<Vec<u8>, HandshakeError> {
    let mut plain = list(fields);
    plain.extend_from_slice(&entropy.padding);
    let size = plain.len() + ECIES_OVERHEAD;
    if size > MAX_PACKET {
        return Err(HandshakeError::Size(u16::try_from(size).unwrap_or(u16::MAX)));
    }
    let prefix = (size as u16).to_be_bytes();
    let mut packet = Vec::with_capacity(PREFIX + size);
    packet.extend_from_slice(&prefix);
    encrypt(to, &plain, &prefix, &entropy.ecies_ephemeral, &entropy.ecies_iv, &mut packet)?;
    Ok(packet)
}

fn open_list(key: &NodeKey, packet: &[u8]) -> Result<Vec<u8>, HandshakeError> {
    let (prefix, encrypted) = packet.split_first_chunk::<PREFIX>().ok_or(HandshakeError::Form)?;
    decrypt(key, encrypted, prefix)
}

/// Returns the first elements of the list at the start of `plain`; more elements and the padding are ignored.
fn first_fields<const N: usize>(plain: &[u8]) -> Result<[&[u8]; N], HandshakeError> {
    let (item, _padding) = Item::first(plain).or(Err(HandshakeError::Body))?;
    let mut elements = item.elements("handshake packet").or(Err(HandshakeError::Body))?;
    let mut fields = [&[][..]; N];
    for field in &mut fields {
        *field = elements.next().and_then(Result::ok).ok_or(HandshakeError::Body)?.bytes();
    }
    Ok(fields)
}

fn exact<const N: usize>(field: &[u8]) -> Result<[u8; N], HandshakeError> {
    field.try_into().or(Err(HandshakeError::Body))
}
