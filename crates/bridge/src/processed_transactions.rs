//! Look-ups of processed Bitcoin transactions (docs/spec/bridge.md, 2.4 and 3.3.6).

use crate::context::CallContext;
use crate::error::{MethodFailure, Result};
use crate::return_value::ReturnValue;
use crate::slots::keys::processed_word;
use crate::storage::Storage;
use rhizome_primitives::{B256, Rule, hex};

/// Returns true if a Bitcoin transaction was processed. `id` in display order.
pub(crate) fn is_known(storage: &mut Storage<'_>, ctx: &CallContext<'_>, id: &B256) -> Result<bool> {
    Ok(height_of(storage, ctx, &id.0)?.is_some())
}

/// Returns the RSK height at which a Bitcoin transaction was processed. `id`: hexadecimal text, display order.
fn processed_height(storage: &mut Storage<'_>, ctx: &CallContext<'_>, id: &[u8]) -> Result<Option<u64>> {
    let is_lower_case = id.iter().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'));
    let id = hex::decode(id).ok().filter(|_| is_lower_case).and_then(|id| <[u8; 32]>::try_from(id).ok());
    height_of(storage, ctx, &id.ok_or(MethodFailure::Rejected)?)
}

/// Looks into the map of the first rules, then into the slot of the transaction. `id` in display order.
fn height_of(storage: &mut Storage<'_>, ctx: &CallContext<'_>, id: &[u8; 32]) -> Result<Option<u64>> {
    match storage.processed.get(&mut storage.slots)?.height(id) {
        None if ctx.has(Rule::Rskip134) => storage.slots.read_u64_at(&processed_word(id)),
        height => Ok(height),
    }
}

/// Returns the height, or -1 if the transaction was not processed.
pub(crate) fn height(storage: &mut Storage<'_>, ctx: &CallContext<'_>, id: &[u8]) -> Result<ReturnValue> {
    let height = processed_height(storage, ctx, id)?;
    Ok(ReturnValue::code(height.map_or(-1, |height| height as i64)))
}

pub(crate) fn is_processed(storage: &mut Storage<'_>, ctx: &CallContext<'_>, id: &[u8]) -> Result<ReturnValue> {
    Ok(ReturnValue::flag(processed_height(storage, ctx, id)?.is_some()))
}
