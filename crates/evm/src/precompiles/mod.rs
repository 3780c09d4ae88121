//! The built-in contracts: one file per contract, one row each in [`table`].
//!
//! A contract says what it costs and what it answers. How a call reaches it (gas, value, memory, failure rules) is the
//! business of the caller.

mod abi;
mod bip32;
mod blake2f;
mod block_header;
mod bn128;
mod bridge;
mod ecrecover;
mod environment;
mod hd_wallet;
mod identity;
mod modexp;
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

use crate::error::ExecError;
pub use remasc::federation::genesis_federation;

pub(crate) use bridge::is_free;
pub use bridge::{FederationScripts, federation_scripts};
pub use table::{
    CallScheme, Precompile, PrecompileContext, PrecompileEntry, PrecompileFailure, PrecompileOutput, precompile_at,
};

/// Local calls are not always made to pay first (before RSKIP-136 they never are). At some 10 ns for a unit of gas this
/// much work is done, and no more.
const UNPAID_WORK_LIMIT: u64 = 100_000_000;

/// Stops a local call whose work nobody has to pay for.
fn limit_unpaid_work(price: u64, ctx: &PrecompileContext<'_>) -> Result<(), PrecompileFailure> {
    let is_too_much = ctx.is_local_call && ctx.is_direct && price > UNPAID_WORK_LIMIT;
    if is_too_much { Err(ExecError::DeadlineExceeded.into()) } else { Ok(()) }
}

/// `base + per_word * words(input)`, the price shape of the hashing contracts.
fn price_by_words(length: usize, base: u64, per_word: u64) -> u64 {
    (length as u64).div_ceil(32).saturating_mul(per_word).saturating_add(base)
}

/// `N` bytes of `input` from `offset`, with zeros where the input has ended.
fn padded<const N: usize>(input: &[u8], offset: usize) -> [u8; N] {
    let mut bytes = [0; N];
    let present = input.get(offset..).unwrap_or_default();
    for (target, source) in bytes.iter_mut().zip(present) {
        *target = *source;
    }
    bytes
}
