//! A whole block, with parallel sublists where RSKIP-144 allows them.
//!
//! The sublists run one after another on the same state. Where that could make a difference, one of them has touched what
//! another one wrote, and such a block is invalid.

use std::ops::Range;
use std::sync::Arc;

use rhizome_primitives::{Address, Block, ChainSpec};
use rhizome_trie::StateReader;

use crate::block::{BlockExecutor, BlockOutcome};
use crate::block_env::{Ancestry, BlockEnv};
use crate::deadline::Deadline;
use crate::error::ExecError;
use crate::state::AccessSet;
use crate::tracer::{Blind, Tracer};
use crate::transaction::{Container, has_sublists};

/// Gas limits of the sublists of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SublistGasLimits {
    /// Of each parallel sublist.
    pub parallel: u64,
    /// Of the sequential one.
    pub sequential: u64,
}

impl SublistGasLimits {
    /// Divides the gas limit of a block, of which the sequential sublist is sure to get `guarantee`.
    pub fn new(block_gas_limit: u64, guarantee: u64) -> SublistGasLimits {
        let parallel = if block_gas_limit / 3 >= guarantee {
            block_gas_limit / 3
        } else {
            block_gas_limit.saturating_sub(guarantee) / 2
        };
        SublistGasLimits { parallel, sequential: block_gas_limit - 2 * parallel }
    }
}

/// Executes a block on the state of its parent. `senders` has one address for every transaction, zero for REMASC.
pub fn execute_block(
    spec: &ChainSpec,
    block: &Block,
    senders: &[Address],
    reader: Arc<dyn StateReader>,
    ancestry: &dyn Ancestry,
    deadline: &Deadline,
) -> Result<BlockOutcome, ExecError> {
    let env = BlockEnv::from_header(&block.header);
    let executor = BlockExecutor::new(spec, env, reader, ancestry)?.with_deadline(deadline.clone());
    execute_with(executor, spec, block, senders, &mut Blind)
}

/// The same with an executor and under the eyes of a tracer.
pub(crate) fn execute_with(
    mut executor: BlockExecutor<'_>,
    spec: &ChainSpec,
    block: &Block,
    senders: &[Address],
    tracer: &mut impl Tracer,
) -> Result<BlockOutcome, ExecError> {
    let transactions = block.transactions.len();
    if senders.len() != transactions {
        return Err(ExecError::Senders { senders: senders.len(), transactions });
    }
    let gas_limit = BlockEnv::from_header(&block.header).gas_limit;
    if !has_sublists(&spec.rules(block.header.number)) {
        let mut container = Container { gas_limit, ..Container::default() };
        run(&mut executor, block, senders, 0..transactions, &mut container, false, tracer)?;
        return executor.finish();
    }
    let limits = SublistGasLimits::new(gas_limit, spec.constants.min_sequential_gas_limit);
    let edges = block.header.edges.as_deref().unwrap_or_default();
    let mut start = 0;
    let mut deleted = revm::primitives::HashSet::default();
    let mut accesses: Vec<AccessSet> = Vec::new();
    for edge in edges {
        let end = usize::try_from(*edge).ok().filter(|end| (start..=transactions).contains(end));
        let end = end.ok_or(ExecError::Edges { transactions })?;
        let mut container = Container { gas_limit: limits.parallel, ..Container::default() };
        executor.state().start_tracking();
        let result = run(&mut executor, block, senders, start..end, &mut container, true, tracer);
        let access = executor.state().stop_tracking();
        result?;
        if accesses.iter().any(|earlier| earlier.conflicts_with(&access)) {
            return Err(ExecError::Conflict);
        }
        accesses.push(access);
        deleted.extend(container.deleted);
        start = end;
    }
    let mut container = Container { gas_used: 0, gas_limit: limits.sequential, deleted };
    run(&mut executor, block, senders, start..transactions, &mut container, false, tracer)?;
    executor.finish()
}

fn run(
    executor: &mut BlockExecutor<'_>,
    block: &Block,
    senders: &[Address],
    range: Range<usize>,
    container: &mut Container,
    is_parallel: bool,
    tracer: &mut impl Tracer,
) -> Result<(), ExecError> {
    let sublist = block.transactions.iter().zip(senders).enumerate().take(range.end).skip(range.start);
    for (index, (transaction, sender)) in sublist {
        let is_remasc = block.is_remasc(index);
        let outcome = executor.execute_traced(transaction, *sender, is_remasc, container, tracer)?;
        if is_parallel && outcome.calls_sequential_contract {
            return Err(ExecError::SequentialContract { index });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gas_is_divided_in_three_ways() {
        let limits = |gas, guarantee| {
            let SublistGasLimits { parallel, sequential } = SublistGasLimits::new(gas, guarantee);
            (parallel, sequential)
        };
        assert_eq!(limits(30_000_000, 10_000_000), (10_000_000, 10_000_000));
        assert_eq!(limits(31_000_000, 10_000_000), (10_333_333, 10_333_334));
        assert_eq!(limits(6_800_000, 10_000_000), (0, 6_800_000));
        assert_eq!(limits(10_000_000, 10_000_000), (0, 10_000_000));
        assert_eq!(limits(10_000_000, 6_800_000), (1_600_000, 6_800_000));
        assert_eq!(limits(10_000_001, 6_800_000), (1_600_000, 6_800_001));
    }
}
