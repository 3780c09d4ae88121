//! Primitive types of the chain: RLP as Rootstock reads and writes it; transactions, receipts, blooms, headers and
//! blocks with their hashes; and chain specifications (networks, upgrades, rules, constants, genesis).
//!
//! Every hash is computed over a re-encoding of the decoded object, never over the received bytes, because the reader
//! accepts more encodings than the writers produce.
//!
//! This crate does no I/O, starts no threads, reads no clock, and does not know the EVM, the state trie or the proof
//! of work.
//!
//! Start reading at `rlp` (accepted encodings, encoding of zero), then `transaction`, `header` and `chain_spec`.

pub use alloy_primitives::{
    Address, B256, Bytes, I256, Keccak256, U256, address, b256, hex, keccak256, keccak256_uncached,
};

pub mod abi;
pub mod block;
pub mod bloom;
pub mod chain_spec;
pub mod error;
pub mod genesis;
pub mod header;
mod keccak;
pub mod networks;
pub mod receipt;
pub mod rlp;
pub mod rules;
pub mod sublists;
pub mod transaction;
pub mod upgrades;

pub use block::{Block, MAX_LIST_ELEMENTS, uncles_hash};
pub use bloom::Bloom;
pub use chain_spec::{ChainConstants, ChainSpec, RemascParams, SpecError};
pub use error::{DecodeError, ExtensionError, HeaderError, SignatureError};
pub use genesis::{GenesisAccount, GenesisSpec};
pub use header::Header;
pub use keccak::keccak256_all;
pub use networks::Network;
pub use receipt::{Log, LogRef, Receipt};
pub use rules::{Rule, Rules};
pub use sublists::{SublistGasLimits, largest_transaction_gas};
pub use transaction::{Transaction, UnsignedTransaction};
pub use upgrades::Upgrade;

/// Root of the empty trie: Keccak hash of the byte `80`. An absent root in a header decodes as this.
pub const EMPTY_ROOT: B256 = b256!("56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421");
/// Hash of the empty uncle list: Keccak hash of the byte `c0`.
pub const EMPTY_UNCLES: B256 = b256!("1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347");
/// Code hash of an account without code: Keccak hash of no bytes.
pub const EMPTY_CODE_HASH: B256 = b256!("c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470");
/// Address of the Bridge, the contract of the two-way peg with Bitcoin.
pub const BRIDGE: Address = address!("0000000000000000000000000000000001000006");
/// Address of REMASC, the contract that distributes fees; called by the last transaction of every block.
pub const REMASC: Address = address!("0000000000000000000000000000000001000008");
