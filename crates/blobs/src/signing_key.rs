//! Keys on secp256k1 that sign the files of a location.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;
use std::str::FromStr;

use secp256k1::ecdsa::Signature;
use secp256k1::{Message, PublicKey, SECP256K1, SecretKey};
use sha2::{Digest, Sha256};

/// Longest file of a private key, in bytes.
const MAX_KEY_FILE: u64 = 256;

/// Fault of a key.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The text is not a key.
    #[error("{text}: not a public key: 33 bytes in hex are expected")]
    PublicKey {
        /// The text.
        text: String,
    },
    /// The file of the private key cannot be used.
    #[error("{path}: cannot be used as a private key: {source}")]
    KeyFile {
        /// The file.
        path: String,
        /// The failure.
        source: io::Error,
    },
}

/// Public key of a publisher.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PublisherKey(PublicKey);

impl FromStr for PublisherKey {
    type Err = KeyError;

    /// Reads the compressed form in hex, with or without prefix.
    fn from_str(text: &str) -> Result<Self, KeyError> {
        let bytes = hex::decode(text.strip_prefix("0x").unwrap_or(text)).ok();
        let key = bytes.and_then(|bytes| Self::from_bytes(&bytes));
        key.ok_or_else(|| KeyError::PublicKey { text: text.to_owned() })
    }
}

impl fmt::Display for PublisherKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "0x{}", hex::encode(self.to_bytes()))
    }
}

impl PublisherKey {
    /// Reads the compressed form of 33 bytes.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; 33] = bytes.try_into().ok()?;
        PublicKey::from_slice(bytes).ok().map(Self)
    }

    /// Returns the compressed form.
    pub fn to_bytes(self) -> [u8; 33] {
        self.0.serialize()
    }

    /// Whether a signature of 64 bytes is that of `signed` under this key.
    pub fn has_signed(&self, signed: &[u8], signature: &[u8]) -> bool {
        let Ok(signature) = Signature::from_compact(signature) else { return false };
        SECP256K1.verify_ecdsa(digest(signed), &signature, &self.0).is_ok()
    }
}

/// Private key of a publisher.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SigningKey(SecretKey);

impl SigningKey {
    /// Reads a private key, 32 bytes in hex. A missing file is created with a new key, readable by its owner only.
    pub fn read_or_create(path: &Path) -> Result<Self, KeyError> {
        let key =
            read(path).or_else(|error| if error.kind() == io::ErrorKind::NotFound { create(path) } else { Err(error) });
        key.map(Self).map_err(|source| KeyError::KeyFile { path: path.display().to_string(), source })
    }

    /// Returns the public key.
    pub fn publisher(&self) -> PublisherKey {
        PublisherKey(self.0.public_key(SECP256K1))
    }

    /// Returns the ECDSA signature (r, s) of the SHA-256 of some bytes.
    pub fn sign(&self, signed: &[u8]) -> [u8; 64] {
        SECP256K1.sign_ecdsa(digest(signed), &self.0).serialize_compact()
    }
}

fn digest(signed: &[u8]) -> Message {
    Message::from_digest(Sha256::digest(signed).into())
}

fn read(path: &Path) -> io::Result<SecretKey> {
    let mut text = String::new();
    File::open(path)?.take(MAX_KEY_FILE).read_to_string(&mut text)?;
    let text = text.trim();
    let bytes = hex::decode(text.strip_prefix("0x").unwrap_or(text)).ok();
    let bytes = bytes.and_then(|bytes| <[u8; 32]>::try_from(bytes).ok());
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
