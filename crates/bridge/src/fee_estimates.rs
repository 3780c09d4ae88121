//! Estimated fees of the next peg-out (docs/spec/bridge.md, 7.7).

use crate::context::CallContext;
use crate::error::{MethodFailure, Result};
use crate::return_value::ReturnValue;
use crate::size_estimates::estimated_fee;
use crate::slots::release_queue::ReleaseRequest;
use crate::storage::Storage;
use crate::transaction_builder::build_peg_out;
use crate::units::satoshis_of;
use crate::wallet::FederationWallet;
use rhizome_bitcoin::hash160;
use rhizome_primitives::{I256, Rule, hex};

/// Key of the address of the additional request.
const RECIPIENT: [u8; 33] = hex!("0329f519f8d13a7e3dd35fa5c2480c6bf6c0489da40081e8311a91813492083953");
/// Amount of the additional request until RSKIP-540, in satoshis.
const SIMULATED_AMOUNT: u64 = 100_000_000;

/// Returns the estimated fee of the next batch with one more request.
pub(crate) fn estimate_next_batch(storage: &mut Storage<'_>, ctx: &CallContext<'_>) -> Result<ReturnValue> {
    let requests = if ctx.has(Rule::Rskip271) { storage.queue.get(&mut storage.slots)?.0.len() } else { 0 };
    if requests == 0 && !ctx.has(Rule::Rskip385) {
        return Ok(ReturnValue::number(0));
    }
    if ctx.has(Rule::Rskip305) {
        let amount = if ctx.has(Rule::Rskip540) { ctx.constants.minimum_peg_out } else { SIMULATED_AMOUNT };
        if let Some(fee) = simulated_fee(storage, ctx, amount)? {
            return Ok(ReturnValue::code(fee));
        }
    }
    Ok(ReturnValue::number(estimated_fee(storage, ctx, requests + 2)?))
}

/// Returns the estimated fee of the next batch with one more request of `wei`.
pub(crate) fn estimate_for_amount(storage: &mut Storage<'_>, ctx: &CallContext<'_>, wei: I256) -> Result<ReturnValue> {
    let satoshis = satoshis_of(wei.unsigned_abs());
    let satoshis = if wei.is_negative() { satoshis.wrapping_neg() } else { satoshis };
    let amount = u64::try_from(satoshis).ok().filter(|amount| *amount >= ctx.constants.minimum_peg_out);
    let satoshis = amount.ok_or(MethodFailure::Argument)?;
    let fee = simulated_fee(storage, ctx, satoshis)?.ok_or(MethodFailure::Argument)?;
    Ok(ReturnValue::code(fee))
}

/// Returns the fee of a batch of the whole queue and one more request; `None` if it cannot be built.
fn simulated_fee(storage: &mut Storage<'_>, ctx: &CallContext<'_>, satoshis: u64) -> Result<Option<i64>> {
    let mut requests = storage.queue.get(&mut storage.slots)?.0.clone();
    requests.push(ReleaseRequest { destination: hash160(&RECIPIENT), satoshis, hash: None });
    let mut wallet = FederationWallet::active(storage, ctx)?;
    let Ok(built) = build_peg_out(storage, ctx, &mut wallet, &requests)? else { return Ok(None) };
    let outputs = built.transaction.outputs.iter().map(|output| output.satoshis);
    let fee = built.input_values.iter().sum::<i64>() - outputs.sum::<i64>();
    Ok(Some(fee))
}
