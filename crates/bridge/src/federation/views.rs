//! Methods that return properties of federations (docs/spec/bridge.md, 2.4).

use super::roles::{Role, active, federation, recorded_creation_height};
use crate::context::CallContext;
use crate::error::{MethodFailure, Result};
use crate::federation_votes::KeyType;
use crate::public_key::encoded;
use crate::return_value::ReturnValue;
use crate::storage::Storage;
use rhizome_primitives::Rule;

/// Size, threshold, time and block number of an absent federation.
const ABSENT: i64 = -1;

/// A property of a federation.
#[derive(Clone, Copy)]
pub(crate) enum FederationProperty {
    Address,
    Size,
    Threshold,
    CreationTime,
    CreationBlock,
}

/// Returns a property of the federation in a role: an empty address or -1 if there is none.
pub(crate) fn property(
    storage: &mut Storage<'_>,
    ctx: &CallContext<'_>,
    role: Role,
    property: FederationProperty,
) -> Result<ReturnValue> {
    let Some(federation) = federation(storage, ctx, role)? else {
        return Ok(match property {
            FederationProperty::Address => ReturnValue::Bytes(Vec::new()),
            _ => ReturnValue::code(ABSENT),
        });
    };
    Ok(match property {
        FederationProperty::Address => ReturnValue::Bytes(federation.address(ctx)?.to_text().into()),
        FederationProperty::Size => ReturnValue::number(federation.members.len() as u64),
        FederationProperty::Threshold => ReturnValue::number(federation.required_signatures() as u64),
        FederationProperty::CreationTime if ctx.has(Rule::Rskip419) => {
            ReturnValue::code(federation.creation_time.div_euclid(1000))
        }
        FederationProperty::CreationTime => ReturnValue::code(federation.creation_time),
        FederationProperty::CreationBlock => ReturnValue::number(federation.creation_block),
    })
}

/// Returns a key of a member of the federation in a role; no bytes if there is none.
pub(crate) fn member_key(
    storage: &mut Storage<'_>,
    ctx: &CallContext<'_>,
    role: Role,
    index: i32,
    key: KeyType,
) -> Result<ReturnValue> {
    let Some(federation) = federation(storage, ctx, role)? else { return Ok(ReturnValue::Bytes(Vec::new())) };
    let member = usize::try_from(index).ok().and_then(|index| federation.members.get(index));
    let member = member.ok_or(MethodFailure::Rejected)?;
    Ok(ReturnValue::Bytes(encoded(key.of_member(member)).to_vec()))
}

/// Returns the redeem script of the active federation.
pub(crate) fn active_redeem_script(storage: &mut Storage<'_>, ctx: &CallContext<'_>) -> Result<ReturnValue> {
    Ok(ReturnValue::Bytes(active(storage, ctx)?.redeem_script(ctx)?))
}

/// Returns the recorded creation height of the active federation.
pub(crate) fn active_creation_height(storage: &mut Storage<'_>, ctx: &CallContext<'_>) -> Result<ReturnValue> {
    Ok(ReturnValue::number(recorded_creation_height(storage, ctx)?))
}
