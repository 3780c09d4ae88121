//! The header store (docs/spec/bridge.md, 5.1, 5.2 and 5.6): a slot for each header, a slot for the best header, and an
//! index by height.
//!
//! Headers are written at once, so they survive a call that fails. The save writes the index.

use super::HeaderFailure;
use super::checkpoints::{checkpoint_before, first_header, has_checkpoints};
use crate::context::CallContext;
use crate::display_order::display_hash;
use crate::error::{BridgeError, MethodFailure, Result};
use crate::federation;
use crate::slots::access::decode_item;
use crate::slots::keys::{CHAIN_HEAD, height_word};
use crate::slots::stored_header::StoredHeader;
use crate::storage::Storage;
use rhizome_primitives::{B256, Rule, U256};

/// Number of headers between two checks of the deadline.
const HEADERS_PER_CHECK: i32 = 256;

type HeaderResult<T = ()> = std::result::Result<T, HeaderFailure>;

/// Returns the best header. Opens the store: writes the first blocks into an empty store.
pub(crate) fn best_header(storage: &mut Storage<'_>, ctx: &CallContext<'_>) -> Result<StoredHeader> {
    let head = read_header(storage, &CHAIN_HEAD.word())?;
    if storage.is_header_store_open {
        return head.ok_or(MethodFailure::Rejected);
    }
    storage.is_header_store_open = true;
    let genesis = first_header(&ctx.constants.genesis)?;
    let mut head = match head {
        Some(head) => head,
        None => {
            start_with(storage, &genesis)?;
            genesis.clone()
        }
    };
    if head.hash() == genesis.hash() {
        let creation = active_creation_time(storage, ctx)?;
        if creation > 0 && has_checkpoints(ctx) {
            head = checkpoint_before(ctx, creation)?;
            start_with(storage, &head)?;
        }
    }
    Ok(head)
}

fn start_with(storage: &mut Storage<'_>, first: &StoredHeader) -> Result<()> {
    put(storage, first).and_then(|()| set_head(storage, first)).map_err(HeaderFailure::into_rejection)
}

/// Returns the lowest height of a store that opens under the active federation. The store is not read.
pub(super) fn lowest_height(storage: &mut Storage<'_>, ctx: &CallContext<'_>) -> Result<i32> {
    let creation = active_creation_time(storage, ctx)?;
    Ok(checkpoint_before(ctx, creation)?.height)
}

/// Returns the creation time of the active federation in milliseconds.
fn active_creation_time(storage: &mut Storage<'_>, ctx: &CallContext<'_>) -> Result<i64> {
    Ok(federation::active(storage, ctx)?.creation_time)
}

/// Returns the stored header with this hash (display order).
pub(crate) fn header(storage: &mut Storage<'_>, hash: &B256) -> Result<Option<StoredHeader>> {
    read_header(storage, &U256::from_be_bytes(hash.0))
}

pub(super) fn parent(storage: &mut Storage<'_>, child: &StoredHeader) -> Result<Option<StoredHeader>> {
    header(storage, &display_hash(child.header.previous()))
}

fn read_header(storage: &mut Storage<'_>, word: &U256) -> Result<Option<StoredHeader>> {
    storage.slots.decoded(word, StoredHeader::decode)
}

pub(super) fn put(storage: &mut Storage<'_>, header: &StoredHeader) -> HeaderResult {
    let value = header.encode(storage.slots.has(Rule::Rskip454)).ok_or(HeaderFailure::Invalid)?;
    Ok(storage.slots.write_word(U256::from_be_bytes(header.hash().0), value)?)
}

pub(super) fn set_head(storage: &mut Storage<'_>, header: &StoredHeader) -> HeaderResult {
    let value = header.encode(storage.slots.has(Rule::Rskip454)).ok_or(HeaderFailure::Invalid)?;
    storage.slots.write(&CHAIN_HEAD, value)?;
    index(storage, header);
    Ok(())
}

/// Adds a header to the index by height.
pub(super) fn index(storage: &mut Storage<'_>, header: &StoredHeader) {
    if storage.slots.has(Rule::Rskip199) {
        storage.block_index.push((header.height, header.hash()));
    }
}

/// Returns the header of the main chain at a height. Fails with `Invalid` if the height is out of reach.
pub(super) fn main_chain_header(
    storage: &mut Storage<'_>,
    ctx: &CallContext<'_>,
    height: i32,
) -> HeaderResult<Option<StoredHeader>> {
    let best = best_header(storage, ctx)?.height;
    let depth = best.wrapping_sub(height);
    if depth < 0 {
        return Err(HeaderFailure::Invalid);
    }
    if ctx.has(Rule::Rskip199) {
        let (index_height, search_depth) = (ctx.constants.index_height, ctx.constants.search_depth);
        let limit = if best - index_height > search_depth { index_height } else { best - search_depth };
        if height < limit {
            return Err(HeaderFailure::Invalid);
        }
        if let Some(found) = indexed_header(storage, height)? {
            return Ok(Some(found));
        }
    }
    header_at_depth(storage, ctx, depth)
}

/// Returns the header at a height of the stored index. Entries of the call in progress are not part of it.
fn indexed_header(storage: &mut Storage<'_>, height: i32) -> Result<Option<StoredHeader>> {
    let hash = |bytes: &[u8]| B256::try_from(decode_item(bytes)?).ok();
    let Some(hash) = storage.slots.decoded(&height_word(height), hash)? else { return Ok(None) };
    header(storage, &hash)
}

/// Walks down from the best header. Returns `None` if the walk leaves the store.
pub(super) fn header_at_depth(
    storage: &mut Storage<'_>,
    ctx: &CallContext<'_>,
    depth: i32,
) -> HeaderResult<Option<StoredHeader>> {
    let best = best_header(storage, ctx)?;
    let mut cursor = best.clone();
    for step in 0..depth {
        check_deadline(ctx, step)?;
        match parent(storage, &cursor)? {
            Some(parent) => cursor = parent,
            None => return Ok(None),
        }
    }
    if cursor.height == best.height - depth { Ok(Some(cursor)) } else { Err(HeaderFailure::Invalid) }
}

/// Ends a long walk of a local call whose deadline has passed. `position` is the height or the number of the step.
pub(super) fn check_deadline(ctx: &CallContext<'_>, position: i32) -> Result<()> {
    if position % HEADERS_PER_CHECK == 0 && (ctx.call.is_past_deadline)() {
        return Err(BridgeError::DeadlineExceeded.into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::constants::constants;
    use rhizome_primitives::Network;

    #[test]
    fn first_blocks_have_the_known_hashes() {
        let hash = |block| first_header(block).unwrap().hash().to_string();
        let known = [
            (Network::Mainnet, "0x000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f"),
            (Network::Testnet, "0x000000000933ea01ad0ee984209779baaec3ced90fa3f408719526f8d77f4943"),
            (Network::Regtest, "0x0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206"),
        ];
        for (network, genesis) in known {
            assert_eq!(hash(&constants(network).unwrap().genesis), genesis);
        }
    }
}
