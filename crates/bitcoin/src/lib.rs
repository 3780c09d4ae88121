//! Bitcoin objects: hashes, headers, Merkle proofs, the compressed coinbase of merged mining, messages and addresses.
//!
//! Hashes are in wire order (the digest as computed). Display order, the reversed digest, is used only where an RSK
//! structure holds it, and the functions concerned say so.

pub mod address;
pub mod base58check;
pub mod coinbase;
pub mod digest;
pub mod header;
pub mod merkle;
pub mod message;
pub mod partial_tree;

pub use address::BitcoinAddress;
pub use coinbase::CompressedCoinbase;
pub use digest::{Digest, Midstate, display, hash160, sha256d};
pub use header::BitcoinHeader;
pub use merkle::MerkleError;
pub use message::{BitcoinBlock, MessageError};
