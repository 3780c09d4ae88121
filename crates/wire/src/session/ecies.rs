//! ECIES as the handshake uses it (docs/spec/p2p.md, 3.1): point, IV, ciphertext and MAC behind the mark `04`.

use aes::Aes128;
use aes::cipher::{KeyIvInit, StreamCipher};
use ctr::Ctr128BE;
use hmac::{Hmac, Mac};
use sha2::{Digest, Sha256};

use super::error::HandshakeError;
use super::identity::{NodeId, NodeKey};

/// Bytes that encryption adds: mark, point, IV and MAC.
pub(super) const ECIES_OVERHEAD: usize = 1 + 64 + 16 + 32;

/// First byte of an uncompressed point.
pub(super) const POINT_MARK: u8 = 4;

/// Encrypts `plain` to the key `to` and appends it to `out`; the MAC also covers `associated`.
pub(super) fn encrypt(
    to: &NodeId,
    plain: &[u8],
    associated: &[u8],
    ephemeral: &NodeKey,
    iv: &[u8; 16],
    out: &mut Vec<u8>,
) -> Result<(), HandshakeError> {
    let shared = ephemeral.shared_x(to)?;
    let (mut cipher, mut mac) = ciphers(&shared, iv)?;
    out.push(POINT_MARK);
    out.extend_from_slice(&ephemeral.id().0);
    let covered = out.len();
    out.extend_from_slice(iv);
    let encrypted = out.len();
    out.extend_from_slice(plain);
    cipher.apply_keystream(&mut out[encrypted..]);
    mac.update(&out[covered..]);
    mac.update(associated);
    out.extend_from_slice(&mac.finalize().into_bytes());
    Ok(())
}

/// Decrypts `packet` with `key` after a check of the MAC, which also covers `associated`.
pub(super) fn decrypt(key: &NodeKey, packet: &[u8], associated: &[u8]) -> Result<Vec<u8>, HandshakeError> {
    let Some((&[POINT_MARK], rest)) = packet.split_first_chunk() else { return Err(HandshakeError::Form) };
    let (point, rest) = rest.split_first_chunk().ok_or(HandshakeError::Form)?;
    let (covered, tag) = rest.split_last_chunk::<32>().ok_or(HandshakeError::Form)?;
    let (iv, encrypted) = covered.split_first_chunk().ok_or(HandshakeError::Form)?;
    let shared = key.shared_x(&NodeId(*point))?;
    let (mut cipher, mut mac) = ciphers(&shared, iv)?;
    mac.update(covered);
    mac.update(associated);
    mac.verify_slice(tag).or(Err(HandshakeError::Mac))?;
    let mut plain = encrypted.to_vec();
    cipher.apply_keystream(&mut plain);
    Ok(plain)
}

fn ciphers(shared: &[u8; 32], iv: &[u8; 16]) -> Result<(Ctr128BE<Aes128>, Hmac<Sha256>), HandshakeError> {
    let keys = Sha256::new().chain_update([0, 0, 0, 1]).chain_update(shared).finalize();
    let (encryption, authentication) = keys.split_at(16);
    let cipher = Ctr128BE::new_from_slices(encryption, iv).or(Err(HandshakeError::Form))?;
    let mac = Hmac::new_from_slice(&Sha256::digest(authentication)).or(Err(HandshakeError::Form))?;
    Ok((cipher, mac))
}
