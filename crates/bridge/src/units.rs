//! Conversion between the units of both chains.

use rhizome_primitives::U256;

/// Number of wei in a satoshi.
pub(crate) const WEI_PER_SATOSHI: U256 = U256::from_limbs([10_000_000_000, 0, 0, 0]);

/// Returns whole satoshis: the low 64 bits of the quotient, signed, as in the reference.
pub(crate) fn satoshis_of(wei: U256) -> i64 {
    let [low, ..] = *(wei / WEI_PER_SATOSHI).as_limbs();
    low as i64
}
