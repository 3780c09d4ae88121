//! Gas limits of the parts of a block from RSKIP-144 on, and the edges between them.

use rhizome_primitives::{ChainSpec, Header, Rule, U256};

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
    if has_sublists(spec, number) { SublistGasLimits::of(spec, block_gas_limit).largest() } else { block_gas_limit }
}

/// Do blocks of this number divide their transactions (RSKIP-144 with RSKIP-351)?
pub fn has_sublists(spec: &ChainSpec, number: u64) -> bool {
    let rules = spec.rules(number);
    rules.is_active(Rule::Rskip351) && rules.is_active(Rule::Rskip144)
}

/// Are these edges of a block with that many transactions allowed? None at all is; otherwise at most one position for
/// each parallel sublist, strictly increasing, above 0 and up to the last transaction, which is always sequential.
pub fn edges_are_valid(edges: &[i16], parallel_sublists: usize, transaction_count: usize) -> bool {
    let increasing = edges.is_sorted_by(|before, after| before < after);
    let first_is_positive = edges.first().is_none_or(|edge| *edge > 0);
    let last_is_inside =
        edges.last().is_none_or(|edge| usize::try_from(*edge).is_ok_and(|edge| edge < transaction_count));
    edges.len() <= parallel_sublists && increasing && first_is_positive && last_is_inside
}

/// Rule 17: the edges of a header, where it must have sensible ones.
pub fn header_edges_are_valid(header: &Header, transaction_count: usize, spec: &ChainSpec) -> bool {
    let edges = header.edges.as_deref().unwrap_or_default();
    !has_sublists(spec, header.number) || edges_are_valid(edges, spec.constants.parallel_sublists, transaction_count)
}
