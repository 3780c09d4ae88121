//! Types of registered Bitcoin transactions (docs/spec/bridge.md, 6.2).

mod legacy;

use crate::context::CallContext;
use crate::display_order::display_id;
use crate::error::{MethodFailure, Result};
use crate::federation;
use crate::federation_outputs::{output_scripts, outputs_to};
use crate::peg_out_index::index_hash;
use crate::placeholders;
use crate::redeem_script::redeem_script_of_input;
use crate::storage::Storage;
use rhizome_bitcoin::BitcoinTransaction;
use rhizome_primitives::{B256, Rule};

/// The role of a registered transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TransactionType {
    PegIn,
    /// A peg-out or a migration: its outputs to federations are change.
    PegOut,
    /// Funds the validation of a proposed federation.
    SvpFund,
    /// Proves that a proposed federation can sign.
    SvpSpend,
    Unknown,
}

/// Returns the type of a transaction in the Bitcoin block at `height`.
pub(crate) fn transaction_type(
    storage: &mut Storage<'_>,
    ctx: &CallContext<'_>,
    transaction: &BitcoinTransaction,
    height: i32,
) -> Result<TransactionType> {
    let live = federation::live(storage, ctx)?;
    let retiring = federation::retiring(storage, ctx)?;
    let retired_script = match ctx.has(Rule::Rskip186) {
        true => storage.federations.last_retired_script.get(&mut storage.slots)?.0.clone(),
        false => None,
    };
    if !ctx.has(Rule::Rskip379) || height < ctx.constants.peg_out_index_height {
        return legacy::LegacyTyping { ctx, transaction, live, retiring, retired_script }.run();
    }
    if ctx.has(Rule::Rskip419) {
        let fund = *storage.svp.fund_hash.get(&mut storage.slots)?;
        if is_unsigned_hash(ctx, transaction, fund)? {
            return Ok(TransactionType::SvpFund);
        }
        let spend = *storage.svp.spend_hash.get(&mut storage.slots)?;
        if is_unsigned_hash(ctx, transaction, spend)? {
            return Ok(TransactionType::SvpSpend);
        }
    }
    let is_peg_in = !outputs_to(transaction, &output_scripts(ctx, &live)?)?.is_empty();
    if let Some(index) = index_hash(transaction)?
        && storage.is_peg_out(&index)?
    {
        return Ok(TransactionType::PegOut);
    }
    Ok(if is_peg_in { TransactionType::PegIn } else { TransactionType::Unknown })
}

/// Returns true if a transaction without its signatures has a hash that is set. Display order.
fn is_unsigned_hash(ctx: &CallContext<'_>, transaction: &BitcoinTransaction, expected: Option<B256>) -> Result<bool> {
    match expected {
        None => Ok(false),
        Some(_) => Ok(hash_without_signatures(ctx, transaction)? == expected),
    }
}

/// Returns the id that a transaction had before it was signed, display order; `None` if an input has no redeem script.
/// Until RSKIP-305 a redeem script that is no multisig is a call error.
fn hash_without_signatures(ctx: &CallContext<'_>, transaction: &BitcoinTransaction) -> Result<Option<B256>> {
    if transaction.has_witness() {
        return Ok(Some(display_id(transaction)));
    }
    let mut unsigned = transaction.clone();
    for (position, input) in unsigned.inputs.iter_mut().enumerate() {
        let Some(script) = redeem_script_of_input(transaction, position)? else { return Ok(None) };
        input.script = match script.is_multisig() {
            // The reference fails with an error that it takes for another transaction.
            true if script.required_signatures()? > placeholders::SCRIPT_SIGNATURES => return Ok(None),
            true => placeholders::legacy_script(&script)?,
            false if ctx.has(Rule::Rskip305) => return Ok(None),
            false => return Err(MethodFailure::Rejected),
        };
    }
    Ok(Some(display_id(&unsigned)))
}
