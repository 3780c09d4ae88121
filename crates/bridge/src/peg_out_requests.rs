//! Peg-outs of one request each, until RSKIP-271 (docs/spec/bridge.md, 7.5.1).

use crate::balance_adjustment::burn_raised_change;
use crate::context::CallContext;
use crate::error::Result;
use crate::settlement::{CoinList, settle, spent_outpoints};
use crate::storage::Storage;
use crate::transaction_builder::build_peg_out;
use crate::wallet::FederationWallet;
use rhizome_primitives::Log;

/// Maximum number of requests that a call processes.
const REQUESTS_PER_CALL: usize = 30;

/// Pays the first requests of the queue. A request that cannot be paid moves to the end.
pub(crate) fn pay_requests(
    storage: &mut Storage<'_>,
    ctx: &CallContext<'_>,
    logs: &mut Vec<Log>,
    wallet: &mut FederationWallet,
) -> Result<()> {
    let queue = &mut storage.queue.get_mut(&mut storage.slots)?.0;
    let first: Vec<_> = queue.drain(..queue.len().min(REQUESTS_PER_CALL)).collect();
    let mut unpaid = Vec::new();
    for request in first {
        let Ok(built) = build_peg_out(storage, ctx, wallet, std::slice::from_ref(&request))? else {
            unpaid.push(request);
            continue;
        };
        let satoshis = request.satoshis as i64;
        settle(storage, ctx, logs, CoinList::Active, &built, request.hash, satoshis)?;
        wallet.coins.remove(&spent_outpoints(&built.transaction));
        burn_raised_change(storage, wallet, &built, satoshis)?;
    }
    storage.queue.get_mut(&mut storage.slots)?.0.extend(unpaid);
    Ok(())
}
