//! Building of transactions that spend coins of federations (docs/spec/bridge.md, 7.5.5).

use crate::coin_selection::Selection;
use crate::context::CallContext;
use crate::error::{MethodFailure, Result};
use crate::fee_per_kb::fee_per_kb;
use crate::placeholders::SCRIPT_SIGNATURES;
use crate::slots::coins::Coin;
use crate::slots::release_queue::ReleaseRequest;
use crate::storage::Storage;
use crate::transaction_size::{MINIMUM_FEE_PER_KB, minimum_output, unsigned_size, weighted_size, with_script_sizes};
use crate::wallet::{FederationWallet, InputPlaceholder};
use rhizome_bitcoin::{
    BitcoinTransaction, Digest, OutPoint, TransactionInput, TransactionOutput, display, p2pkh_script,
};
use rhizome_primitives::Rule;
use std::rc::Rc;

/// Maximum size of a transaction, bytes.
const MAXIMUM_SIZE: usize = 100_000;
const FINAL_SEQUENCE: u32 = u32::MAX;

/// Why a transaction cannot be built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BuildFailure {
    /// The wallet has too few coins.
    Insufficient,
    /// A wanted output is dust.
    Dusty,
    /// An output would be dust after the fee.
    CannotAdjust,
    /// The transaction would be too large.
    TooBig,
}

/// A transaction without signatures, and the values of the coins that it spends.
pub(crate) struct BuiltTransaction {
    pub(crate) transaction: BitcoinTransaction,
    /// Satoshis, in the order of the inputs.
    pub(crate) input_values: Vec<i64>,
}

/// The outcome of a build that is no call error.
pub(crate) type BuildResult = std::result::Result<BuiltTransaction, BuildFailure>;

/// Builds a peg-out that pays all `requests`.
pub(crate) fn build_peg_out(
    storage: &mut Storage<'_>,
    ctx: &CallContext<'_>,
    wallet: &mut FederationWallet,
    requests: &[ReleaseRequest],
) -> Result<BuildResult> {
    let output = |request: &ReleaseRequest| TransactionOutput {
        satoshis: request.satoshis as i64,
        script: p2pkh_script(&request.destination),
    };
    let outputs = requests.iter().map(output).collect();
    let change_script = &wallet.spendings.own_script()?;
    build(storage, ctx, wallet, &OutputPlan { outputs, change_script, version: version(ctx), recipients_pay: true })
}

/// Builds a transaction that moves `satoshis` to the output script of another federation.
pub(crate) fn build_migration(
    storage: &mut Storage<'_>,
    ctx: &CallContext<'_>,
    wallet: &mut FederationWallet,
    to: &[u8],
    satoshis: i64,
) -> Result<BuildResult> {
    let version = if ctx.has(Rule::Rskip376) { version(ctx) } else { 1 };
    let outputs = vec![TransactionOutput { satoshis, script: to.to_vec() }];
    build(storage, ctx, wallet, &OutputPlan { outputs, change_script: to, version, recipients_pay: true })
}

/// Builds a transaction of the active federation with these outputs. The change pays the fee.
pub(crate) fn build_svp_fund(
    storage: &mut Storage<'_>,
    ctx: &CallContext<'_>,
    outputs: Vec<TransactionOutput>,
) -> Result<BuildResult> {
    let wallet = &mut FederationWallet::active(storage, ctx)?;
    let change_script = &wallet.spendings.own_script()?;
    build(storage, ctx, wallet, &OutputPlan { outputs, change_script, version: version(ctx), recipients_pay: false })
}

/// Builds a transaction that pays all coins of the wallet, less the fee, to one output script.
pub(crate) fn build_empty_wallet(
    storage: &mut Storage<'_>,
    ctx: &CallContext<'_>,
    wallet: &mut FederationWallet,
    to: &[u8],
) -> Result<BuildResult> {
    let fee_per_kb = satoshis_per_kb(storage, ctx)?;
    let FederationWallet { coins, spendings } = wallet;
    let selection = coins.select_all();
    let used = spendings.of_all(storage, ctx, selection.coins)?;
    let mut output = TransactionOutput { satoshis: selection.satoshis, script: to.to_vec() };
    let size = estimated_size(spendings.is_segwit(), &used, std::slice::from_ref(&output));
    let fee = fee_for(fee_per_kb, size)?.max(MINIMUM_FEE_PER_KB);
    output.satoshis = subtract(output.satoshis, fee)?;
    if is_dust(&output) {
        return Ok(Err(BuildFailure::CannotAdjust));
    }
    assemble(version(ctx), selection, &used, vec![output], spendings.is_segwit())
}

/// Returns the version of all transactions but migrations.
fn version(ctx: &CallContext<'_>) -> u32 {
    if ctx.has(Rule::Rskip201) { 2 } else { 1 }
}

/// The outputs to build.
struct OutputPlan<'a> {
    outputs: Vec<TransactionOutput>,
    change_script: &'a [u8],
    version: u32,
    /// True if the outputs pay the fee, false if the change pays it.
    recipients_pay: bool,
}

