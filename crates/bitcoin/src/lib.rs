//! Bitcoin objects: hashes, headers, Merkle proofs, the compressed coinbase of merged mining, messages, addresses,
//! transactions and scripts.
//!
//! Hashes are in wire order (the digest as computed). Display order, the reversed digest, is used only where an RSK
//! structure holds it, and the functions concerned say so.

pub mod address;
pub mod base58check;
pub mod coinbase;
pub mod digest;
pub mod ecdsa;
pub mod header;
pub mod interpreter;
pub mod merkle;
pub mod message;
pub mod partial_tree;
pub mod script;
pub mod signature_hash;
pub mod transaction;
pub mod varint;

pub use address::BitcoinAddress;
pub use coinbase::CompressedCoinbase;
pub use digest::{Digest, Midstate, display, hash160, sha256d};
pub use header::BitcoinHeader;
pub use interpreter::spends_correctly;
pub use merkle::MerkleError;
pub use message::{BitcoinBlock, MessageError};
pub use script::{
    Chunk, OutputKind, ScriptError, output_kind, p2pkh_script, p2sh_script, parse_script, push_data, push_number,
};
pub use signature_hash::InputIndexError;
pub use transaction::{BitcoinTransaction, OutPoint, TransactionError, TransactionInput, TransactionOutput};
