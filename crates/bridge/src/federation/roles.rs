//! Which federation has which role, and the coins of each (docs/spec/bridge.md, 8.5 to 8.7).

use super::{Federation, FederationVersion};
use crate::context::CallContext;
use crate::error::{MethodFailure, Result};
use crate::genesis_federation::genesis_keys;
use crate::slots::coins::Coins;
use crate::slots::pending_federation::FederationMember;
use crate::slots::slot::ClearableHeight;
use crate::storage::Storage;
use rhizome_primitives::Rule;
use std::rc::Rc;

/// The block in which the genesis federation counts as created.
const GENESIS_CREATION_BLOCK: u64 = 1;

/// The federations that can exist beside each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Active,
    /// The predecessor of the active federation, while its coins migrate.
    Retiring,
    /// Committed, but not validated (RSKIP-419).
    Proposed,
}

/// Returns the federation in a role.
pub(crate) fn federation(
    storage: &mut Storage<'_>,
    ctx: &CallContext<'_>,
    role: Role,
) -> Result<Option<Rc<Federation>>> {
    match role {
        Role::Active => active(storage, ctx).map(Some),
        Role::Retiring => retiring(storage, ctx),
        Role::Proposed => proposed(storage, ctx),
    }
}

/// Returns the active federation. Until the first one is committed, that is the genesis federation.
pub(crate) fn active(storage: &mut Storage<'_>, ctx: &CallContext<'_>) -> Result<Rc<Federation>> {
    let Some(new) = new_federation(storage)? else { return genesis(ctx) };
    match waiting_predecessor(storage, ctx, &new)? {
        Some(old) => Ok(old),
        None => Ok(new),
    }
}

/// Returns the predecessor of the active federation, until its coins have migrated.
pub(crate) fn retiring(storage: &mut Storage<'_>, ctx: &CallContext<'_>) -> Result<Option<Rc<Federation>>> {
    let Some(new) = new_federation(storage)? else { return Ok(None) };
    let old = storage.federations.old.get(&mut storage.slots)?.clone();
    Ok(old.filter(|_old| is_old_enough(ctx, &new)))
}

/// Returns the federation that is committed, but not validated.
pub(crate) fn proposed(storage: &mut Storage<'_>, ctx: &CallContext<'_>) -> Result<Option<Rc<Federation>>> {
    if !ctx.has(Rule::Rskip419) {
        return Ok(None);
    }
    Ok(storage.federations.proposed.get(&mut storage.slots)?.clone())
}

/// Returns the federations that the Bridge accepts coins for: the active one, then the retiring one if there is one.
pub(crate) fn live(storage: &mut Storage<'_>, ctx: &CallContext<'_>) -> Result<Vec<Rc<Federation>>> {
    let mut federations = vec![active(storage, ctx)?];
    federations.extend(retiring(storage, ctx)?);
    Ok(federations)
}

/// Returns true if a committed federation waits for its activation.
pub(crate) fn is_activation_pending(storage: &mut Storage<'_>, ctx: &CallContext<'_>) -> Result<bool> {
    let Some(new) = new_federation(storage)? else { return Ok(false) };
    Ok(waiting_predecessor(storage, ctx, &new)?.is_some())
}

/// Rejects callers that are not members of a live federation.
pub(crate) fn require_member(storage: &mut Storage<'_>, ctx: &CallContext<'_>) -> Result<()> {
    let live = live(storage, ctx)?;
    let is_member = live.iter().any(|federation| federation.member_at(&ctx.caller()).is_some());
    if is_member { Ok(()) } else { Err(MethodFailure::Rejected) }
}

/// Returns the coins of the active federation.
pub(crate) fn active_coins<'s>(storage: &'s mut Storage<'_>, ctx: &CallContext<'_>) -> Result<&'s mut Coins> {
    let coins = match is_activation_pending(storage, ctx)? {
        true => &mut storage.old_coins,
        false => &mut storage.new_coins,
    };
    coins.get_mut(&mut storage.slots)
}

