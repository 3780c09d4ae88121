//! The built-in contracts: one file per contract, one row each in [`table`].
//!
//! A contract says what it costs and what it answers. How a call reaches it (gas, value, memory, failure rules) is the
//! business of the caller.

mod bip32;
mod blake2f;
mod block_header;
mod bn128;
mod bridge;
mod ecrecover;
mod environment;
mod hd_wallet;
mod identity;
mod interface;
mod modexp;
mod padding;
mod pricing;
mod remasc;
mod ripemd160;
mod secp256k1;
mod sha256;
pub mod table;

#[cfg(test)]
#[path = "../../../primitives/tests/corpus.rs"]
mod corpus;
#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod golden;
#[cfg(test)]
#[path = "../../../primitives/tests/mutation.rs"]
mod mutation;

pub use interface::{CallScheme, Precompile, PrecompileContext, PrecompileFailure, PrecompileOutput};
pub(crate) use rhizome_bridge::is_free;
pub use rhizome_bridge::{BridgeError, FederationScripts, federation_scripts, genesis_federation};
pub use table::{PrecompileEntry, precompile_at};
