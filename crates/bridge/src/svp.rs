//! Validation of a proposed federation (docs/spec/bridge.md, 8.6), since RSKIP-419: it must spend coins that the active
//! federation sends to it.

use crate::context::CallContext;
use crate::display_order::display_id;
use crate::error::{MethodFailure, Result};
use crate::events;
use crate::federation::{self, Federation};
use crate::federation_change::hand_over;
use crate::fee_per_kb::fee_per_kb;
use crate::placeholders;
use crate::redeem_script::RedeemScript;
use crate::settlement::{CoinList, log_request, record_input_values, settle};
use crate::size_estimates::peg_out_size;
use crate::slots::slot::SvpSpend;
use crate::storage::Storage;
use crate::transaction_builder::build_svp_fund;
use rhizome_bitcoin::{BitcoinTransaction, OutPoint, TransactionInput, TransactionOutput};
use rhizome_primitives::{B256, Log, b256};

/// Derivation of the flyover address that the fund transaction pays beside the address of the federation.
pub(crate) const DERIVATION: B256 = b256!("0000000000000000000000000000000000000000000000000000000000000001");
/// Version of the spend transaction.
const VERSION: u32 = 2;
const FINAL_SEQUENCE: u32 = u32::MAX;

/// Advances the validation: gives up after its period, or creates the transaction that is due.
pub(crate) fn update(storage: &mut Storage<'_>, ctx: &CallContext<'_>, logs: &mut Vec<Log>) -> Result<()> {
    let Some(proposed) = federation::proposed(storage, ctx)? else { return Ok(()) };
    if !is_in_period(ctx, &proposed) {
        return give_up(storage, ctx, logs, &proposed);
    }
    let svp = &mut storage.svp;
    let has_begun = svp.fund_hash.get(&mut storage.slots)?.is_some()
        || svp.fund_signed.get(&mut storage.slots)?.is_some()
        || svp.spend_hash.get(&mut storage.slots)?.is_some();
    if !has_begun {
        fund(storage, ctx, logs, &proposed)?;
    }
    match storage.svp.fund_signed.get(&mut storage.slots)?.clone() {
        Some(funding) => spend(storage, ctx, logs, &proposed, &funding),
        None => Ok(()),
    }
}

/// Returns true if there is a proposed federation within its validation period.
fn is_ongoing(storage: &mut Storage<'_>, ctx: &CallContext<'_>) -> Result<bool> {
    Ok(federation::proposed(storage, ctx)?.is_some_and(|federation| is_in_period(ctx, &federation)))
}

/// Returns true if `hash` is the RSK transaction that created the spend transaction of an ongoing validation.
pub(crate) fn is_spend_request(storage: &mut Storage<'_>, ctx: &CallContext<'_>, hash: &B256) -> Result<bool> {
    if !is_ongoing(storage, ctx)? {
        return Ok(false);
    }
    let waiting = storage.svp.spend_waiting.get(&mut storage.slots)?;
    Ok(waiting.0.as_ref().is_some_and(|(request, _)| request == hash))
}

/// Continues the validation with a registered fund transaction. After the period it has no effect.
pub(crate) fn register_fund(
    storage: &mut Storage<'_>,
    ctx: &CallContext<'_>,
    funding: &BitcoinTransaction,
) -> Result<()> {
    if is_ongoing(storage, ctx)? {
        storage.svp.fund_signed.set(Some(funding.clone()));
        storage.svp.fund_hash.set(None);
    }
    Ok(())
}

/// Ends the validation with a registered spend transaction: the proposed federation replaces the active one.
pub(crate) fn register_spend(storage: &mut Storage<'_>, ctx: &CallContext<'_>) -> Result<()> {
    storage.svp.spend_hash.set(None);
    let proposed = federation::proposed(storage, ctx)?.ok_or(MethodFailure::Rejected)?;
    hand_over(storage, ctx, &proposed)?;
    storage.federations.proposed.set(None);
    Ok(())
}

fn is_in_period(ctx: &CallContext<'_>, federation: &Federation) -> bool {
    ctx.call.block_number < federation.creation_block.saturating_add(ctx.constants.validation_period)
}

fn give_up(storage: &mut Storage<'_>, ctx: &CallContext<'_>, logs: &mut Vec<Log>, proposed: &Federation) -> Result<()> {
    events::commit_federation_failed(logs, &proposed.redeem_script(ctx)?, ctx.call.block_number);
    storage.federations.proposed.set(None);
    storage.svp.fund_hash.set(None);
    storage.svp.fund_signed.set(None);
    storage.svp.spend_hash.set(None);
    storage.svp.spend_waiting.set(SvpSpend(None));
    Ok(())
}

