//! The union bridge: amount lent, limits, permissions and events (RSKIP-502, RSKIP-529; docs/spec/bridge.md, 9.8 and 9.9).

use crate::constants::{Authorizer, INITIAL_UNION_CAP};
use crate::context::CallContext;
use crate::error::{MethodFailure, Result};
use crate::events;
use crate::return_value::ReturnValue;
use crate::slots::access::SlotAccess;
use crate::slots::slot::Slot;
use crate::storage::{Storage, UnionSlots};
use rhizome_primitives::{Address, BRIDGE, Bytes, I256, Log, U256};

const SUCCESS: i64 = 0;
const NOT_AUTHORIZED: i64 = -1;
const INVALID: i64 = -2;
const DISABLED: i64 = -3;
/// Maximum size of a super or base event, bytes.
const EVENT_SIZE_LIMIT: usize = 128;

/// One of the two events that the union bridge stores here.
#[derive(Clone, Copy)]
pub(crate) enum UnionEvent {
    Super,
    Base,
}

impl UnionEvent {
    fn slot(self, union: &mut UnionSlots) -> &mut Slot<Bytes> {
        match self {
            Self::Super => &mut union.super_event,
            Self::Base => &mut union.base_event,
        }
    }
}

fn require_authorizer(ctx: &CallContext<'_>, authorizer: &Authorizer) -> Result<()> {
    if authorizer.contains(&ctx.caller()) { Ok(()) } else { Err(MethodFailure::Rejected) }
}

/// Returns the address of the union bridge; the zero address if it is not set.
fn union_contract(storage: &mut Storage<'_>, ctx: &CallContext<'_>) -> Result<Address> {
    if !ctx.constants.has_union_bridge {
        return Ok(Address::ZERO);
    }
    Ok(storage.union.address.get(&mut storage.slots)?.unwrap_or_default())
}

fn is_union_contract(storage: &mut Storage<'_>, ctx: &CallContext<'_>) -> Result<bool> {
    Ok(union_contract(storage, ctx)? == ctx.caller())
}

fn cap(storage: &mut Storage<'_>) -> Result<U256> {
    Ok(storage.union.cap.get(&mut storage.slots)?.unwrap_or(U256::from(INITIAL_UNION_CAP)))
}

/// Returns whether requests and releases are enabled.
fn permissions(storage: &mut Storage<'_>) -> Result<[bool; 2]> {
    let is_enabled = |slot: &mut Slot<Option<bool>>, slots: &mut SlotAccess<'_>| {
        Ok::<_, MethodFailure>(slot.get(slots)?.unwrap_or(true))
    };
    let UnionSlots { requests, releases, .. } = &mut storage.union;
    Ok([is_enabled(requests, &mut storage.slots)?, is_enabled(releases, &mut storage.slots)?])
}

fn change_permissions(storage: &mut Storage<'_>, [requests, releases]: [bool; 2]) {
    storage.union.requests.set(Some(requests));
    storage.union.releases.set(Some(releases));
}

pub(crate) fn address(storage: &mut Storage<'_>, ctx: &CallContext<'_>) -> Result<ReturnValue> {
    Ok(ReturnValue::Word(union_contract(storage, ctx)?.into_word().into()))
}

pub(crate) fn locking_cap(storage: &mut Storage<'_>) -> Result<ReturnValue> {
    Ok(ReturnValue::Word(cap(storage)?))
}

pub(crate) fn set_address(storage: &mut Storage<'_>, ctx: &CallContext<'_>, address: Address) -> Result<ReturnValue> {
    if !ctx.constants.has_union_bridge {
        return Err(MethodFailure::Rejected);
    }
    require_authorizer(ctx, &ctx.constants.union_address_change)?;
    storage.union.address.set(Some(address));
    Ok(ReturnValue::code(SUCCESS))
}

