//! Commit of a federation, and hand-over to it (docs/spec/bridge.md, 8.4 and 8.6).

use crate::context::CallContext;
use crate::error::{MethodFailure, Result};
use crate::events;
use crate::federation::{self, Federation, FederationVersion};
use crate::slots::pending_federation::PendingFederation;
use crate::slots::slot::{ClearableHeight, StoredScript};
use crate::storage::Storage;
use rhizome_primitives::{Log, Rule};
use std::rc::Rc;

/// Commits the pending federation. Since RSKIP-419 it becomes the proposed federation, before that the new one.
pub(crate) fn commit(
    storage: &mut Storage<'_>,
    ctx: &CallContext<'_>,
    logs: &mut Vec<Log>,
    pending: &PendingFederation,
) -> Result<()> {
    let federation = Rc::new(build(ctx, pending)?);
    let old = if ctx.has(Rule::Rskip419) {
        storage.federations.proposed.set(Some(Rc::clone(&federation)));
        federation::active(storage, ctx)?
    } else {
        hand_over(storage, ctx, &federation)?
    };
    storage.pending.set(None);
    storage.federation_election.get_mut(&mut storage.slots)?.clear();
    let activation = ctx.call.block_number.checked_add(federation::activation_age(ctx));
    let activation = activation.ok_or(MethodFailure::Rejected)?;
    events::commit_federation(logs, ctx, &old, &federation, activation)
}

/// Makes a federation the new one, and the active federation the old one, which is returned.
pub(crate) fn hand_over(
    storage: &mut Storage<'_>,
    ctx: &CallContext<'_>,
    new: &Rc<Federation>,
) -> Result<Rc<Federation>> {
    let coins = std::mem::take(storage.new_coins.get_mut(&mut storage.slots)?);
    *storage.old_coins.get_mut(&mut storage.slots)? = coins;
    let old = federation::active(storage, ctx)?;
    storage.federations.old.set(Some(Rc::clone(&old)));
    storage.federations.new.set(Some(Rc::clone(new)));
    if ctx.has(Rule::Rskip186) {
        // A proposed federation may be old enough to be active already; then the script is its own.
        let retired = federation::active(storage, ctx)?;
        let script = match ctx.has(Rule::Rskip377) && retired.is_erp() {
            true => retired.standard_output_script(ctx)?,
            false => retired.output_script(ctx)?,
        };
        storage.federations.last_retired_script.set(StoredScript(Some(script)));
        storage.federations.next_creation_height.set(ClearableHeight(Some(new.creation_block)));
    }
    Ok(old)
}

fn build(ctx: &CallContext<'_>, pending: &PendingFederation) -> Result<Federation> {
    let version = match (ctx.has(Rule::Rskip201), ctx.has(Rule::Rskip353), ctx.has(Rule::Rskip305)) {
        (_, _, true) => FederationVersion::P2wshErp,
        (_, true, _) => FederationVersion::P2shErp,
        (true, false, _) => FederationVersion::NonStandardErp,
        (false, false, _) => FederationVersion::Standard,
    };
    // Until RSKIP-419 the reference takes seconds for milliseconds.
    let factor = if ctx.has(Rule::Rskip419) { 1000 } else { 1 };
    let creation_time = i64::try_from(ctx.call.block_timestamp).ok().and_then(|time| time.checked_mul(factor));
    let federation = Federation {
        version,
        members: pending.members.clone(),
        creation_time: creation_time.ok_or(MethodFailure::Rejected)?,
        creation_block: ctx.call.block_number,
    };
    // A script that is too large cannot be built.
    federation.redeem_script(ctx)?;
    Ok(federation)
}