/// Sends two outputs to the proposed federation: to its address and to its flyover address. If no transaction can be built,
/// nothing happens.
fn fund(storage: &mut Storage<'_>, ctx: &CallContext<'_>, logs: &mut Vec<Log>, proposed: &Federation) -> Result<()> {
    let minimum = i64::try_from(ctx.constants.minimum_peg_out).map_err(|_overflow| MethodFailure::Rejected)?;
    let satoshis = minimum * 2;
    let scripts = [proposed.output_script(ctx)?, proposed.flyover_output_script(ctx, &DERIVATION)?];
    let outputs = scripts.map(|script| TransactionOutput { satoshis, script }).to_vec();
    let Ok(built) = build_svp_fund(storage, ctx, outputs)? else { return Ok(()) };
    storage.svp.fund_hash.set(Some(display_id(&built.transaction)));
    let hash = Some(ctx.call.transaction_hash);
    settle(storage, ctx, logs, CoinList::Active, &built, hash, satoshis * 2)
}

/// Lets the proposed federation send both outputs of the fund transaction to the active one. If an output is missing,
/// nothing happens.
fn spend(
    storage: &mut Storage<'_>,
    ctx: &CallContext<'_>,
    logs: &mut Vec<Log>,
    proposed: &Federation,
    funding: &BitcoinTransaction,
) -> Result<()> {
    let spent = [
        (proposed.output_script(ctx)?, proposed.redeem_script(ctx)?),
        (proposed.flyover_output_script(ctx, &DERIVATION)?, proposed.flyover_redeem_script(ctx, &DERIVATION)?),
    ];
    let (mut inputs, mut values) = (Vec::new(), Vec::new());
    for (output_script, redeem_script) in spent {
        let mut outputs = (0_u32..).zip(&funding.outputs);
        let Some((index, output)) = outputs.find(|(_, output)| output.script == output_script) else { return Ok(()) };
        inputs.push(input(funding, index, &redeem_script, proposed.is_segwit())?);
        values.push(output.satoshis);
    }
    let fee = spend_fee(storage, ctx, proposed, inputs.len())?;
    let satoshis = values.iter().try_fold(0_i64, |sum, value| sum.checked_add(*value));
    let satoshis = satoshis.and_then(|sum| sum.checked_sub(fee)).ok_or(MethodFailure::Rejected)?;
    // The reference makes no output with a negative value, except for its marker -1.
    if satoshis < -1 {
        return Err(MethodFailure::Rejected);
    }
    let script = federation::active(storage, ctx)?.output_script(ctx)?;
    let outputs = vec![TransactionOutput { satoshis, script }];
    let transaction = BitcoinTransaction { version: VERSION, inputs, outputs, lock_time: 0 };
    let hash = ctx.call.transaction_hash;
    storage.svp.spend_hash.set(Some(display_id(&transaction)));
    storage.svp.spend_waiting.set(SvpSpend(Some((hash, transaction.clone()))));
    storage.svp.fund_signed.set(None);
    log_request(ctx, logs, &transaction, Some(hash), satoshis);
    record_input_values(storage, ctx, logs, &transaction, &values)
}

fn input(funding: &BitcoinTransaction, index: u32, redeem_script: &[u8], is_segwit: bool) -> Result<TransactionInput> {
    let redeem_script = RedeemScript::recognize(redeem_script)?;
    let (script, witness) = match is_segwit {
        true => (placeholders::segwit_script(&redeem_script), placeholders::segwit_witness(&redeem_script)?),
        false => (placeholders::legacy_script(&redeem_script)?, Vec::new()),
    };
    let outpoint = OutPoint { txid: funding.txid(), index };
    Ok(TransactionInput { outpoint, script, sequence: FINAL_SEQUENCE, witness })
}

/// Returns the fee of the spend transaction: a fifth above the estimate.
fn spend_fee(storage: &mut Storage<'_>, ctx: &CallContext<'_>, proposed: &Federation, inputs: usize) -> Result<i64> {
    let size = peg_out_size(ctx, proposed, inputs, 1)? as u64 * 12 / 10;
    let fee = fee_per_kb(storage, ctx)?.checked_mul(size).ok_or(MethodFailure::Rejected)? / 1000;
    i64::try_from(fee).map_err(|_overflow| MethodFailure::Rejected)
}
