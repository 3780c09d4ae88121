//! Estimated sizes and fees of peg-outs (docs/spec/bridge.md, 7.2 and 7.7).

use crate::context::CallContext;
use crate::error::{MethodFailure, Result};
use crate::federation;
use crate::fee_per_kb::fee_per_kb;
use crate::return_value::ReturnValue;
use crate::scripts::{multisig, threshold};
use crate::storage::Storage;
use rhizome_primitives::Rule;

/// Number of inputs of an estimated peg-out.
const INPUTS: u64 = 2;
/// Estimated size of a signature, bytes.
const SIGNATURE_SIZE: u64 = 72;

/// Returns the estimated fee of a peg-out with `outputs` outputs, in satoshis.
pub(crate) fn estimated_fee(storage: &mut Storage<'_>, ctx: &CallContext<'_>, outputs: u64) -> Result<u64> {
    let size =
        peg_out_size(&federation::active(storage, ctx)?.bitcoin_keys(), ctx.has(Rule::Rskip271), INPUTS, outputs);
    let fee = fee_per_kb(storage, ctx)?.checked_mul(size).ok_or(MethodFailure::Rejected)?;
    Ok(fee / 1000)
}

/// Returns the estimated fee of the next batch with one more request. Without coins there is no transaction to simulate.
pub(crate) fn estimate_next_batch(storage: &mut Storage<'_>, ctx: &CallContext<'_>) -> Result<ReturnValue> {
    let requests = storage.queue.get(&mut storage.slots)?.0.len() as u64;
    if requests == 0 && !ctx.has(Rule::Rskip385) {
        return Ok(ReturnValue::number(0));
    }
    if ctx.has(Rule::Rskip305) {
        federation::active_coins(storage, ctx)?;
    }
    Ok(ReturnValue::number(estimated_fee(storage, ctx, requests + 2)?))
}

/// Estimates the fee of a peg-out of an amount. Without coins there is no such peg-out, for any amount.
pub(crate) fn estimate_for_amount(storage: &mut Storage<'_>, ctx: &CallContext<'_>) -> Result<ReturnValue> {
    storage.queue.get(&mut storage.slots)?;
    federation::active_coins(storage, ctx)?;
    Err(MethodFailure::Argument)
}

/// Returns the estimated size of a peg-out in bytes. `is_exact`: RSKIP-271 is active.
fn peg_out_size(keys: &[[u8; 33]], is_exact: bool, inputs: u64, outputs: u64) -> u64 {
    let script = multisig(keys).len() as u64;
    let signatures = SIGNATURE_SIZE * threshold(keys.len()) as u64;
    if !is_exact {
        return 4 + (signatures + script + 1 + 40) * inputs + (25 + 1 + 9) * outputs;
    }
    let input = 36 + varint_size(script) + script + 4;
    let unsigned = 4 + varint_size(inputs) + inputs * input + varint_size(outputs) + 32 * outputs + 4;
    unsigned + signatures * inputs
}

fn varint_size(number: u64) -> u64 {
    match number {
        0..=0xfc => 1,
        0xfd..=0xffff => 3,
        0x1_0000..=0xffff_ffff => 5,
        _ => 9,
    }
}
