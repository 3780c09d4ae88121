//! Arrangement of the transactions of a block under construction.

use rhizome_evm::{BlockExecutor, ExecError, SublistState};
use rhizome_primitives::{Address, ChainSpec, Header, Receipt, Transaction};

use super::sublists::Sublists;
use crate::txpool::PooledTransaction;

/// Result of adding a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Placement {
    /// The transaction was executed and is in the block.
    Placed,
    /// The transaction does not fit. Nothing was changed.
    NoRoom,
}

/// The arrangement of a block.
pub(super) enum BlockLayout {
    /// One list.
    List(SublistState),
    /// Parallel sublists and a sequential one (RSKIP-144).
    Sublists(Box<Sublists>),
}

impl BlockLayout {
    pub(super) fn of(spec: &ChainSpec, header: &Header) -> Self {
        let gas_limit = header.gas_limit_value();
        if spec.rules(header.number).has_sublists() {
            return Self::Sublists(Box::new(Sublists::new(spec, gas_limit)));
        }
        Self::List(SublistState { gas_limit: gas_limit.saturating_to(), ..SublistState::default() })
    }

    /// Returns the highest gas limit that another transaction can have.
    pub(super) fn gas_left(&self) -> u64 {
        match self {
            Self::List(block) => block.gas_limit.saturating_sub(block.gas_used),
            Self::Sublists(sublists) => sublists.gas_left(),
        }
    }

    pub(super) fn execute(
        &mut self,
        executor: &mut BlockExecutor<'_>,
        candidate: &PooledTransaction,
    ) -> Result<Placement, ExecError> {
        if candidate.transaction.gas_limit().saturating_to::<u64>() > self.gas_left() {
            return Ok(Placement::NoRoom);
        }
        match self {
            Self::List(block) => {
                executor.execute_in(&candidate.transaction, candidate.sender, false, block)?;
                Ok(Placement::Placed)
            }
            Self::Sublists(sublists) => sublists.execute(executor, candidate),
        }
    }

    pub(super) fn execute_remasc(
        &mut self,
        executor: &mut BlockExecutor<'_>,
        remasc: &Transaction,
    ) -> Result<(), ExecError> {
        match self {
            Self::List(block) => executor.execute_in(remasc, Address::ZERO, true, block).map(drop),
            Self::Sublists(sublists) => sublists.execute_remasc(executor, remasc),
        }
    }

    /// Returns the ends of the parallel sublists.
    pub(super) fn edges(&self) -> Vec<i16> {
        match self {
            Self::List(_) => Vec::new(),
            Self::Sublists(sublists) => sublists.edges(),
        }
    }

    /// Sorts lists in the order of execution into the order of the block.
    pub(super) fn arrange(
        &self,
        transactions: &mut Vec<Transaction>,
        senders: &mut Vec<Address>,
        receipts: &mut Vec<Receipt>,
    ) {
        if let Self::Sublists(sublists) = self {
            sublists.arrange(transactions, senders, receipts);
        }
    }
}
