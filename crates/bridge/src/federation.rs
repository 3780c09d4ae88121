//! The active federation and the federations beside it (docs/spec/bridge.md, 8.5). Only the genesis federation is
//! implemented.

use crate::context::CallContext;
use crate::error::{MethodFailure, Result, not_implemented};
use crate::genesis_federation::{genesis_federation, genesis_keys};
use crate::return_value::ReturnValue;
use crate::scripts::{redeem_script, threshold};
use crate::slots::keys;
use crate::storage::Storage;
use rhizome_primitives::{Address, I256, Network, Rule};

/// The block in which the genesis federation counts as created.
const CREATION_BLOCK: u64 = 1;
/// Size, threshold, time and block number of an absent federation.
const ABSENT: I256 = I256::MINUS_ONE;

/// The roles of federations that are not active.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Retiring,
    Proposed,
}

/// A property of a federation.
#[derive(Clone, Copy)]
pub(crate) enum FederationProperty {
    Address,
    Size,
    Threshold,
    CreationTime,
    CreationBlock,
}

/// Returns true if the address belongs to a member of the genesis federation.
pub(crate) fn is_genesis_member(network: Network, address: &Address) -> bool {
    genesis_federation(network).is_some_and(|members| members.contains(address))
}

/// Fails if a federation was ever committed. Until then the genesis federation is active and is the only one.
pub(crate) fn require_genesis_federation(storage: &mut Storage<'_>) -> Result<()> {
    storage.slots.require_absent(&keys::NEW_FEDERATION)?;
    storage.slots.require_absent(&keys::OLD_FEDERATION)
}

/// Fails if there is a federation in the role.
pub(crate) fn require_no(storage: &mut Storage<'_>, ctx: &CallContext<'_>, role: Role) -> Result<()> {
    match role {
        Role::Retiring => require_genesis_federation(storage),
        Role::Proposed if ctx.has(Rule::Rskip419) => storage.slots.require_absent(&keys::PROPOSED_FEDERATION),
        Role::Proposed => Ok(()),
    }
}

/// Returns the keys of the active federation in the order of its members.
pub(crate) fn active_keys(storage: &mut Storage<'_>, ctx: &CallContext<'_>) -> Result<Vec<[u8; 33]>> {
    require_genesis_federation(storage)?;
    genesis_keys(ctx.call.network).ok_or_else(|| not_implemented("genesis federation", 0))
}

/// Rejects callers that are not members of a live federation.
pub(crate) fn require_member(storage: &mut Storage<'_>, ctx: &CallContext<'_>) -> Result<()> {
    require_genesis_federation(storage)?;
    if is_genesis_member(ctx.call.network, &ctx.caller()) { Ok(()) } else { Err(MethodFailure::Rejected) }
}

pub(crate) fn active_property(
    storage: &mut Storage<'_>,
    ctx: &CallContext<'_>,
    property: FederationProperty,
) -> Result<ReturnValue> {
    let size = active_keys(storage, ctx)?.len() as u64;
    let creation_time = ctx.constants.federation_creation;
    Ok(match property {
        FederationProperty::Address => ReturnValue::Bytes(ctx.constants.federation_address.into()),
        FederationProperty::Size => ReturnValue::number(size),
        FederationProperty::Threshold => ReturnValue::number(threshold(size)),
        FederationProperty::CreationTime if ctx.has(Rule::Rskip419) => ReturnValue::number(creation_time / 1000),
        FederationProperty::CreationTime => ReturnValue::number(creation_time),
        FederationProperty::CreationBlock => ReturnValue::number(CREATION_BLOCK),
    })
}

/// Returns a property of an absent federation. Fails if there is a federation in the role.
pub(crate) fn other_property(
    storage: &mut Storage<'_>,
    ctx: &CallContext<'_>,
    role: Role,
    property: FederationProperty,
) -> Result<ReturnValue> {
    require_no(storage, ctx, role)?;
    Ok(match property {
        FederationProperty::Address => ReturnValue::Bytes(Vec::new()),
        _ => ReturnValue::Word(ABSENT.into_raw()),
    })
}

/// Returns the key of a member. Members of the genesis federation use one key for everything.
pub(crate) fn active_key(storage: &mut Storage<'_>, ctx: &CallContext<'_>, index: i32) -> Result<ReturnValue> {
    let keys = active_keys(storage, ctx)?;
    let key = usize::try_from(index).ok().and_then(|index| keys.get(index));
    key.map(|key| ReturnValue::Bytes(key.to_vec())).ok_or(MethodFailure::Rejected)
}

/// Returns the key of a member of an absent federation. Fails if there is a federation in the role.
pub(crate) fn other_key(storage: &mut Storage<'_>, ctx: &CallContext<'_>, role: Role) -> Result<ReturnValue> {
    require_no(storage, ctx, role)?;
    Ok(ReturnValue::Bytes(Vec::new()))
}

pub(crate) fn active_redeem_script(storage: &mut Storage<'_>, ctx: &CallContext<'_>) -> Result<ReturnValue> {
    Ok(ReturnValue::Bytes(redeem_script(&active_keys(storage, ctx)?)))
}

pub(crate) fn active_creation_height(storage: &mut Storage<'_>) -> Result<ReturnValue> {
    storage.slots.require_absent(&keys::NEXT_CREATION_HEIGHT)?;
    storage.slots.require_absent(&keys::ACTIVE_CREATION_HEIGHT)?;
    Ok(ReturnValue::number(0))
}
