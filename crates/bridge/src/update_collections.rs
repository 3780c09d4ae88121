//! `updateCollections` (docs/spec/bridge.md, 7.3).

use crate::batches::pay_batch;
use crate::confirming::confirm;
use crate::context::CallContext;
use crate::error::Result;
use crate::events;
use crate::federation;
use crate::fee_per_kb::fee_per_kb;
use crate::migration::migrate;
use crate::peg_out_requests::pay_requests;
use crate::return_value::ReturnValue;
use crate::storage::Storage;
use crate::svp;
use crate::wallet::FederationWallet;
use rhizome_primitives::{Log, Rule};

/// Advances everything that waits: coins to migrate, requests, confirmations, a new federation.
pub(crate) fn update_collections(
    storage: &mut Storage<'_>,
    ctx: &CallContext<'_>,
    logs: &mut Vec<Log>,
) -> Result<ReturnValue> {
    federation::require_member(storage, ctx)?;
    events::update_collections(logs, ctx);
    migrate(storage, ctx, logs)?;
    process_requests(storage, ctx, logs)?;
    confirm(storage, ctx, logs)?;
    federation::update_creation_heights(storage, ctx)?;
    svp::update(storage, ctx, logs)?;
    Ok(ReturnValue::None)
}

fn process_requests(storage: &mut Storage<'_>, ctx: &CallContext<'_>, logs: &mut Vec<Log>) -> Result<()> {
    let mut wallet = FederationWallet::active(storage, ctx)?;
    storage.queue.get(&mut storage.slots)?;
    storage.confirmations.get(&mut storage.slots)?;
    fee_per_kb(storage, ctx)?;
    match ctx.has(Rule::Rskip271) {
        true => pay_batch(storage, ctx, logs, &mut wallet),
        false => pay_requests(storage, ctx, logs, &mut wallet),
    }
}
