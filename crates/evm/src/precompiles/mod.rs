//! The precompiles: one file per precompile, and one row of [`table`].
//!
//! A precompile computes its price and its output. The caller handles gas, value, memory and the rules of failures.
//!
//! `docs/contributing/add-a-precompile.md` shows how to add one.

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

pub use interface::{CallScheme, Payment, Precompile, PrecompileContext, PrecompileFailure, PrecompileOutput};
pub use rhizome_bridge::{BridgeError, FederationScripts, checkpoint, federation_scripts, genesis_federation, is_free};
pub use table::{PrecompileEntry, precompile_at};
