//! Outputs of Bitcoin transactions that pay to federations (docs/spec/bridge.md, 6.2 and 6.3.1).

use crate::context::CallContext;
use crate::display_order::display_id;
use crate::error::{MethodFailure, Result};
use crate::federation::{self, Federation};
use crate::slots::coins::Coin;
use crate::storage::Storage;
use rhizome_bitcoin::{BitcoinTransaction, ScriptError, TransactionOutput, output_kind};
use std::rc::Rc;

/// An output and its position.
pub(crate) type IndexedOutput<'a> = (u32, &'a TransactionOutput);

/// Returns the outputs with one of the scripts. The reference asks for the kind of every output, so one on which it crashes
/// is a call error.
pub(crate) fn outputs_to<'a>(
    transaction: &'a BitcoinTransaction,
    scripts: &[Vec<u8>],
) -> Result<Vec<IndexedOutput<'a>>> {
    let mut found = Vec::new();
    for (index, output) in (0_u32..).zip(&transaction.outputs) {
        if scripts.contains(&output.script) {
            found.push((index, output));
        } else if output_kind(&output.script) == Err(ScriptError::KeyHash) {
            return Err(MethodFailure::Rejected);
        }
    }
    Ok(found)
}

/// Returns the sum of outputs, satoshis.
pub(crate) fn sum(outputs: &[IndexedOutput<'_>]) -> Result<i64> {
    let sum = outputs.iter().try_fold(0_i64, |sum, (_, output)| sum.checked_add(output.satoshis));
    sum.ok_or(MethodFailure::Rejected)
}

/// Returns outputs as coins.
pub(crate) fn coins_of(transaction: &BitcoinTransaction, outputs: &[IndexedOutput<'_>]) -> Vec<Coin> {
    let (txid, is_coinbase) = (display_id(transaction), transaction.is_coinbase());
    let coin = |(index, output): &IndexedOutput<'_>| Coin {
        satoshis: output.satoshis,
        script: output.script.clone(),
        txid,
        index: *index,
        height: 0,
        is_coinbase,
    };
    outputs.iter().map(coin).collect()
}

/// Returns the output scripts of federations, in the same order.
pub(crate) fn output_scripts(ctx: &CallContext<'_>, federations: &[Rc<Federation>]) -> Result<Vec<Vec<u8>>> {
    federations.iter().map(|federation| federation.output_script(ctx)).collect()
}

/// Adds the outputs to live federations to the coins of these federations, and marks the transaction as processed.
pub(crate) fn register_coins(
    storage: &mut Storage<'_>,
    ctx: &CallContext<'_>,
    transaction: &BitcoinTransaction,
) -> Result<()> {
    let script = federation::active(storage, ctx)?.output_script(ctx)?;
    let coins = coins_of(transaction, &outputs_to(transaction, &[script])?);
    federation::active_coins(storage, ctx)?.0.extend(coins);
    if let Some(retiring) = federation::retiring(storage, ctx)? {
        let coins = coins_of(transaction, &outputs_to(transaction, &[retiring.output_script(ctx)?])?);
        federation::retiring_coins(storage, ctx)?.0.extend(coins);
    }
    storage.set_processed(&display_id(transaction), ctx.call.block_number)
}
