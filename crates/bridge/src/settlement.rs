//! Settlement of a new peg-out (docs/spec/bridge.md, 7.5.3).

use crate::context::CallContext;
use crate::display_order::display_id;
use crate::error::{MethodFailure, Result};
use crate::events;
use crate::federation;
use crate::peg_out_index::index_hash;
use crate::storage::Storage;
use crate::transaction_builder::BuiltTransaction;
use rhizome_bitcoin::{BitcoinTransaction, TransactionInput, display};
use rhizome_primitives::{B256, Log, Rule};
use std::collections::HashSet;

/// The stored list of coins that a transaction spends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CoinList {
    Active,
    Retiring,
}

/// Removes the spent coins, lets the transaction wait for confirmations, indexes it and logs it. `hash` is the transaction
/// that caused it, `satoshis` the amount of the event.
pub(crate) fn settle(
    storage: &mut Storage<'_>,
    ctx: &CallContext<'_>,
    logs: &mut Vec<Log>,
    list: CoinList,
    built: &BuiltTransaction,
    hash: Option<B256>,
    satoshis: i64,
) -> Result<()> {
    let spent = spent_outpoints(&built.transaction);
    let coins = match list {
        CoinList::Active => federation::active_coins(storage, ctx)?,
        CoinList::Retiring => federation::retiring_coins(storage, ctx)?,
    };
    coins.0.retain(|coin| !spent.contains(&(coin.txid.0, coin.index)));
    wait_for_confirmations(storage, ctx, &built.transaction, hash)?;
    if ctx.has(Rule::Rskip379) {
        let index = index_hash(&built.transaction)?.ok_or(MethodFailure::Rejected)?;
        storage.index_peg_out(index)?;
    }
    log_request(ctx, logs, &built.transaction, hash, satoshis);
    record_input_values(storage, ctx, logs, &built.transaction, &built.input_values)
}

/// Returns the outpoints of the inputs: ids in display order, and indexes.
pub(crate) fn spent_outpoints(transaction: &BitcoinTransaction) -> HashSet<([u8; 32], u32)> {
    let outpoint = |input: &TransactionInput| (display(input.outpoint.txid), input.outpoint.index);
    transaction.inputs.iter().map(outpoint).collect()
}

/// Adds a transaction to the peg-outs that wait for confirmations, unless it is there.
pub(crate) fn wait_for_confirmations(
    storage: &mut Storage<'_>,
    ctx: &CallContext<'_>,
    transaction: &BitcoinTransaction,
    hash: Option<B256>,
) -> Result<()> {
    let hash = hash.filter(|_| ctx.has(Rule::Rskip146));
    storage.confirmations.get_mut(&mut storage.slots)?.add(transaction.clone(), ctx.call.block_number, hash);
    Ok(())
}

/// Logs the request of a peg-out, since RSKIP-146, if it has a hash.
pub(crate) fn log_request(
    ctx: &CallContext<'_>,
    logs: &mut Vec<Log>,
    transaction: &BitcoinTransaction,
    hash: Option<B256>,
    satoshis: i64,
) {
    if let Some(hash) = hash.filter(|_| ctx.has(Rule::Rskip146)) {
        events::release_requested(logs, hash, display_id(transaction), satoshis);
    }
}

/// Logs the values of the spent coins, since RSKIP-428, and stores them, since RSKIP-305. A second record is a call error.
pub(crate) fn record_input_values(
    storage: &mut Storage<'_>,
    ctx: &CallContext<'_>,
    logs: &mut Vec<Log>,
    transaction: &BitcoinTransaction,
    values: &[i64],
) -> Result<()> {
    if !ctx.has(Rule::Rskip428) {
        return Ok(());
    }
    let txid = display_id(transaction);
    events::peg_out_transaction_created(logs, txid, values);
    if !ctx.has(Rule::Rskip305) {
        return Ok(());
    }
    storage.set_outpoint_values(txid, values)
}