fn build(
    storage: &mut Storage<'_>,
    ctx: &CallContext<'_>,
    wallet: &mut FederationWallet,
    plan: &OutputPlan<'_>,
) -> Result<BuildResult> {
    let fee_per_kb = satoshis_per_kb(storage, ctx)?.max(MINIMUM_FEE_PER_KB);
    let FederationWallet { coins, spendings } = wallet;
    let mut wanted = 0_i64;
    for output in &plan.outputs {
        wanted = wanted.checked_add(output.satoshis).ok_or(MethodFailure::Rejected)?;
    }
    if plan.outputs.iter().any(is_dust) {
        return Ok(Err(BuildFailure::Dusty));
    }
    let mut fee = 0;
    loop {
        let mut outputs = plan.outputs.clone();
        let mut target = wanted;
        if plan.recipients_pay {
            if let Err(failure) = subtract_fee(&mut outputs, fee)? {
                return Ok(Err(failure));
            }
        } else {
            target = target.checked_add(fee).ok_or(MethodFailure::Rejected)?;
        }
        let selection = coins.select(target);
        if selection.satoshis < target {
            return Ok(Err(BuildFailure::Insufficient));
        }
        let change = subtract(selection.satoshis, target)?;
        if change > 0 {
            let mut output = TransactionOutput { satoshis: change, script: plan.change_script.to_vec() };
            let missing = subtract(minimum_output(output.script.len()), change)?;
            if missing <= 0 {
                outputs.push(output);
            } else if plan.recipients_pay {
                output.satoshis = minimum_output(output.script.len());
                let first = outputs.first_mut().ok_or(MethodFailure::Rejected)?;
                first.satoshis = subtract(first.satoshis, missing)?;
                if is_dust(first) {
                    return Ok(Err(BuildFailure::CannotAdjust));
                }
                outputs.push(output);
            } else {
                fee += change;
            }
        }
        let used = spendings.of_all(storage, ctx, selection.coins)?;
        let needed = fee_for(fee_per_kb, estimated_size(spendings.is_segwit(), &used, &outputs))?;
        if fee >= needed {
            return assemble(plan.version, selection, &used, outputs, spendings.is_segwit());
        }
        fee = needed;
    }
}

/// Takes an equal part of the fee from each output. The first one also pays the remainder.
fn subtract_fee(outputs: &mut [TransactionOutput], fee: i64) -> Result<std::result::Result<(), BuildFailure>> {
    let count = outputs.len() as i64;
    let share = fee.checked_div(count).ok_or(MethodFailure::Rejected)?;
    let mut remainder = fee % count;
    for output in outputs {
        output.satoshis = subtract(subtract(output.satoshis, share)?, remainder)?;
        remainder = 0;
        if is_dust(output) {
            return Ok(Err(BuildFailure::CannotAdjust));
        }
    }
    Ok(Ok(()))
}

/// Makes the transaction, unless it is too large. A transaction with witnesses is measured without scripts and witnesses.
fn assemble(
    version: u32,
    selection: Selection<'_>,
    used: &[Rc<InputPlaceholder>],
    outputs: Vec<TransactionOutput>,
    is_segwit: bool,
) -> Result<BuildResult> {
    if !is_segwit && used.iter().any(|placeholder| placeholder.required_signatures > SCRIPT_SIGNATURES) {
        return Err(MethodFailure::Rejected);
    }
    let unsigned = unsigned_size(used.len(), outputs.iter().map(|output| output.script.len()));
    let size = match is_segwit {
        true => unsigned,
        false => with_script_sizes(unsigned, used.iter().map(|placeholder| placeholder.script.len())),
    };
    if size > MAXIMUM_SIZE {
        return Ok(Err(BuildFailure::TooBig));
    }
    let input = |(coin, placeholder): (&Rc<Coin>, &Rc<InputPlaceholder>)| TransactionInput {
        outpoint: OutPoint { txid: display(Digest::from(coin.txid.0)), index: coin.index },
        script: placeholder.script.clone(),
        sequence: FINAL_SEQUENCE,
        witness: placeholder.witness.clone(),
    };
    let inputs = selection.coins.iter().zip(used).map(input).collect();
    let input_values = selection.coins.iter().map(|coin| coin.satoshis).collect();
    Ok(Ok(BuiltTransaction {
        transaction: BitcoinTransaction { version, inputs, outputs, lock_time: 0 },
        input_values,
    }))
}

/// Returns the size that the fee pays for.
fn estimated_size(is_segwit: bool, used: &[Rc<InputPlaceholder>], outputs: &[TransactionOutput]) -> usize {
    let unsigned = unsigned_size(used.len(), outputs.iter().map(|output| output.script.len()));
    let signing = used.iter().map(|placeholder| placeholder.estimated_size).sum();
    if is_segwit { weighted_size(unsigned, used.len(), signing) } else { unsigned + signing }
}

fn satoshis_per_kb(storage: &mut Storage<'_>, ctx: &CallContext<'_>) -> Result<i64> {
    i64::try_from(fee_per_kb(storage, ctx)?).map_err(|_overflow| MethodFailure::Rejected)
}

fn fee_for(fee_per_kb: i64, size: usize) -> Result<i64> {
    Ok(fee_per_kb.checked_mul(size as i64).ok_or(MethodFailure::Rejected)? / 1000)
}

fn subtract(a: i64, b: i64) -> Result<i64> {
    a.checked_sub(b).ok_or(MethodFailure::Rejected)
}

fn is_dust(output: &TransactionOutput) -> bool {
    output.satoshis < minimum_output(output.script.len())
}
