//! Methods of the lock whitelist (docs/spec/bridge.md, 9.6).

use crate::context::CallContext;
use crate::error::{BridgeError, MethodFailure, Result};
use crate::headers::store::best_header;
use crate::return_value::ReturnValue;
use crate::slots::whitelist::{NEVER, WhitelistEntry};
use crate::storage::Storage;
use rhizome_bitcoin::base58check;
use rhizome_primitives::I256;

const SUCCESS: i64 = 1;
const NOT_AUTHORIZED: i64 = -10;
const MALFORMED: i64 = -2;
const PRESENT: i64 = -1;
const ABSENT: i64 = -1;
const DELAY_SET: i64 = -1;
const INVALID_DELAY: i64 = -2;
const UNLIMITED: i64 = 0;

fn is_authorized(ctx: &CallContext<'_>) -> bool {
    ctx.constants.whitelist_change.contains(&ctx.caller())
}

/// Returns the bytes behind the version of an address of the network, P2PKH or P2SH; `None` if `text` is malformed. Like the
/// reference, accepts any number of bytes, and fails for a payload without a version.
fn address_hash(ctx: &CallContext<'_>, text: &[u8]) -> Result<Option<Vec<u8>>> {
    let is_in_time = || !(ctx.call.is_past_deadline)();
    let payload = base58check::decode_while(text, &is_in_time);
    if !is_in_time() {
        return Err(BridgeError::DeadlineExceeded.into());
    }
    let Some(payload) = payload else { return Ok(None) };
    let (version, hash) = payload.split_first().ok_or(MethodFailure::Rejected)?;
    Ok(ctx.constants.address_versions.contains(version).then(|| hash.to_vec()))
}

pub(crate) fn size(storage: &mut Storage<'_>) -> Result<ReturnValue> {
    Ok(ReturnValue::number(storage.whitelist.get(&mut storage.slots)?.entries.len() as u64))
}

/// Returns the address at `index` in the order of the hashes; the empty string if there is none.
pub(crate) fn address_at(storage: &mut Storage<'_>, ctx: &CallContext<'_>, index: i32) -> Result<ReturnValue> {
    let entries = &storage.whitelist.get(&mut storage.slots)?.entries;
    let hash = usize::try_from(index).ok().and_then(|index| entries.keys().nth(index));
    let hash = hash.and_then(|hash| <[u8; 20]>::try_from(hash.as_slice()).ok());
    let address = hash.map(|hash| ctx.constants.key_address(hash).into_bytes());
    Ok(ReturnValue::Bytes(address.unwrap_or_default()))
}

/// Returns the maximum of a one-off entry in satoshis, 0 for an unlimited entry.
pub(crate) fn entry_of(storage: &mut Storage<'_>, ctx: &CallContext<'_>, address: &[u8]) -> Result<ReturnValue> {
    let Some(hash) = address_hash(ctx, address)? else { return Ok(ReturnValue::code(ABSENT)) };
    Ok(ReturnValue::code(match storage.whitelist.get(&mut storage.slots)?.entries.get(&hash) {
        None => ABSENT,
        Some(WhitelistEntry::Once(maximum)) => *maximum,
        Some(WhitelistEntry::Always) => UNLIMITED,
    }))
}

/// Returns true if the whitelist accepts a peg-in in the Bitcoin block at `height`. A one-off entry is used up by that.
pub(crate) fn use_entry(storage: &mut Storage<'_>, sender: &[u8; 20], satoshis: i64, height: i32) -> Result<bool> {
    let whitelist = storage.whitelist.get_mut(&mut storage.slots)?;
    let entry = whitelist.entries.get(&sender[..]);
    let is_listed = match entry {
        None => false,
        Some(WhitelistEntry::Once(maximum)) => *maximum >= satoshis,
        Some(WhitelistEntry::Always) => true,
    };
    let is_accepted = is_listed || height > whitelist.disable_height;
    if is_accepted && matches!(entry, Some(WhitelistEntry::Once(_))) {
        whitelist.entries.remove(&sender[..]);
    }
    Ok(is_accepted)
}

pub(crate) fn add_one_off(
    storage: &mut Storage<'_>,
    ctx: &CallContext<'_>,
    address: &[u8],
    maximum: I256,
) -> Result<ReturnValue> {
    let Some(hash) = address_hash(ctx, address)? else { return Ok(ReturnValue::code(MALFORMED)) };
    let maximum = i64::try_from(maximum).ok().ok_or(MethodFailure::Rejected)?;
    add(storage, ctx, hash, WhitelistEntry::Once(maximum))
}

pub(crate) fn add_unlimited(storage: &mut Storage<'_>, ctx: &CallContext<'_>, address: &[u8]) -> Result<ReturnValue> {
    let Some(hash) = address_hash(ctx, address)? else { return Ok(ReturnValue::code(MALFORMED)) };
    add(storage, ctx, hash, WhitelistEntry::Always)
}

fn add(storage: &mut Storage<'_>, ctx: &CallContext<'_>, hash: Vec<u8>, entry: WhitelistEntry) -> Result<ReturnValue> {
    if !is_authorized(ctx) {
        return Ok(ReturnValue::code(NOT_AUTHORIZED));
    }
    let entries = &mut storage.whitelist.get_mut(&mut storage.slots)?.entries;
    if entries.contains_key(&hash) {
        return Ok(ReturnValue::code(PRESENT));
    }
    entries.insert(hash, entry);
    Ok(ReturnValue::code(SUCCESS))
}

pub(crate) fn remove(storage: &mut Storage<'_>, ctx: &CallContext<'_>, address: &[u8]) -> Result<ReturnValue> {
    if !is_authorized(ctx) {
        return Ok(ReturnValue::code(NOT_AUTHORIZED));
    }
    // The whitelist is loaded, and so saved, for a malformed address, too.
    let whitelist = storage.whitelist.get_mut(&mut storage.slots)?;
    let Some(hash) = address_hash(ctx, address)? else { return Ok(ReturnValue::code(MALFORMED)) };
    Ok(ReturnValue::code(if whitelist.entries.remove(&hash).is_some() { SUCCESS } else { ABSENT }))
}

/// Sets the number of Bitcoin blocks until the whitelist is disabled. Opens the header store, also for callers that are
/// not authorized.
pub(crate) fn set_disable_delay(storage: &mut Storage<'_>, ctx: &CallContext<'_>, delay: I256) -> Result<ReturnValue> {
    let best = best_header(storage, ctx)?.height;
    if !is_authorized(ctx) {
        return Ok(ReturnValue::code(NOT_AUTHORIZED));
    }
    let whitelist = storage.whitelist.get_mut(&mut storage.slots)?;
    if whitelist.disable_height != NEVER {
        return Ok(ReturnValue::code(DELAY_SET));
    }
    let delay = i32::try_from(delay).ok().ok_or(MethodFailure::Rejected)?;
    let height = best.wrapping_add(delay);
    if height <= best {
        return Ok(ReturnValue::code(INVALID_DELAY));
    }
    whitelist.disable_height = height;
    Ok(ReturnValue::code(SUCCESS))
}
