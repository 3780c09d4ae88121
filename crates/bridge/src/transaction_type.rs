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
use rhizome_bitcoin::{BitcoinTransaction, OutputKind, output_kind};
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
/// Until RSKIP-305 a redeem script is a call error if it is neither a multisig nor an output script of one key.
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
            false => match output_kind(&script.bytes)? {
                OutputKind::PayToKeyHash(_) | OutputKind::RawKey => placeholders::single_key_script(&script.bytes)?,
                _ => return Err(MethodFailure::Rejected),
            },
        };
    }
    Ok(Some(display_id(&unsigned)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::Call;
    use rhizome_bitcoin::{OutPoint, TransactionInput, TransactionOutput, push_data};
    use rhizome_primitives::{Network, Rules, hex};

    /// The results are those of the reference, `None` its call errors.
    #[test]
    fn scripts_of_one_key_have_a_signature_until_rskip305() {
        let hash_of = |rules: Rules, last: &[u8]| {
            let mut script = vec![1, 1];
            push_data(&mut script, last);
            let outpoint = OutPoint { txid: [0x33; 32], index: 0 };
            let inputs = vec![TransactionInput { outpoint, script, sequence: u32::MAX, witness: Vec::new() }];
            let outputs = vec![TransactionOutput { satoshis: 1000, script: vec![0x51] }];
            let transaction = BitcoinTransaction { version: 2, inputs, outputs, lock_time: 0 };
            let call = Call::local(Network::Regtest, rules, 1);
            let hash = hash_without_signatures(&CallContext::of(&call).unwrap(), &transaction);
            hash.ok().map(|hash| hash.map(hex::encode))
        };
        let raw_key = [&[0x21, 2][..], &[0x11; 32], &[0xac]].concat();
        let key_hash = [&[0x76, 0xa9, 20][..], &[0x22; 20], &[0x88, 0xac]].concat();
        for (last, expected) in [
            (&raw_key[..], Some("8799390fdc9c7c9eda5911fcdf898d7e4f85a2232b609fd36ccd7ea5080d0bb6")),
            (&key_hash, Some("a59282d0eb18529ae506299ddfed52b2d58be9686c4f289df904dba0c97592d3")),
            (&[1, 0x51, 0xac], None),
            (&[0x51, 0x87], None),
        ] {
            assert_eq!(hash_of(Rules::none(), last), expected.map(|hash| Some(hash.to_string())));
            assert_eq!(hash_of(Rules::all(), last), Some(None));
        }
    }
}
