//! Batches of peg-outs, since RSKIP-271 (docs/spec/bridge.md, 7.5.2).

use crate::balance_adjustment::burn_raised_change;
use crate::context::CallContext;
use crate::display_order::display_id;
use crate::error::{MethodFailure, Result};
use crate::events;
use crate::settlement::{CoinList, settle};
use crate::slots::release_queue::ReleaseRequest;
use crate::storage::Storage;
use crate::transaction_builder::{BuildFailure, build_peg_out};
use crate::wallet::FederationWallet;
use rhizome_primitives::{B256, Log, Rule};
use std::collections::HashSet;

/// Pays the queued requests with one transaction once a batch is due. If the transaction would be too large, pays only the
/// first half of them, or half of that. The event and the adjustment of
/// balances nevertheless use the amount of all requests.
pub(crate) fn pay_batch(
    storage: &mut Storage<'_>,
    ctx: &CallContext<'_>,
    logs: &mut Vec<Log>,
    wallet: &mut FederationWallet,
) -> Result<()> {
    let number = ctx.call.block_number;
    if number < next_peg_out_height(storage, ctx)? {
        return Ok(());
    }
    let requests = storage.queue.get(&mut storage.slots)?.0.clone();
    let satoshis = total(&requests)?;
    if wallet.coins.balance() < satoshis {
        return Ok(());
    }
    if !requests.is_empty() {
        let mut paid = &requests[..];
        let mut outcome = build_peg_out(storage, ctx, wallet, paid)?;
        while paid.len() > 1 && matches!(outcome, Err(BuildFailure::TooBig)) {
            paid = &paid[..paid.len() / 2];
            outcome = build_peg_out(storage, ctx, wallet, paid)?;
        }
        let Ok(built) = outcome else { return Ok(()) };
        settle(storage, ctx, logs, CoinList::Active, &built, Some(ctx.call.transaction_hash), satoshis)?;
        // Requests equal to a paid one go, too.
        let removed: HashSet<&ReleaseRequest> = paid.iter().collect();
        storage.queue.get_mut(&mut storage.slots)?.0.retain(|request| !removed.contains(request));
        let hashes: Option<Vec<B256>> = paid.iter().map(|request| request.hash).collect();
        let txid = display_id(&built.transaction);
        events::batch_peg_out_created(logs, txid, &hashes.ok_or(MethodFailure::Rejected)?);
        burn_raised_change(storage, wallet, &built, satoshis)?;
    }
    if storage.queue.get(&mut storage.slots)?.0.is_empty() {
        storage.next_peg_out_height.set(number.checked_add(ctx.constants.blocks_between_batches));
    }
    Ok(())
}

/// Returns the RSK height of the next batch of peg-outs; 0 until RSKIP-271. Sets 0 if the height is absent.
pub(crate) fn next_peg_out_height(storage: &mut Storage<'_>, ctx: &CallContext<'_>) -> Result<u64> {
    if !ctx.has(Rule::Rskip271) {
        return Ok(0);
    }
    Ok(*storage.next_peg_out_height.get_mut(&mut storage.slots)?.get_or_insert_default())
}

fn total(requests: &[ReleaseRequest]) -> Result<i64> {
    let mut sum = 0_i64;
    for request in requests {
        sum = sum.checked_add(request.satoshis as i64).ok_or(MethodFailure::Rejected)?;
    }
    Ok(sum)
}
