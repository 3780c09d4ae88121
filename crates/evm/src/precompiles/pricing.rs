//! Price rules that several precompiles share.

use super::interface::{PrecompileContext, PrecompileFailure};
use crate::error::ExecError;

/// Largest price, in gas, of a precompile that a local call runs without payment: about 1 s at 10 ns a unit of gas.
pub(super) const UNPAID_WORK_LIMIT: u64 = 100_000_000;

/// Rejects the work of a local call that does not pay for it. The reference runs such a call without a check of its gas
/// before RSKIP-136.
pub(super) fn limit_unpaid_work(price: u64, ctx: &PrecompileContext<'_>) -> Result<(), PrecompileFailure> {
    let is_too_much = ctx.is_local_call && ctx.is_direct && price > UNPAID_WORK_LIMIT;
    if is_too_much { Err(ExecError::DeadlineExceeded.into()) } else { Ok(()) }
}

/// Returns `base + per_word * words(input)`, the price of the hash functions.
pub(super) fn price_by_words(length: usize, base: u64, per_word: u64) -> u64 {
    (length as u64).div_ceil(32).saturating_mul(per_word).saturating_add(base)
}
