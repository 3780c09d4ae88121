//! The transactions of a block, one after another.

use std::sync::Arc;

use rhizome_primitives::{Address, Bloom, ChainSpec, I256, REMASC, Receipt, Transaction, U256};
use rhizome_trie::activation::{SetUpMode, set_ups};
use rhizome_trie::{StateDelta, StateError, StateReader};

use crate::block_env::{Ancestry, BlockEnv};
use crate::deadline::Deadline;
use crate::error::ExecError;
use crate::evm::Evm;
use crate::machine::Machine;
use crate::state::{AccessSet, Checkpoint, State};
use crate::tracer::{Blind, Tracer};
use crate::transaction::{Container, FeePayment, TransactionOutcome};

/// Executes transactions on the state of the parent block.
///
/// The plain way is [`BlockExecutor::execute`], which accounts for the block as one list. Who arranges sublists uses
/// [`BlockExecutor::execute_in`] with containers of their own.
pub struct BlockExecutor<'e> {
    evm: Evm<'e>,
    payment: FeePayment,
    block: Container,
    executed: Executed,
    last: Option<Last>,
}

/// What the transactions so far add up to.
#[derive(Debug, Clone, Default)]
struct Executed {
    receipts: Vec<Receipt>,
    created: Vec<Option<Address>>,
    gas_used: u64,
    fees: U256,
    /// Fees that REMASC has not received yet.
    unpaid_fees: U256,
    bloom: Bloom,
}

/// How the last transaction is taken back.
struct Last {
    checkpoint: Checkpoint,
    gas_used: u64,
    fees: U256,
    unpaid_fees: U256,
    bloom: Bloom,
}

/// The result of executing a block.
#[derive(Debug, Clone)]
pub struct BlockOutcome {
    /// In block order.
    pub receipts: Vec<Receipt>,
    /// Sum over all transactions.
    pub gas_used: u64,
    /// Sum of the fees in wei; can exceed gas used times price.
    pub paid_fees: U256,
    /// Of all logs.
    pub logs_bloom: Bloom,
    /// What changed against the state of the parent.
    pub delta: StateDelta,
    /// For each transaction the address of the contract that it creates, also where that failed.
    pub created: Vec<Option<Address>>,
}

