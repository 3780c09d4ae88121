//! Witness roots of Bitcoin blocks (docs/spec/bridge.md, 6.4).

use crate::error::Result;
use crate::return_value::ReturnValue;
use crate::slots::access::decode_elements;
use crate::slots::keys::{COINBASE_INFORMATION, coinbase_word};
use crate::storage::Storage;
use rhizome_primitives::{B256, Bytes};

/// Returns the witness root that is registered for a Bitcoin block.
pub(crate) fn witness_root(storage: &mut Storage<'_>, block: &B256) -> Result<Option<[u8; 32]>> {
    let Some(bytes) = storage.slots.read_word(&coinbase_word(block))? else { return Ok(None) };
    let root = |bytes: &Bytes| match decode_elements(bytes)?.as_slice() {
        [root] => root.bytes().try_into().ok(),
        _ => None,
    };
    root(&bytes).map(Some).ok_or_else(|| COINBASE_INFORMATION.malformed())
}

pub(crate) fn has_witness_root(storage: &mut Storage<'_>, block: &B256) -> Result<ReturnValue> {
    Ok(ReturnValue::flag(witness_root(storage, block)?.is_some()))
}
