//! Conversion between the units of both chains.

use rhizome_primitives::U256;

/// Number of wei in a satoshi.
pub(crate) const WEI_PER_SATOSHI: U256 = U256::from_limbs([10_000_000_000, 0, 0, 0]);