/// Returns the coins of the retiring federation; no coins if there is none.
pub(crate) fn retiring_coins<'s>(storage: &'s mut Storage<'_>, _ctx: &CallContext<'_>) -> Result<&'s mut Coins> {
    storage.old_coins.get_mut(&mut storage.slots)
}

/// Forgets the retiring federation. Its coins stay.
pub(crate) fn forget_retiring(storage: &mut Storage<'_>) {
    storage.federations.old.set(None);
}

/// Returns the number of blocks from the creation of a federation to its activation.
pub(crate) fn activation_age(ctx: &CallContext<'_>) -> u64 {
    let [legacy, middle, current] = ctx.constants.activation_ages;
    match (ctx.has(Rule::Rskip383), ctx.has(Rule::Rskip419)) {
        (false, _) => legacy,
        (true, false) => middle,
        (true, true) => current,
    }
}

/// Returns the ages of the active federation at which the migration begins and ends, both exclusive.
pub(crate) fn migration_ages(ctx: &CallContext<'_>) -> (u64, u64) {
    let [begin, end] = ctx.constants.migration_ages;
    let is_long = ctx.has(Rule::Rskip357) && !ctx.has(Rule::Rskip374);
    let end = ctx.constants.long_migration_end.filter(|_end| is_long).unwrap_or(end);
    let activation = activation_age(ctx);
    (activation + begin, activation + end)
}

/// Returns the creation height of the active federation as `updateCollections` records it (RSKIP-186).
pub(crate) fn recorded_creation_height(storage: &mut Storage<'_>, ctx: &CallContext<'_>) -> Result<u64> {
    if !ctx.has(Rule::Rskip186) {
        return Ok(0);
    }
    let next = storage.federations.next_creation_height.get(&mut storage.slots)?.0;
    if let Some(height) = next.filter(|height| is_activated(ctx, *height)) {
        return Ok(height);
    }
    Ok(storage.federations.active_creation_height.get(&mut storage.slots)?.unwrap_or_default())
}

/// Records the creation height of a federation that has become active.
pub(crate) fn update_creation_heights(storage: &mut Storage<'_>, ctx: &CallContext<'_>) -> Result<()> {
    if !ctx.has(Rule::Rskip186) {
        return Ok(());
    }
    let next = storage.federations.next_creation_height.get(&mut storage.slots)?.0;
    if let Some(height) = next.filter(|height| is_activated(ctx, *height)) {
        storage.federations.active_creation_height.set(Some(height));
        storage.federations.next_creation_height.set(ClearableHeight(None));
    }
    Ok(())
}

fn new_federation(storage: &mut Storage<'_>) -> Result<Option<Rc<Federation>>> {
    Ok(storage.federations.new.get(&mut storage.slots)?.clone())
}

/// Returns the old federation while the new one is too young to be active.
fn waiting_predecessor(
    storage: &mut Storage<'_>,
    ctx: &CallContext<'_>,
    new: &Federation,
) -> Result<Option<Rc<Federation>>> {
    let old = storage.federations.old.get(&mut storage.slots)?.clone();
    Ok(old.filter(|_old| !is_old_enough(ctx, new)))
}

fn is_old_enough(ctx: &CallContext<'_>, federation: &Federation) -> bool {
    is_activated(ctx, federation.creation_block)
}

fn is_activated(ctx: &CallContext<'_>, creation_block: u64) -> bool {
    creation_block.checked_add(activation_age(ctx)).is_some_and(|activation| ctx.call.block_number >= activation)
}

/// Returns the genesis federation.
fn genesis(ctx: &CallContext<'_>) -> Result<Rc<Federation>> {
    let keys = genesis_keys(ctx.call.network).ok_or(MethodFailure::Rejected)?;
    let creation_time =
        i64::try_from(ctx.constants.federation_creation).map_err(|_too_late| MethodFailure::Rejected)?;
    Ok(Rc::new(Federation {
        version: FederationVersion::Standard,
        members: keys.into_iter().map(FederationMember::with_one_key).collect(),
        creation_time,
        creation_block: GENESIS_CREATION_BLOCK,
    }))
}
