//! The locking cap (RSKIP-134; docs/spec/bridge.md, 9.7).

use crate::context::CallContext;
use crate::error::{MethodFailure, Result};
use crate::return_value::ReturnValue;
use crate::storage::Storage;
use crate::units::WEI_PER_SATOSHI;
use rhizome_primitives::{I256, Rule};

/// Satoshis that the Bridge held at the genesis: all of them.
const SUPPLY: i64 = 21_000_000 * 100_000_000;

/// Maximum ratio of the next cap to the current one.
const MAXIMUM_FACTOR: i64 = 2;

/// Returns the cap in satoshis. Sets the initial value if the cap is absent.
pub(crate) fn locking_cap(storage: &mut Storage<'_>, ctx: &CallContext<'_>) -> Result<u64> {
    let cap = storage.locking_cap.get_mut(&mut storage.slots)?;
    Ok(*cap.get_or_insert(ctx.constants.initial_locking_cap))
}

/// Returns true if the satoshis in circulation stay within the cap after a peg-in. Until RSKIP-134 there is no cap.
pub(crate) fn allows(storage: &mut Storage<'_>, ctx: &CallContext<'_>, satoshis: i64) -> Result<bool> {
    if !ctx.has(Rule::Rskip134) {
        return Ok(true);
    }
    let cap = i64::try_from(locking_cap(storage, ctx)?).unwrap_or(i64::MAX);
    let balance = storage.slots.balance()? / I256::from_raw(WEI_PER_SATOSHI);
    let circulating = i64::try_from(balance).ok().and_then(|balance| SUPPLY.checked_sub(balance));
    let after = circulating.and_then(|circulating| circulating.checked_add(satoshis));
    Ok(after.ok_or(MethodFailure::Rejected)? <= cap)
}

pub(crate) fn increase(storage: &mut Storage<'_>, ctx: &CallContext<'_>, cap: I256) -> Result<ReturnValue> {
    let cap = i64::try_from(cap).ok().filter(|cap| *cap > 0).ok_or(MethodFailure::Argument)?;
    if !ctx.constants.locking_cap_change.contains(&ctx.caller()) {
        return Ok(ReturnValue::flag(false));
    }
    let current = i64::try_from(locking_cap(storage, ctx)?).ok().ok_or(MethodFailure::Rejected)?;
    let is_increase = cap >= current && cap <= current.checked_mul(MAXIMUM_FACTOR).ok_or(MethodFailure::Rejected)?;
    if is_increase {
        storage.locking_cap.set(Some(cap.unsigned_abs()));
    }
    Ok(ReturnValue::flag(is_increase))
}
