//! The locking cap (RSKIP-134; docs/spec/bridge.md, 9.7).

use crate::context::CallContext;
use crate::error::{MethodFailure, Result};
use crate::return_value::ReturnValue;
use crate::storage::Storage;
use rhizome_primitives::I256;

/// Maximum ratio of the next cap to the current one.
const MAXIMUM_FACTOR: i64 = 2;

/// Returns the cap in satoshis. Sets the initial value if the cap is absent.
pub(crate) fn locking_cap(storage: &mut Storage<'_>, ctx: &CallContext<'_>) -> Result<u64> {
    let cap = storage.locking_cap.get_mut(&mut storage.slots)?;
    Ok(*cap.get_or_insert(ctx.constants.initial_locking_cap))
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
