//! Bitcoin headers: the methods that submit and read them (docs/spec/bridge.md, 5).

mod chain;
mod checkpoints;
pub(crate) mod confirmations;
pub(crate) mod store;
mod target;

pub use checkpoints::checkpoint;

use crate::constants::{HEADER_DEPTH_LIMIT, SECONDS_BETWEEN_HEADERS};
use crate::context::CallContext;
use crate::display_order::display_hash;
use crate::error::{MethodFailure, Result};
use crate::federation::require_member;
use crate::return_value::ReturnValue;
use crate::slots::stored_header::StoredHeader;
use crate::storage::Storage;
use rhizome_bitcoin::BitcoinHeader;
use rhizome_bitcoin::header::HEADER_SIZE;
use rhizome_primitives::{B256, Rule, Rules, hex};
use store::{best_header, header, header_at_depth, lowest_height, main_chain_header, parent};

/// Maximum size of a header with transactions after it, until RSKIP-124.
const OLD_HEADER_SIZE: usize = 85;
const TOO_SOON: i64 = -1;
const TOO_OLD: i64 = -2;
const NO_PARENT: i64 = -3;
const ALREADY_STORED: i64 = -4;
const NOT_A_HEADER: i64 = -20;
const NOT_ADDED: i64 = -99;
/// Maximum number of entries of a block locator after the first one.
const LOCATOR_SIZE: usize = 100;

/// Returns the gas of `receiveHeaders` with `count` headers.
pub(crate) fn receive_price(rules: &Rules, count: usize) -> u64 {
    let (base, step) = match (rules.is_active(Rule::Rskip124), rules.is_active(Rule::Rskip132)) {
        (false, _) => (22_000, 0),
        (true, false) => (66_000, 1_650),
        (true, true) => (25_000, 3_500),
    };
    step * (count as u64).saturating_sub(1) + base
}

/// Why a header is not added or not found. Callers do not see which rule an invalid header breaks.
enum HeaderFailure {
    Invalid,
    Method(MethodFailure),
}

impl HeaderFailure {
    fn into_rejection(self) -> MethodFailure {
        match self {
            Self::Invalid => MethodFailure::Rejected,
            Self::Method(failure) => failure,
        }
    }
}

impl<E: Into<MethodFailure>> From<E> for HeaderFailure {
    fn from(error: E) -> Self {
        Self::Method(error.into())
    }
}

pub(crate) fn receive_headers(
    storage: &mut Storage<'_>,
    ctx: &CallContext<'_>,
    headers: &[&[u8]],
) -> Result<ReturnValue> {
    let is_public = ctx.has(Rule::Rskip124) && !ctx.has(Rule::Rskip200);
    if !is_public {
        require_member(storage, ctx)?;
    }
    let maximum = if ctx.has(Rule::Rskip124) { HEADER_SIZE } else { OLD_HEADER_SIZE };
    if !headers.iter().all(|header| (HEADER_SIZE..=maximum).contains(&header.len())) {
        return Err(MethodFailure::Argument);
    }
    let parse = |header: &&[u8]| BitcoinHeader::parse(header).map_err(|_malformed| MethodFailure::Argument);
    let headers = headers.iter().map(parse).collect::<Result<Vec<_>>>()?;
    best_header(storage, ctx)?;
    for received in headers {
        let parent = header(storage, &display_hash(received.previous()))?;
        if parent.as_ref().is_some_and(|parent| has_excessive_work(ctx, parent)) {
            break;
        }
        match chain::add_header(storage, ctx, received) {
            Ok(()) | Err(HeaderFailure::Invalid) => {}
            Err(HeaderFailure::Method(failure)) => return Err(failure),
        }
    }
    Ok(ReturnValue::None)
}

pub(crate) fn receive_header(storage: &mut Storage<'_>, ctx: &CallContext<'_>, received: &[u8]) -> Result<ReturnValue> {
    if received.len() != HEADER_SIZE {
        return Ok(ReturnValue::code(NOT_A_HEADER));
    }
    let received = BitcoinHeader::parse(received).map_err(|_malformed| MethodFailure::Rejected)?;
    let best = best_header(storage, ctx)?;
    if header(storage, &display_hash(received.hash()))?.is_some() {
        return Ok(ReturnValue::code(ALREADY_STORED));
    }
    let now = ctx.call.block_timestamp;
    let last = *storage.headers_timestamp.get(&mut storage.slots)?;
    if last.is_some_and(|last| i128::from(now) - i128::from(last) < i128::from(SECONDS_BETWEEN_HEADERS)) {
        return Ok(ReturnValue::code(TOO_SOON));
    }
    let Some(parent) = header(storage, &display_hash(received.previous()))? else {
        return Ok(ReturnValue::code(NO_PARENT));
    };
    if best.height.wrapping_sub(parent.height.wrapping_add(1)) > HEADER_DEPTH_LIMIT {
        return Ok(ReturnValue::code(TOO_OLD));
    }
    if has_excessive_work(ctx, &parent) {
        return Ok(ReturnValue::code(NOT_ADDED));
    }
    match chain::add_header(storage, ctx, received) {
        Ok(()) => {
            storage.headers_timestamp.set(Some(now).filter(|now| *now > 0));
            Ok(ReturnValue::code(0))
        }
        Err(HeaderFailure::Invalid) => Ok(ReturnValue::code(NOT_ADDED)),
        Err(HeaderFailure::Method(failure)) => Err(failure),
    }
}

