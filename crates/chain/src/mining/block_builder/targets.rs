//! Header values that move toward the settings of the miner, one step per block.

use rhizome_pow::header_rules::{gas_limit_bounds, minimum_gas_price_bounds};
use rhizome_primitives::{Bytes, ChainSpec, Header, I256, U256};

/// Returns the gas limit of a child in minimal signed form, as miners write it.
pub(super) fn gas_limit(parent: U256, target: u64, spec: &ChainSpec) -> Bytes {
    signed_bytes(next_gas_limit(parent, target, spec))
}

/// Returns the gas limit of a child, as near to `target` as the rules allow.
pub(crate) fn next_gas_limit(parent: U256, target: u64, spec: &ChainSpec) -> U256 {
    let target = U256::from(target.max(spec.constants.min_gas_limit));
    let (_, highest) = gas_limit_bounds(parent, spec).unwrap_or((parent, parent));
    // A step down is as large as a step up, although the rules allow one more for some limits.
    let step = highest.saturating_sub(parent);
    target.clamp(parent.saturating_sub(step), highest)
}

/// Returns the minimum gas price of a child, as near to `target` as the rules allow.
pub(super) fn minimum_gas_price(parent: &Header, target: U256) -> I256 {
    let before = parent.minimum_gas_price.unwrap_or_default();
    let target = I256::try_from(target).unwrap_or(I256::MAX);
    match minimum_gas_price_bounds(before) {
        Some((lowest, highest)) => target.clamp(lowest, highest),
        None => before,
    }
}

/// Encodes big-endian, with a leading zero byte if the top bit is set. Zero is one zero byte.
fn signed_bytes(value: U256) -> Bytes {
    let bytes = value.to_be_bytes_trimmed_vec();
    match bytes.first() {
        Some(first) if first & 0x80 == 0 => bytes.into(),
        _ => [&[0], bytes.as_slice()].concat().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(parent: u64, target: u64) -> U256 {
        U256::from_be_slice(&gas_limit(U256::from(parent), target, &ChainSpec::regtest()))
    }

    #[test]
    fn the_gas_limit_moves_by_a_1024th() {
        assert_eq!(limit(10_000_000, 7_500_000), U256::from(9_990_235));
        assert_eq!(limit(6_800_000, 7_500_000), U256::from(6_806_640));
        assert_eq!(limit(7_500_001, 7_500_000), U256::from(7_500_000));
        assert_eq!(limit(3_000_000, 5), U256::from(3_000_000));
    }

    #[test]
    fn numbers_are_written_in_signed_form() {
        let bytes = |value: u64| signed_bytes(U256::from(value)).to_vec();
        assert_eq!(bytes(9_990_235), [0x00, 0x98, 0x70, 0x5b]);
        assert_eq!(bytes(6_800_000), [0x67, 0xc2, 0x80]);
        assert_eq!(bytes(0), [0]);
    }

    #[test]
    fn the_minimum_gas_price_moves_by_a_percent() {
        let price = |parent: i64, target: u64| {
            let mut header = Header::new(1, &ChainSpec::regtest());
            header.minimum_gas_price = Some(I256::try_from(parent).unwrap());
            minimum_gas_price(&header, U256::from(target))
        };
        let expected = |value: i64| I256::try_from(value).unwrap();
        assert_eq!(price(0, 100), expected(1));
        assert_eq!(price(12, 100), expected(13));
        assert_eq!(price(1000, 1005), expected(1005));
        assert_eq!(price(1000, 0), expected(990));
        assert_eq!(price(0, 0), expected(0));
    }
}
