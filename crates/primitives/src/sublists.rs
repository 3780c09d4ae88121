//! Gas limits of the parts of a block from RSKIP-144 on.

use crate::chain_spec::ChainSpec;
use alloy_primitives::U256;

/// How the gas of a block is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SublistGasLimits {
    /// Limit of each parallel sublist.
    pub parallel: U256,
    /// Limit of the sequential part.
    pub sequential: U256,
}

impl SublistGasLimits {
    /// The limits of a block with this gas limit.
    pub fn of(spec: &ChainSpec, block_gas_limit: U256) -> Self {
        Self::divide(spec.constants.min_sequential_gas_limit, spec.constants.parallel_sublists, block_gas_limit)
    }

    /// Divides `block_gas_limit` between so many parallel sublists and a sequential part that gets at least
    /// `minimum_sequential`, if the block has that much.
    pub fn divide(minimum_sequential: u64, parallel_sublists: usize, block_gas_limit: U256) -> Self {
        let minimum = U256::from(minimum_sequential);
        let sublists = U256::from(parallel_sublists.max(1));
        let fair = block_gas_limit / sublists.saturating_add(U256::ONE);
        let parallel = if fair >= minimum { fair } else { block_gas_limit.saturating_sub(minimum) / sublists };
        // All parallel parts together are at most the whole: no underflow.
        Self { parallel, sequential: block_gas_limit.saturating_sub(parallel.saturating_mul(sublists)) }
    }

    /// The larger of the two: no transaction with a higher gas limit fits into the block.
    pub fn largest(&self) -> U256 {
        self.parallel.max(self.sequential)
    }
}

/// Highest gas limit that a transaction can have in a block of this number and gas limit.
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
    fn gas_is_divided_in_three_ways() {
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
