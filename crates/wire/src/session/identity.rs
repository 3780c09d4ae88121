//! Node keys and node ids (docs/spec/p2p.md, 1.3).

use std::fmt;
use std::str::FromStr;

use rhizome_primitives::hex;
use secp256k1::ecdh::shared_secret_point;
use secp256k1::ecdsa::{RecoverableSignature, RecoveryId};
use secp256k1::{Message, PublicKey, SECP256K1, SecretKey};

/// Length of a signature: r, s and the recovery id.
pub(super) const SIGNATURE_LENGTH: usize = 65;

/// Reasons to refuse a key, an id or a signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum IdentityError {
    /// A private key that is zero or not below the group order.
    #[error("the private key is not a scalar of the curve")]
    PrivateKey,
    /// An id that is not a point of the curve.
    #[error("the node id is not a point of the curve")]
    NotOnCurve,
    /// A signature to which no public key belongs.
    #[error("no public key belongs to the signature")]
    Signature,
    /// A text that is not hex of the required length.
    #[error("expected {0} hex digits")]
    Hex(usize),
}

/// Private key of a node, or an ephemeral key of a handshake. `Debug` prints the id only.
#[derive(Clone)]
pub struct NodeKey {
    secret: SecretKey,
    id: NodeId,
}

impl NodeKey {
    /// Takes 32 bytes as a private key; fails for zero and from the group order on.
    pub fn from_bytes(bytes: [u8; 32]) -> Result<NodeKey, IdentityError> {
        let secret = SecretKey::from_byte_array(bytes).or(Err(IdentityError::PrivateKey))?;
        let id = NodeId::from_public_key(&PublicKey::from_secret_key_global(&secret));
        Ok(NodeKey { secret, id })
    }

    /// Returns the private key, to store it.
    pub fn to_bytes(&self) -> [u8; 32] {
        self.secret.secret_bytes()
    }

    /// Returns the public key.
    pub fn id(&self) -> NodeId {
        self.id
    }

    /// Returns the x coordinate of this key times the point `other`.
    pub(super) fn shared_x(&self, other: &NodeId) -> Result<[u8; 32], IdentityError> {
        let point = shared_secret_point(&other.to_public_key()?, &self.secret);
        let mut x = [0; 32];
        x.copy_from_slice(&point[..32]);
        Ok(x)
    }

    /// Signs a digest with a deterministic nonce (RFC 6979): r, s (low), recovery id.
    pub(super) fn sign(&self, digest: [u8; 32]) -> [u8; SIGNATURE_LENGTH] {
        let signature = SECP256K1.sign_ecdsa_recoverable(Message::from_digest(digest), &self.secret);
        let (recovery, compact) = signature.serialize_compact();
        let mut out = [0; SIGNATURE_LENGTH];
        out[..64].copy_from_slice(&compact);
        out[64] = i32::from(recovery) as u8;
        out
    }
}

impl fmt::Debug for NodeKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "NodeKey({})", self.id)
    }
}

impl FromStr for NodeKey {
    type Err = IdentityError;

    /// Parses 64 hex digits.
    fn from_str(text: &str) -> Result<NodeKey, IdentityError> {
        NodeKey::from_bytes(hex::decode_to_array(text).or(Err(IdentityError::Hex(64)))?)
    }
}

/// Node id: an uncompressed public key without its first byte, x and y. Bytes received from elsewhere are not
/// necessarily a point of the curve; only their use as a key checks that.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub [u8; 64]);

impl NodeId {
    /// Returns the 64 bytes as an id, `None` for another length.
    pub fn from_slice(bytes: &[u8]) -> Option<NodeId> {
        bytes.try_into().ok().map(NodeId)
    }

    fn from_public_key(key: &PublicKey) -> NodeId {
        let mut id = [0; 64];
        id.copy_from_slice(&key.serialize_uncompressed()[1..]);
        NodeId(id)
    }

    fn to_public_key(self) -> Result<PublicKey, IdentityError> {
        let mut bytes = [4; 65];
        bytes[1..].copy_from_slice(&self.0);
        PublicKey::from_byte_array_uncompressed(bytes).or(Err(IdentityError::NotOnCurve))
    }

    /// Recovers the id that signed `digest`. The reference accepts high values of s, too.
    pub(super) fn recover(digest: [u8; 32], signature: &[u8; SIGNATURE_LENGTH]) -> Result<NodeId, IdentityError> {
        const INVALID: IdentityError = IdentityError::Signature;
        let recovery = RecoveryId::try_from(i32::from(signature[64])).or(Err(INVALID))?;
        let signature = RecoverableSignature::from_compact(&signature[..64], recovery).or(Err(INVALID))?;
        let key = signature.recover(Message::from_digest(digest)).or(Err(INVALID))?;
        Ok(NodeId::from_public_key(&key))
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&hex::encode(self.0))
    }
}

impl fmt::Debug for NodeId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "NodeId({self})")
    }
}

impl FromStr for NodeId {
    type Err = IdentityError;

    /// Parses 128 hex digits.
    fn from_str(text: &str) -> Result<NodeId, IdentityError> {
        hex::decode_to_array(text).map(NodeId).or(Err(IdentityError::Hex(128)))
    }
}
