//! Rules for a header, its parent and the clock, in the order in which an import checks them.
//!
//! An import interleaves them with rules for transactions, uncles and proof of work, so each rule is a separate function.
//! [`check_header`] checks all of them.

use crate::difficulty::difficulty;
pub use crate::timestamps::{timestamp, timestamp_after_parent};
use rhizome_primitives::{ChainSpec, Header, I256, U256, rlp};

/// Maximum ratio of a gas price to the minimum gas price of the block (RSKIP-252).
const GAS_PRICE_CAP_FACTOR: u64 = 100;

/// The rule that a header breaks, with the compared values.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HeaderRuleError {
    /// The minimum gas price moved by more than one percent, or is missing.
    #[error("minimum gas price {found:?} is not within one percent of the parent's {parent:?}")]
    MinimumGasPrice {
        /// Of the header.
        found: Option<I256>,
        /// Of its parent.
        parent: Option<I256>,
    },
    /// The number does not follow the parent's.
    #[error("number {found} does not follow the parent's {parent}")]
    Number {
        /// Of the header.
        found: u64,
        /// Of its parent.
        parent: u64,
    },
    /// The difficulty does not follow from the parent.
    #[error("difficulty {found}, expected {expected}")]
    Difficulty {
        /// Of the header.
        found: U256,
        /// Result of the formula.
        expected: U256,
    },
    /// The gas limit moved by more than a 1024th of the parent's, or is missing.
    #[error("gas limit {found:?} is not within one 1024th of the parent's {parent:?}")]
    GasLimitRange {
        /// Of the header; `None` if missing or above 256 bits.
        found: Option<U256>,
        /// Of its parent.
        parent: Option<U256>,
    },
    /// Later than the clock by more than the network allows.
    #[error("timestamp {timestamp} is more than {drift} seconds after {now}")]
    InTheFuture {
        /// Of the header, seconds.
        timestamp: u64,
        /// The clock, seconds.
        now: u64,
        /// Maximum of the network, seconds.
        drift: u64,
    },
    /// RSKIP-179 requires the time of a Bitcoin header, and the header is missing or malformed.
    #[error("no Bitcoin header to compare the timestamp with")]
    NoBitcoinTime,
    /// Too far from the time of the Bitcoin header (RSKIP-179).
    #[error("timestamp {timestamp} is {limit} seconds or more away from the Bitcoin header's {bitcoin}")]
    FarFromBitcoin {
        /// Of the header, seconds.
        timestamp: u64,
        /// Of the Bitcoin header, seconds.
        bitcoin: u64,
        /// Smallest rejected difference, seconds.
        limit: u64,
    },
    /// Not later than the parent (uncles and relayed blocks only).
    #[error("timestamp {timestamp} is not after the parent's {parent}")]
    NotAfterParent {
        /// Of the header, seconds.
        timestamp: u64,
        /// Of its parent, seconds.
        parent: u64,
    },
    /// Below the minimum gas limit of the network.
    #[error("gas limit {found:?} is below {floor}")]
    GasLimitFloor {
        /// Of the header; `None` if missing or above 256 bits.
        found: Option<U256>,
        /// Minimum of the network.
        floor: u64,
    },
    /// The extra data exceed the limit of the network.
    #[error("{length} bytes of extra data, at most {limit} are allowed")]
    ExtraData {
        /// Size in bytes.
        length: usize,
        /// Maximum in bytes.
        limit: usize,
    },
}

/// Checks all rules of this module that apply to an import, in its order. `now_seconds` is the local clock.
pub fn check_header(
    header: &Header,
    parent: &Header,
    spec: &ChainSpec,
    now_seconds: u64,
) -> Result<(), HeaderRuleError> {
    minimum_gas_price_range(header, parent)?;
    number(header, parent)?;
    difficulty_rule(header, parent, spec)?;
    gas_limit_range(header, parent, spec)?;
    timestamp(header, spec, now_seconds)?;
    gas_limit_floor(header, spec)?;
    extra_data(header, spec)
}

/// Rule 3: the minimum gas price moves by at most one percent, at least by 1, and never below 0.
pub fn minimum_gas_price_range(header: &Header, parent: &Header) -> Result<(), HeaderRuleError> {
    let (found, before) = (header.minimum_gas_price, parent.minimum_gas_price);
    let allowed = found.zip(before).is_some_and(|(found, before)| {
        minimum_gas_price_bounds(before).is_some_and(|(lowest, highest)| lowest <= found && found <= highest)
    });
    if allowed { Ok(()) } else { Err(HeaderRuleError::MinimumGasPrice { found, parent: before }) }
}

