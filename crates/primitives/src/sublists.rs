//! Gas limits of sublists (RSKIP-144).

use crate::chain_spec::ChainSpec;
use alloy_primitives::U256;

/// Division of the block gas limit among sublists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SublistGasLimits {
    /// Gas limit of each parallel sublist.
    pub parallel: U256,
    /// Gas limit of the sequential sublist.
    pub sequential: U256,
}

impl SublistGasLimits {
    /// Returns the limits of a block with this gas limit.
    pub fn of(spec: &ChainSpec, block_gas_limit: U256) -> Self {
        Self::divide(spec.constants.min_sequential_gas_limit, spec.constants.parallel_sublists, block_gas_limit)
    }

    /// Divides `block_gas_limit` among the parallel sublists and the sequential sublist, which gets at least
    /// `minimum_sequential` if the block has that much.
    pub fn divide(minimum_sequential: u64, parallel_sublists: usize, block_gas_limit: U256) -> Self {
        let minimum = U256::from(minimum_sequential);
        let sublists = U256::from(parallel_sublists.max(1));
        let fair = block_gas_limit / sublists.saturating_add(U256::ONE);
        let parallel = if fair >= minimum { fair } else { block_gas_limit.saturating_sub(minimum) / sublists };
        // The parallel sublists together never exceed the block gas limit: no underflow.
        Self { parallel, sequential: block_gas_limit.saturating_sub(parallel.saturating_mul(sublists)) }
    }

    /// Returns the larger limit, the maximum gas limit of a transaction in the block.
    pub fn largest(&self) -> U256 {
        self.parallel.max(self.sequential)
    }
}

/// Returns the maximum gas limit of a transaction in a block with this number and gas limit.
pub fn largest_transaction_gas(spec: &ChainSpec, number: u64, block_gas_limit: U256) -> U256 {
    if !spec.rules(number).has_sublists() {
        return block_gas_limit;
    }
    SublistGasLimits::of(spec, block_gas_limit).largest()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gas_is_divided_among_sublists() {
        let limits = |gas: u64, guarantee| {
            let SublistGasLimits { parallel, sequential } = SublistGasLimits::divide(guarantee, 2, U256::from(gas));
            (parallel.to::<u64>(), sequential.to::<u64>())
        };
        assert_eq!(limits(30_000_000, 10_000_000), (10_000_000, 10_000_000));
        assert_eq!(limits(31_000_000, 10_000_000), (10_333_333, 10_333_334));
        assert_eq!(limits(6_800_000, 10_000_000), (0, 6_800_000));
        assert_eq!(limits(10_000_000, 10_000_000), (0, 10_000_000));
        assert_eq!(limits(10_000_000, 6_800_000), (1_600_000, 6_800_000));
        assert_eq!(limits(10_000_001, 6_800_000), (1_600_000, 6_800_001));
    }
}
