//! The difficulty of a block, computed from its parent.

use rhizome_primitives::{ChainSpec, Rule, U256};

/// Seconds between parent and block that reset the difficulty to the minimum, until RSKIP-97.
const RESET_AFTER_SECONDS: i64 = 600;

/// Returns the difficulty that block `number` must have. `uncle_count` is the field of the header, not the length of the
/// list of uncles. Times are in seconds. In a fork the difficulty stays that of the block it begins at.
pub fn difficulty(
    spec: &ChainSpec,
    number: u64,
    timestamp: u64,
    uncle_count: u32,
    parent_timestamp: u64,
    parent_difficulty: U256,
) -> U256 {
    if spec.fork_block.is_some() {
        return parent_difficulty;
    }
    let rules = spec.rules(number);
    let constants = &spec.constants;
    let minimum = match constants.minimum_difficulty_rskip290 {
        Some(minimum) if rules.is_active(Rule::Rskip290) => minimum,
        _ => constants.minimum_difficulty,
    };
    // Decoding limits times to values below 2^63. The sum wraps like in the reference.
    let (time, parent_time) = (timestamp.cast_signed(), parent_timestamp.cast_signed());
    if !rules.is_active(Rule::Rskip97) && time >= parent_time.wrapping_add(RESET_AFTER_SECONDS) {
        return minimum;
    }
    let delta = time.wrapping_sub(parent_time);
    if delta < 0 {
        return parent_difficulty;
    }
    let duration = constants.duration_limit.cast_signed();
    // Consensus requires wrapping 32-bit arithmetic: a huge uncle count gives a negative limit.
    let limit = i64::from(uncle_count.cast_signed().wrapping_add(1).wrapping_mul(duration));
    let divisor = if rules.is_active(Rule::Rskip156) {
        constants.difficulty_bound_divisor_at_end
    } else {
        constants.difficulty_bound_divisor
    };
    let quotient = parent_difficulty.checked_div(divisor).unwrap_or_default();
    match limit.cmp(&delta) {
        std::cmp::Ordering::Equal => parent_difficulty,
        std::cmp::Ordering::Greater => minimum.max(parent_difficulty.saturating_add(quotient)),
        std::cmp::Ordering::Less => minimum.max(parent_difficulty.saturating_sub(quotient)),
    }
}
