use std::fmt;
use std::fs::OpenOptions;
use std::io::{self, Read, Write};
use std::path::Path;
use std::str::FromStr;

use rhizome_primitives::hex;
use secp256k1::ecdsa::Signature;
use secp256k1::{Message, PublicKey, SECP256K1, SecretKey};
use sha2::{Digest, Sha256};

use crate::error::ArchiveError;

/// Longest file of a private key, in bytes.
const MAX_KEY_FILE: u64 = 256;

/// Public key of a publisher, on secp256k1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PublisherKey(pub(crate) PublicKey);

impl FromStr for PublisherKey {
    type Err = ArchiveError;

    /// Reads the compressed form in hex, with or without prefix.
    fn from_str(text: &str) -> Result<Self, ArchiveError> {
        let bytes = hex::decode(text).ok().filter(|bytes| bytes.len() == 33);
        let key = bytes.and_then(|bytes| PublicKey::from_slice(&bytes).ok());
        key.map(Self).ok_or_else(|| ArchiveError::PublicKey { text: text.to_owned() })
    }
}

impl fmt::Display for PublisherKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&hex::encode_prefixed(self.0.serialize()))
    }
}

impl PublisherKey {
    pub(crate) fn of(secret: &SecretKey) -> Self {
        Self(secret.public_key(SECP256K1))
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        PublicKey::from_slice(bytes).ok().map(Self)
    }

    pub(crate) fn to_bytes(self) -> [u8; 33] {
        self.0.serialize()
    }

    /// Whether a signature of 64 bytes is that of `signed` under this key.
    pub(crate) fn has_signed(&self, signed: &[u8], signature: &[u8]) -> bool {
        let Ok(signature) = Signature::from_compact(signature) else { return false };
        SECP256K1.verify_ecdsa(digest(signed), &signature, &self.0).is_ok()
    }
}

pub(crate) fn sign(secret: &SecretKey, signed: &[u8]) -> [u8; 64] {
    SECP256K1.sign_ecdsa(digest(signed), secret).serialize_compact()
}

fn digest(signed: &[u8]) -> Message {
    Message::from_digest(Sha256::digest(signed).into())
}

/// Reads a private key, 32 bytes in hex. A missing file is created with a new key, readable by its owner only.
pub fn read_or_create_key(path: &Path) -> Result<SecretKey, ArchiveError> {
    let key =
        read(path).or_else(|error| if error.kind() == io::ErrorKind::NotFound { create(path) } else { Err(error) });
    key.map_err(|source| ArchiveError::KeyFile { path: path.display().to_string(), source })
}

fn read(path: &Path) -> io::Result<SecretKey> {
    let mut text = String::new();
    std::fs::File::open(path)?.take(MAX_KEY_FILE).read_to_string(&mut text)?;
    let bytes = hex::decode(text.trim()).ok().and_then(|bytes| <[u8; 32]>::try_from(bytes).ok());
    let key = bytes.and_then(|bytes| SecretKey::from_byte_array(bytes).ok());
    key.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "32 bytes in hex are expected"))
}

fn create(path: &Path) -> io::Result<SecretKey> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    let key = SecretKey::from_byte_array(bytes).map_err(io::Error::other)?;
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    file.write_all(format!("{}\n", hex::encode(bytes)).as_bytes())?;
    file.sync_all()?;
    Ok(key)
}
