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
const TIMESPAN: i32 = 1_209_600;
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
    // The reference keeps 32 bits with a sign: a duration of 2^31 seconds and more counts as negative.
    let span = parent.header.time().wrapping_sub(first.header.time()).cast_signed();
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::constants::constants;
    use crate::context::Call;
    use crate::random_calls::world::Account;
    use rhizome_primitives::{Network, Rules};

    const BITS: u32 = 0x1b04_04cb;
    const QUARTER: u32 = 0x1b01_0132;
    const FOURFOLD: u32 = 0x1b10_132c;

    #[test]
    fn targets_after_an_interval_are_those_of_the_reference() {
        let start = 1_600_000_000;
        // Time of the last header of an interval, and the only target that rskj 9.0.3 accepts after it.
        let cases = [
            (start - 100_000_000, QUARTER),
            (start + 5_000_000, FOURFOLD),
            (start + 0x7fff_ffff, FOURFOLD),
            (start + 0x8000_0000, QUARTER),
            (u32::MAX, QUARTER),
        ];
        for network in [Network::Mainnet, Network::Testnet] {
            for (end, expected) in cases {
                let call = Call::local(network, Rules::none(), 1);
                let ctx = CallContext { call: &call, constants: constants(network).unwrap() };
                let mut account = Account::default();
                let mut storage = Storage::new(&mut account, network, call.rules, Vec::new());
                let mut previous = [0; 32];
                let mut parent = None;
                for index in 0..INTERVAL {
                    let time = if index == INTERVAL - 1 { end } else { start + 600 * index as u32 };
                    let header = BitcoinHeader::new(1, previous, [0; 32], time, BITS, 0);
                    let stored = StoredHeader { work: U256::ONE, height: 300 * INTERVAL + index, header };
                    assert!(put(&mut storage, &stored).is_ok());
                    previous = header.hash();
                    parent = Some(stored);
                }
                let accepted = [BITS, QUARTER, FOURFOLD].into_iter().filter(|bits| {
                    let next = BitcoinHeader::new(1, previous, [0; 32], start + 10_000_000, *bits, 0);
                    check_difficulty(&mut storage, &ctx, parent.as_ref().unwrap(), &next).is_ok()
                });
                assert_eq!(accepted.collect::<Vec<_>>(), [expected], "{network:?}, {end}");
            }
        }
    }
}
