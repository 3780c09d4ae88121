//! Peg-out requests (docs/spec/bridge.md, 7.1).

use crate::context::CallContext;
use crate::error::{MethodFailure, Result};
use crate::events;
use crate::return_value::ReturnValue;
use crate::size_estimates::estimated_fee;
use crate::slots::release_queue::ReleaseRequest;
use crate::storage::Storage;
use crate::units::{WEI_PER_SATOSHI, satoshis_of};
use rhizome_bitcoin::hash160;
use rhizome_primitives::{Log, Rule};

// Reasons of a rejection.
const LOW_AMOUNT: u64 = 1;
const CALLER_IS_CONTRACT: u64 = 2;
const FEE_ABOVE_VALUE: u64 = 3;
/// Number of outputs of the peg-out that gives the minimum.
const ESTIMATED_OUTPUTS: usize = 2;

/// Queues a request for the value of the call, or rejects it with a refund.
pub(crate) fn release(storage: &mut Storage<'_>, ctx: &CallContext<'_>, logs: &mut Vec<Log>) -> Result<ReturnValue> {
    let wei = ctx.call.value;
    if !ctx.call.is_direct {
        if !ctx.has(Rule::Rskip185) {
            return Err(MethodFailure::Rejected);
        }
        events::release_rejected(logs, ctx, wei, CALLER_IS_CONTRACT);
        return Ok(ReturnValue::None);
    }
    let key = (ctx.call.public_key)().ok_or(MethodFailure::Rejected)?;
    let destination = hash160(&key);
    // A negative amount is below each minimum.
    let satoshis = u64::try_from(satoshis_of(wei)).unwrap_or_default();
    if let Some(reason) = rejection(storage, ctx, satoshis)? {
        if ctx.has(Rule::Rskip185) {
            let refund = if ctx.has(Rule::Rskip427) { wei } else { wei - wei % WEI_PER_SATOSHI };
            storage.slots.refund(ctx.caller(), refund)?;
            events::release_rejected(logs, ctx, wei, reason);
        }
        return Ok(ReturnValue::None);
    }
    let hash = ctx.has(Rule::Rskip146).then_some(ctx.call.transaction_hash);
    storage.queue.get_mut(&mut storage.slots)?.0.push(ReleaseRequest { destination, satoshis, hash });
    if ctx.has(Rule::Rskip185) {
        events::release_received(logs, ctx, &destination, wei);
    }
    Ok(ReturnValue::None)
}

/// Returns the reason to reject an amount; `None` if it is accepted.
fn rejection(storage: &mut Storage<'_>, ctx: &CallContext<'_>, satoshis: u64) -> Result<Option<u64>> {
    if !ctx.has(Rule::Rskip219) {
        return Ok((satoshis <= ctx.constants.legacy_minimum_peg_out).then_some(LOW_AMOUNT));
    }
    let fee = estimated_fee(storage, ctx, ESTIMATED_OUTPUTS)?;
    let gap = fee.checked_mul(ctx.constants.peg_out_gap).ok_or(MethodFailure::Rejected)? / 100;
    let fee = fee.checked_add(gap).ok_or(MethodFailure::Rejected)?;
    let minimum = ctx.constants.minimum_peg_out.max(fee);
    let reason = if minimum == fee { FEE_ABOVE_VALUE } else { LOW_AMOUNT };
    Ok((satoshis < minimum).then_some(reason))
}

pub(crate) fn queue_size(storage: &mut Storage<'_>) -> Result<ReturnValue> {
    Ok(ReturnValue::number(storage.queue.get(&mut storage.slots)?.0.len() as u64))
}
