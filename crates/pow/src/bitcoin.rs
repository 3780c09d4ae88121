//! What merged mining needs of Bitcoin: hashes, the 80-byte header, the compressed coinbase, Merkle proofs, messages.
//!
//! Hashes are kept in wire order (the digest itself). Display order, the reversed digest, occurs only where the chain
//! asks for it and is named there.

pub mod coinbase;
pub mod digest;
pub mod header;
pub mod merkle;
pub mod message;
pub mod partial_tree;

pub use coinbase::CompressedCoinbase;
pub use digest::{Digest, Midstate, display, sha256d};
pub use header::BitcoinHeader;
pub use merkle::MerkleError;
pub use message::{BitcoinBlock, MessageError};