pub(crate) fn increase_cap(
    storage: &mut Storage<'_>,
    ctx: &CallContext<'_>,
    logs: &mut Vec<Log>,
    next: I256,
) -> Result<ReturnValue> {
    require_authorizer(ctx, &ctx.constants.union_cap_change)?;
    let current = cap(storage)?;
    let Ok(next) = U256::try_from(next) else { return Ok(ReturnValue::code(INVALID)) };
    if next <= current || next > current.saturating_mul(U256::from(2)) {
        return Ok(ReturnValue::code(INVALID));
    }
    storage.union.cap.set(Some(next));
    events::union_cap_increased(logs, ctx, current, next);
    Ok(ReturnValue::code(SUCCESS))
}

/// Lends `amount` wei to the union bridge.
pub(crate) fn request(
    storage: &mut Storage<'_>,
    ctx: &CallContext<'_>,
    logs: &mut Vec<Log>,
    amount: I256,
) -> Result<ReturnValue> {
    if !is_union_contract(storage, ctx)? {
        return Ok(ReturnValue::code(NOT_AUTHORIZED));
    }
    let [is_enabled, _] = permissions(storage)?;
    if !is_enabled {
        return Ok(ReturnValue::code(DISABLED));
    }
    let amount = U256::try_from(amount).unwrap_or_default();
    let lent = storage.union.lent.get(&mut storage.slots)?.unwrap_or_default().saturating_add(amount);
    if amount.is_zero() || lent > cap(storage)? {
        return Ok(ReturnValue::code(INVALID));
    }
    storage.union.lent.set(Some(lent));
    storage.slots.pay(ctx.caller(), amount)?;
    events::union_requested(logs, ctx, amount);
    Ok(ReturnValue::code(SUCCESS))
}

/// Accepts the value of the call as a repayment. With a negative code the caller is refunded.
pub(crate) fn release(storage: &mut Storage<'_>, ctx: &CallContext<'_>, logs: &mut Vec<Log>) -> Result<ReturnValue> {
    let value = ctx.call.value;
    let result = accept_repayment(storage, ctx, logs, value)?;
    if result != SUCCESS && !value.is_zero() {
        storage.slots.pay(ctx.caller(), value)?;
    }
    Ok(ReturnValue::code(result))
}

fn accept_repayment(storage: &mut Storage<'_>, ctx: &CallContext<'_>, logs: &mut Vec<Log>, value: U256) -> Result<i64> {
    if !is_union_contract(storage, ctx)? {
        return Ok(NOT_AUTHORIZED);
    }
    let [_, is_enabled] = permissions(storage)?;
    if !is_enabled {
        return Ok(DISABLED);
    }
    if value.is_zero() {
        return Ok(INVALID);
    }
    let lent = storage.union.lent.get(&mut storage.slots)?.unwrap_or_default();
    match lent.checked_sub(value) {
        Some(rest) => {
            storage.union.lent.set(Some(rest));
            events::union_released(logs, ctx, value);
            Ok(SUCCESS)
        }
        None => {
            change_permissions(storage, [false; 2]);
            events::union_permissions_updated(logs, BRIDGE, [false; 2]);
            Ok(INVALID)
        }
    }
}

/// Enables or disables requests and releases.
pub(crate) fn set_permissions(
    storage: &mut Storage<'_>,
    ctx: &CallContext<'_>,
    logs: &mut Vec<Log>,
    next: [bool; 2],
) -> Result<ReturnValue> {
    require_authorizer(ctx, &ctx.constants.union_permission_change)?;
    if permissions(storage)? != next {
        change_permissions(storage, next);
        events::union_permissions_updated(logs, ctx.caller(), next);
    }
    Ok(ReturnValue::code(SUCCESS))
}

pub(crate) fn event(storage: &mut Storage<'_>, event: UnionEvent) -> Result<ReturnValue> {
    Ok(ReturnValue::Bytes(event.slot(&mut storage.union).get(&mut storage.slots)?.to_vec()))
}

/// Stores an event. Empty data delete it.
pub(crate) fn set_event(
    storage: &mut Storage<'_>,
    ctx: &CallContext<'_>,
    event: UnionEvent,
    data: &[u8],
) -> Result<ReturnValue> {
    if !is_union_contract(storage, ctx)? || data.len() > EVENT_SIZE_LIMIT {
        return Err(MethodFailure::Rejected);
    }
    event.slot(&mut storage.union).set(Bytes::copy_from_slice(data));
    Ok(ReturnValue::None)
}