/// Returns true if the chain work of a child does not fit into the old form (mainnet, until RSKIP-434).
fn has_excessive_work(ctx: &CallContext<'_>, parent: &StoredHeader) -> bool {
    let limit = ctx.constants.excessive_work_height;
    limit.is_some_and(|limit| parent.height.wrapping_add(1) >= limit) && !ctx.has(Rule::Rskip434)
}

pub(crate) fn best_height(storage: &mut Storage<'_>, ctx: &CallContext<'_>) -> Result<ReturnValue> {
    Ok(ReturnValue::code(i64::from(best_header(storage, ctx)?.height)))
}

/// Returns the height of the lowest header. Does not open the store.
pub(crate) fn initial_height(storage: &mut Storage<'_>, ctx: &CallContext<'_>) -> Result<ReturnValue> {
    Ok(ReturnValue::number(u64::from(lowest_height(storage, ctx)?.unsigned_abs())))
}

pub(crate) fn best_header_bytes(storage: &mut Storage<'_>, ctx: &CallContext<'_>) -> Result<ReturnValue> {
    Ok(bytes_of(Some(best_header(storage, ctx)?)))
}

pub(crate) fn header_by_hash(storage: &mut Storage<'_>, ctx: &CallContext<'_>, hash: [u8; 32]) -> Result<ReturnValue> {
    best_header(storage, ctx)?;
    Ok(bytes_of(header(storage, &B256::from(hash))?))
}

pub(crate) fn header_by_height(storage: &mut Storage<'_>, ctx: &CallContext<'_>, height: i32) -> Result<ReturnValue> {
    best_header(storage, ctx)?;
    match main_chain_header(storage, ctx, height) {
        Ok(found) => Ok(bytes_of(found)),
        Err(HeaderFailure::Invalid) => Ok(bytes_of(None)),
        Err(HeaderFailure::Method(failure)) => Err(failure),
    }
}

pub(crate) fn parent_by_hash(storage: &mut Storage<'_>, ctx: &CallContext<'_>, hash: [u8; 32]) -> Result<ReturnValue> {
    best_header(storage, ctx)?;
    let Some(child) = header(storage, &B256::from(hash))? else { return Ok(bytes_of(None)) };
    Ok(bytes_of(parent(storage, &child)?))
}

pub(crate) fn hash_at_depth(storage: &mut Storage<'_>, ctx: &CallContext<'_>, depth: i32) -> Result<ReturnValue> {
    let best = best_header(storage, ctx)?;
    if depth < 0 || depth > best.height - lowest_height(storage, ctx)? {
        return Err(MethodFailure::Rejected);
    }
    let found = header_at_depth(storage, ctx, depth).map_err(HeaderFailure::into_rejection)?;
    found.map(|header| ReturnValue::Bytes(header.hash().to_vec())).ok_or(MethodFailure::Rejected)
}

/// Returns hashes of the main chain at growing distances, from the best header to the lowest.
pub(crate) fn block_locator(storage: &mut Storage<'_>, ctx: &CallContext<'_>) -> Result<ReturnValue> {
    let best = best_header(storage, ctx)?;
    let lowest = lowest_height(storage, ctx)?;
    let mut texts = vec![hex::encode(best.hash()).into_bytes()];
    let mut cursor = best.clone();
    let mut distance = 1_i32;
    while best.height > lowest && texts.len() <= LOCATOR_SIZE {
        let height = best.height.saturating_sub(distance).max(lowest);
        while cursor.height > height {
            cursor = parent(storage, &cursor)?.ok_or(MethodFailure::Rejected)?;
        }
        texts.push(hex::encode(cursor.hash()).into_bytes());
        if height == lowest {
            break;
        }
        distance = distance.saturating_mul(2);
    }
    Ok(ReturnValue::Strings(texts))
}

/// Returns the header of the main chain at a height; `None` if it is not stored. A height out of reach is a call error.
pub(crate) fn main_chain_header_at(
    storage: &mut Storage<'_>,
    ctx: &CallContext<'_>,
    height: i32,
) -> Result<Option<StoredHeader>> {
    main_chain_header(storage, ctx, height).map_err(HeaderFailure::into_rejection)
}

fn bytes_of(header: Option<StoredHeader>) -> ReturnValue {
    ReturnValue::Bytes(header.map(|header| header.header.as_bytes().to_vec()).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_of_headers() {
        let old = Rules::none();
        let middle = old.with(Rule::Rskip124);
        let new = middle.with(Rule::Rskip132);
        assert_eq!([0, 1, 3].map(|count| receive_price(&old, count)), [22_000; 3]);
        assert_eq!([0, 1, 3].map(|count| receive_price(&middle, count)), [66_000, 66_000, 69_300]);
        assert_eq!([0, 1, 3].map(|count| receive_price(&new, count)), [25_000, 25_000, 32_000]);
    }
}