impl<'e> BlockExecutor<'e> {
    /// Sets up the accounts that the block activates; nothing else is read yet.
    pub fn new(
        spec: &'e ChainSpec,
        env: BlockEnv,
        reader: Arc<dyn StateReader>,
        ancestry: &'e dyn Ancestry,
    ) -> Result<BlockExecutor<'e>, ExecError> {
        let number = env.number;
        let block = Container { gas_limit: env.gas_limit, ..Container::default() };
        let mut machine = Machine::new(spec, env, ancestry, State::new(reader), Deadline::none());
        set_up_contracts(&mut machine.state, spec, number)?;
        machine.state.settle();
        let payment = FeePayment::under(&machine.rules);
        Ok(BlockExecutor { evm: Evm::new(machine), payment, block, executed: Executed::default(), last: None })
    }

    /// The same executor, which gives up when the deadline has passed.
    #[must_use]
    pub fn with_deadline(mut self, deadline: Deadline) -> BlockExecutor<'e> {
        self.evm.machine.deadline = deadline;
        self
    }

    /// The same executor, which pays fees otherwise than the rules of the block say.
    #[must_use]
    pub fn with_fee_payment(mut self, payment: FeePayment) -> BlockExecutor<'e> {
        self.payment = payment;
        self
    }

    /// The state as the transactions so far left it.
    pub fn state(&mut self) -> &mut State {
        &mut self.evm.machine.state
    }

    /// Gas used by all transactions so far.
    pub fn gas_used(&self) -> u64 {
        self.executed.gas_used
    }

    /// Executes the next transaction of a block that is one list. Whatever has the form of the REMASC transaction is
    /// taken for it; its sender does not matter. On an error nothing is changed.
    pub fn execute(&mut self, transaction: &Transaction, sender: Address) -> Result<TransactionOutcome, ExecError> {
        let mut block = std::mem::take(&mut self.block);
        let is_remasc = transaction.has_remasc_form();
        let result = self.execute_in(transaction, sender, is_remasc, &mut block);
        self.block = block;
        result
    }

    /// Executes the next transaction in a block or sublist of which the caller keeps the account.
    pub fn execute_in(
        &mut self,
        transaction: &Transaction,
        sender: Address,
        is_remasc: bool,
        container: &mut Container,
    ) -> Result<TransactionOutcome, ExecError> {
        self.execute_traced(transaction, sender, is_remasc, container, &mut Blind)
    }

    /// As [`BlockExecutor::execute_in`], and says which trie keys were touched.
    pub fn execute_tracked(
        &mut self,
        transaction: &Transaction,
        sender: Address,
        is_remasc: bool,
        container: &mut Container,
    ) -> Result<(TransactionOutcome, AccessSet), ExecError> {
        self.state().start_tracking();
        let result = self.execute_in(transaction, sender, is_remasc, container);
        let access = self.state().stop_tracking();
        result.map(|outcome| (outcome, access))
    }

    pub(crate) fn execute_traced(
        &mut self,
        transaction: &Transaction,
        sender: Address,
        is_remasc: bool,
        container: &mut Container,
        tracer: &mut impl Tracer,
    ) -> Result<TransactionOutcome, ExecError> {
        self.evm.machine.state.settle();
        self.last = None;
        let last = Last {
            checkpoint: self.evm.machine.state.checkpoint(),
            gas_used: self.executed.gas_used,
            fees: self.executed.fees,
            unpaid_fees: self.executed.unpaid_fees,
            bloom: self.executed.bloom,
        };
        if is_remasc {
            self.pay_postponed_fees()?;
        }
        let index = self.executed.receipts.len();
        let result =
            self.evm.transact(transaction, sender, index, is_remasc, container, self.payment, tracer);
        let outcome = match result {
            Ok(outcome) => outcome,
            Err(error) => {
                self.evm.machine.state.revert(last.checkpoint);
                self.executed.unpaid_fees = last.unpaid_fees;
                return Err(error);
            }
        };
        self.executed.add(&outcome, container.gas_used, self.payment);
        self.last = Some(last);
        Ok(outcome)
    }

    /// Takes the last transaction back, as if it had not been executed. False if there is none to take back: only the
    /// very last one can be.
    pub fn undo_last(&mut self) -> bool {
        let Some(last) = self.last.take() else { return false };
        self.evm.machine.state.revert(last.checkpoint);
        self.executed.receipts.pop();
        self.executed.created.pop();
        self.executed.gas_used = last.gas_used;
        self.executed.fees = last.fees;
        self.executed.unpaid_fees = last.unpaid_fees;
        self.executed.bloom = last.bloom;
        true
    }

    /// Ends the block. Fees that no REMASC transaction has collected are paid now.
    pub fn finish(mut self) -> Result<BlockOutcome, ExecError> {
        self.pay_postponed_fees()?;
        Ok(BlockOutcome {
            receipts: self.executed.receipts,
            gas_used: self.executed.gas_used,
            paid_fees: self.executed.fees,
            logs_bloom: self.executed.bloom,
            delta: self.evm.machine.state.into_delta(),
            created: self.executed.created,
        })
    }

    fn pay_postponed_fees(&mut self) -> Result<(), ExecError> {
        let unpaid = std::mem::take(&mut self.executed.unpaid_fees);
        if self.payment == FeePayment::Postponed && !unpaid.is_zero() {
            self.evm.machine.state.add_balance(REMASC, I256::from_raw(unpaid))?;
        }
        Ok(())
    }
}

impl Executed {
    fn add(&mut self, outcome: &TransactionOutcome, cumulative_gas: u64, payment: FeePayment) {
        let bloom = Bloom::of_logs(&outcome.logs);
        self.bloom.accrue(&bloom);
        self.gas_used = self.gas_used.saturating_add(outcome.gas_used);
        self.fees = self.fees.saturating_add(outcome.fee);
        if payment == FeePayment::Postponed {
            self.unpaid_fees = self.unpaid_fees.saturating_add(outcome.fee);
        }
        self.created.push(outcome.created);
        self.receipts.push(Receipt {
            success: outcome.success,
            cumulative_gas,
            bloom,
            logs: outcome.logs.clone(),
            gas_used: outcome.gas_used,
        });
    }
}

/// The accounts of built-in contracts whose rule activates at the block.
fn set_up_contracts(state: &mut State, spec: &ChainSpec, number: u64) -> Result<(), StateError> {
    for (address, mode) in set_ups(spec, number) {
        if mode == SetUpMode::Overwrite || !state.exists(address)? {
            state.create_account(address)?;
        }
        state.setup_contract(address)?;
    }
    Ok(())
}
