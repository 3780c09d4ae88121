//! Adding a header: proof of work, difficulty, and the choice of the best branch (docs/spec/bridge.md, 5.3).

use super::store::{best_header, check_deadline, header, index, parent, put, set_head};
use super::{HeaderFailure, target};
use crate::constants::BitcoinRules;
use crate::context::CallContext;
use crate::display_order::display_hash;
use crate::slots::stored_header::StoredHeader;
use crate::storage::Storage;
use rhizome_bitcoin::BitcoinHeader;
use rhizome_primitives::U256;

/// Number of headers between two changes of the difficulty.
const INTERVAL: i32 = 2016;
/// Intended duration of an interval, seconds.
const TIMESPAN: i64 = 1_209_600;
/// Time from which the testnet has its own difficulty rule.
const TESTNET_RULE_TIME: u32 = 1_329_264_000;
/// Seconds without a block after which the testnet accepts the easiest target.
const TESTNET_MAXIMUM_PAUSE: i64 = 1200;

type Verdict<T = ()> = std::result::Result<T, HeaderFailure>;

fn require(is_valid: bool) -> Verdict {
    if is_valid { Ok(()) } else { Err(HeaderFailure::Invalid) }
}

/// Returns the parent of a header. Fails with `Invalid` if it is not stored.
fn stored_parent(storage: &mut Storage<'_>, child: &StoredHeader) -> Verdict<StoredHeader> {
    parent(storage, child)?.ok_or(HeaderFailure::Invalid)
}

/// Adds a header to the store, and to the main chain if it becomes the best header.
pub(super) fn add_header(storage: &mut Storage<'_>, ctx: &CallContext<'_>, added: BitcoinHeader) -> Verdict {
    let head = best_header(storage, ctx)?;
    let hash = display_hash(added.hash());
    if header(storage, &hash)?.is_some() {
        return Ok(());
    }
    let limit = ctx.constants.target_limit;
    let target = target::decode(added.bits()).filter(|target| *target <= limit).ok_or(HeaderFailure::Invalid)?;
    require(U256::from_be_bytes(hash.0) <= target)?;
    let parent = header(storage, &display_hash(added.previous()))?.ok_or(HeaderFailure::Invalid)?;
    check_difficulty(storage, ctx, &parent, &added)?;
    let work = parent.work.checked_add(target::work(target)).ok_or(HeaderFailure::Invalid)?;
    let height = parent.height.checked_add(1).ok_or(HeaderFailure::Invalid)?;
    let added = StoredHeader { work, height, header: added };
    if parent == head {
        put(storage, &added)?;
        return set_head(storage, &added);
    }
    let branch = branch_above_fork(storage, ctx, &added, &parent, &head)?;
    if added.work > head.work {
        branch.iter().for_each(|header| index(storage, header));
        put(storage, &added)?;
        set_head(storage, &added)
    } else {
        put(storage, &added)
    }
}

/// Returns the headers of a new branch above the fork, the highest first.
fn branch_above_fork(
    storage: &mut Storage<'_>,
    ctx: &CallContext<'_>,
    added: &StoredHeader,
    parent: &StoredHeader,
    head: &StoredHeader,
) -> Verdict<Vec<StoredHeader>> {
    let mut branch = vec![added.clone()];
    let (mut new, mut old) = (parent.clone(), head.clone());
    while new != old {
        check_deadline(ctx, new.height)?;
        if old.height > new.height {
            old = stored_parent(storage, &old)?;
        } else {
            let below = stored_parent(storage, &new)?;
            branch.push(std::mem::replace(&mut new, below));
        }
    }
    Ok(branch)
}

fn check_difficulty(
    storage: &mut Storage<'_>,
    ctx: &CallContext<'_>,
    parent: &StoredHeader,
    header: &BitcoinHeader,
) -> Verdict {
    let is_change = parent.height.wrapping_add(1) % INTERVAL == 0;
    let bits = parent.header.bits();
    match ctx.constants.bitcoin {
        BitcoinRules::Regtest => require(header.bits() == bits),
        BitcoinRules::Testnet if !is_change && header.time() > TESTNET_RULE_TIME => {
            check_testnet_difficulty(storage, ctx, parent, header)
        }
        _ if is_change => check_change(storage, ctx, parent, header),
        _ => require(header.bits() == bits),
    }
}

fn check_testnet_difficulty(
    storage: &mut Storage<'_>,
    ctx: &CallContext<'_>,
    parent: &StoredHeader,
    header: &BitcoinHeader,
) -> Verdict {
    let pause = i64::from(header.time()) - i64::from(parent.header.time());
    if !(0..=TESTNET_MAXIMUM_PAUSE).contains(&pause) {
        return Ok(());
    }
    let limit = Some(ctx.constants.target_limit);
    let mut cursor = parent.clone();
    while cursor.height != 0 && cursor.height % INTERVAL != 0 && target::decode(cursor.header.bits()) == limit {
        check_deadline(ctx, cursor.height)?;
        cursor = stored_parent(storage, &cursor)?;
    }
    require(target::decode(cursor.header.bits()) == target::decode(header.bits()))
}

/// Checks the target after an interval, which follows from the duration of the interval.
fn check_change(
    storage: &mut Storage<'_>,
    ctx: &CallContext<'_>,
    parent: &StoredHeader,
    header: &BitcoinHeader,
) -> Verdict {
    let mut first = parent.clone();
    for _ in 1..INTERVAL {
        check_deadline(ctx, first.height)?;
        first = stored_parent(storage, &first)?;
    }
    let span = i64::from(parent.header.time()) - i64::from(first.header.time());
    let span = U256::from(span.clamp(TIMESPAN / 4, TIMESPAN * 4).unsigned_abs());
    let current = target::decode(parent.header.bits()).ok_or(HeaderFailure::Invalid)?;
    // The limit has 224 bits, the span 23: the product fits.
    let next = current.saturating_mul(span) / U256::from(TIMESPAN.unsigned_abs());
    let next = next.min(ctx.constants.target_limit);
    let [size, ..] = header.bits().to_be_bytes();
    let mask = match usize::from(size).checked_sub(3) {
        Some(bytes) => U256::from(0xff_ffff).checked_shl(8 * bytes).unwrap_or_default(),
        None => U256::from(0xff_ffff >> (8 * (3 - u32::from(size)))),
    };
    require(target::encode(next & mask) == header.bits())
}