/// Returns the lowest and the highest minimum gas price of a child; `None` if the highest exceeds 256 bits.
pub fn minimum_gas_price_bounds(parent: I256) -> Option<(I256, I256)> {
    let step = parent.checked_div(I256::try_from(100).ok()?)?.max(I256::ONE);
    Some((parent.checked_sub(step)?.max(I256::ZERO), parent.checked_add(step)?))
}

/// Rule 4: the number is the parent's plus one.
pub fn number(header: &Header, parent: &Header) -> Result<(), HeaderRuleError> {
    if parent.number.checked_add(1) == Some(header.number) {
        return Ok(());
    }
    Err(HeaderRuleError::Number { found: header.number, parent: parent.number })
}

/// Rule 5: the difficulty follows from the parent.
pub fn difficulty_rule(header: &Header, parent: &Header, spec: &ChainSpec) -> Result<(), HeaderRuleError> {
    let expected = difficulty(
        spec,
        header.number,
        header.timestamp,
        header.uncle_count,
        parent.timestamp,
        parent.difficulty_value(),
    );
    let found = header.difficulty_value();
    if found == expected { Ok(()) } else { Err(HeaderRuleError::Difficulty { found, expected }) }
}

/// Rule 6: the gas limit moves by at most a 1024th of the parent's.
pub fn gas_limit_range(header: &Header, parent: &Header, spec: &ChainSpec) -> Result<(), HeaderRuleError> {
    let (found, before) = (gas_limit(header), gas_limit(parent));
    let allowed = found.zip(before).is_some_and(|(found, before)| {
        gas_limit_bounds(before, spec).is_some_and(|(lowest, highest)| lowest <= found && found <= highest)
    });
    if allowed { Ok(()) } else { Err(HeaderRuleError::GasLimitRange { found, parent: before }) }
}

/// Returns the lowest and the highest gas limit of a child; `None` if the highest exceeds 256 bits.
pub fn gas_limit_bounds(parent: U256, spec: &ChainSpec) -> Option<(U256, U256)> {
    let divisor = U256::from(spec.constants.gas_limit_bound_divisor.max(1));
    // The exact bounds floor(parent * 1023 / 1024) and floor(parent * 1025 / 1024).
    Some((parent.checked_sub(parent.div_ceil(divisor))?, parent.checked_add(parent / divisor)?))
}

/// Rule 8 for one transaction: returns true if its gas price is at most 100 times the minimum of the block. A minimum of 0
/// means no cap.
pub fn gas_price_is_below_cap(block_minimum: U256, gas_price: U256) -> bool {
    let cap = block_minimum.checked_mul(U256::from(GAS_PRICE_CAP_FACTOR));
    block_minimum.is_zero() || cap.is_none_or(|cap| gas_price <= cap)
}

/// Rule 14: the gas limit is at least the minimum of the network.
pub fn gas_limit_floor(header: &Header, spec: &ChainSpec) -> Result<(), HeaderRuleError> {
    let found = gas_limit(header);
    let floor = spec.constants.min_gas_limit;
    if found.is_some_and(|limit| limit >= U256::from(floor)) {
        return Ok(());
    }
    Err(HeaderRuleError::GasLimitFloor { found, floor })
}

/// Rule 15: the extra data are within the limit of the network.
pub fn extra_data(header: &Header, spec: &ChainSpec) -> Result<(), HeaderRuleError> {
    let (length, limit) = (header.extra_data.len(), spec.constants.maximum_extra_data_size);
    if length <= limit { Ok(()) } else { Err(HeaderRuleError::ExtraData { length, limit }) }
}

/// Rule for uncles: returns true if the gas used is within the gas limit, of which only the low 64 bits count, signed. A
/// missing limit is 0.
pub fn gas_used_fits(gas_limit: &[u8], gas_used: u64) -> bool {
    let low = gas_limit.iter().fold(0_u64, |sum, byte| (sum << 8) | u64::from(*byte));
    i64::try_from(gas_used).is_ok_and(|used| used <= low.cast_signed())
}

/// Returns the gas limit as a number; `None` if the bytes are missing or have more than 256 bits.
fn gas_limit(header: &Header) -> Option<U256> {
    if header.gas_limit.is_empty() { None } else { U256::try_from_be_slice(rlp::strip_zeros(&header.gas_limit)) }
}
