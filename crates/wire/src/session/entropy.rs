//! Random input of a handshake.

use super::identity::{IdentityError, NodeKey};

/// Secrets of one handshake. Reuse reveals the keys of the session.
#[derive(Clone)]
pub struct HandshakeEntropy {
    /// Key of the session, whose public part the other side learns.
    pub ephemeral: NodeKey,
    /// Nonce of this side.
    pub nonce: [u8; 32],
    /// Key for the encryption of the packet.
    pub ecies_ephemeral: NodeKey,
    /// Initialization vector of the packet.
    pub ecies_iv: [u8; 16],
    /// Padding of the packet: 100 to 299 bytes, close to 100 for the sake of the reference, which needs the packet in one
    /// burst.
    pub padding: Vec<u8>,
}

impl HandshakeEntropy {
    /// Number of random bytes for one handshake.
    pub const LENGTH: usize = 3 * 32 + 16 + 128;

    /// Splits random bytes. Fails with a probability of about 2^-128, if a part is not a private key.
    pub fn from_random(random: &[u8; HandshakeEntropy::LENGTH]) -> Result<HandshakeEntropy, IdentityError> {
        let part = |start: usize| -> [u8; 32] { std::array::from_fn(|at| random[start + at]) };
        let key = |start: usize| NodeKey::from_bytes(part(start));
        let padding = &random[112..];
        let length = 100 + usize::from(padding[127] % 28);
        Ok(HandshakeEntropy {
            ephemeral: key(0)?,
            nonce: part(32),
            ecies_ephemeral: key(64)?,
            ecies_iv: std::array::from_fn(|at| random[96 + at]),
            padding: padding[..length].to_vec(),
        })
    }
}
