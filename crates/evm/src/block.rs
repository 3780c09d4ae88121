//! The execution of a block, one transaction after another.

use std::collections::BTreeSet;
use std::sync::Arc;

use rhizome_primitives::{Address, Bloom, ChainSpec, I256, REMASC, Receipt, Transaction, U256};
use rhizome_trie::activation::{SetUpMode, set_ups};
use rhizome_trie::{PriorValues, StateDelta, StateError, StateReader};

use crate::block_env::{Ancestry, BlockEnv};
use crate::deadline::Deadline;
use crate::error::ExecError;
use crate::evm::Evm;
use crate::machine::Machine;
use crate::overrides::StateOverrides;
use crate::state::{AccessSet, Checkpoint, State};
use crate::tracing::{EnclosingTransaction, Inspected, InspectingTracer, Inspection, complete, view_after};
use crate::tracing::{InterpreterTracer, NoOpTracer};
use crate::transaction::{FeePayment, SublistState, TransactionContext, TransactionOutcome};

/// Executes transactions on the state of the parent block.
///
/// [`BlockExecutor::execute`] treats the block as one list. A caller that arranges sublists passes the state of each
/// sublist to [`BlockExecutor::execute_in`].
pub struct BlockExecutor<'e> {
    evm: Evm<'e>,
    payment: FeePayment,
    block: SublistState,
    executed: BlockTotals,
    last: Option<UndoPoint>,
}

/// Sums over the executed transactions.
#[derive(Debug, Clone, Default)]
struct BlockTotals {
    /// Number of transactions that an earlier executor has executed.
    earlier: usize,
    receipts: Vec<Receipt>,
    created: Vec<Option<Address>>,
    gas_used: u64,
    fees: U256,
    /// Fees that REMASC has not received yet.
    unpaid_fees: U256,
    bloom: Bloom,
}

/// Accumulators that pass from one executor of a block to the next, beside the state.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CarriedTotals {
    /// Number of executed transactions.
    pub(crate) transactions: usize,
    /// Fees that REMASC has not received yet, in wei.
    pub(crate) unpaid_fees: U256,
}

/// The totals before the last transaction.
struct UndoPoint {
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
    /// Sum of the fees in wei. It can exceed gas used times price.
    pub paid_fees: U256,
    /// Bloom filter of all logs.
    pub logs_bloom: Bloom,
    /// Changes against the state of the parent.
    pub delta: StateDelta,
    /// Values in the state of the parent for all writes of `delta`, in its order. `None` if an account was deleted or code replaced.
    pub prior_values: Option<PriorValues>,
    /// Address of the contract that each transaction creates, also if the creation failed.
    pub created: Vec<Option<Address>>,
    /// Accounts of inner calls of each transaction: callees, created contracts, heirs of destroyed contracts. Each once, in
    /// order, also if the call was undone; without the precompiles that Ethereum has. `None` unless they are collected.
    pub inner_accounts: Option<Vec<Vec<Address>>>,
}

impl<'e> BlockExecutor<'e> {
    /// Creates an executor and sets up the accounts that the block activates. Reads nothing else.
    pub fn new(
        spec: &'e ChainSpec,
        env: BlockEnv,
        reader: Arc<dyn StateReader>,
        ancestry: &'e dyn Ancestry,
    ) -> Result<BlockExecutor<'e>, ExecError> {
        let number = env.number;
        let mut executor = BlockExecutor::resume(spec, env, State::new(reader), ancestry, CarriedTotals::default());
        set_up_contracts(executor.state(), spec, number)?;
        executor.state().settle();
        Ok(executor)
    }

    /// Continues the block of another executor. The result of [`BlockExecutor::finish`] covers only the transactions of this
    /// executor.
    pub(crate) fn resume(
        spec: &'e ChainSpec,
        env: BlockEnv,
        state: State,
        ancestry: &'e dyn Ancestry,
        carried: CarriedTotals,
    ) -> BlockExecutor<'e> {
        let block = SublistState { gas_limit: env.gas_limit, ..SublistState::default() };
        let machine = Machine::new(spec, env, ancestry, state, Deadline::none());
        let payment = FeePayment::under(&machine.rules);
        let CarriedTotals { transactions, unpaid_fees } = carried;
        let executed = BlockTotals { earlier: transactions, unpaid_fees, ..BlockTotals::default() };
        BlockExecutor { evm: Evm::new(machine), payment, block, executed, last: None }
    }

    /// Returns the totals for [`BlockExecutor::resume`].
    pub(crate) fn carried(&self) -> CarriedTotals {
        CarriedTotals { transactions: self.executed.transactions(), unpaid_fees: self.executed.unpaid_fees }
    }

    /// Returns the state after the executed transactions.
    pub(crate) fn into_state(self) -> State {
        self.evm.machine.state
    }

    /// Sets a deadline. Execution fails once it has passed.
    #[must_use]
    pub fn with_deadline(mut self, deadline: Deadline) -> BlockExecutor<'e> {
        self.evm.machine.deadline = deadline;
        self
    }

    /// Sets a fee payment other than that of the rules.
    #[must_use]
    pub fn with_fee_payment(mut self, payment: FeePayment) -> BlockExecutor<'e> {
        self.payment = payment;
        self
    }

    /// Sets the index of the next transaction in the block, which TXINDEX and error messages show. Golden data has single
    /// transactions with their index.
    #[must_use]
    pub fn at_index(mut self, index: usize) -> BlockExecutor<'e> {
        self.executed.earlier = index;
        self
    }

    /// Applies state overrides. Must precede the first transaction.
    pub fn apply_overrides(&mut self, overrides: &StateOverrides) -> Result<(), ExecError> {
        let machine = &mut self.evm.machine;
        machine.moved_precompiles = overrides.moved_precompiles(&machine.rules)?;
        Ok(overrides.apply(&mut machine.state)?)
    }

    /// Collects the accounts of inner calls from the next transaction on.
    pub(crate) fn collect_inner_accounts(&mut self) {
        self.evm.machine.inner_accounts = Some(BTreeSet::new());
    }

    /// Returns the accounts of inner calls of the last transaction; `None` unless they are collected.
    pub(crate) fn inner_accounts(&self) -> Option<Vec<Address>> {
        self.evm.machine.inner_accounts.as_ref().map(|inner| inner.iter().copied().collect())
    }

    /// Returns the state after the executed transactions.
    pub fn state(&mut self) -> &mut State {
        &mut self.evm.machine.state
    }

    /// Returns the gas used by the executed transactions.
    pub fn gas_used(&self) -> u64 {
        self.executed.gas_used
    }

    /// Executes the next transaction of a block without sublists. A transaction with the form of the REMASC transaction is
    /// executed as such; its sender is ignored. An error leaves the state unchanged.
    pub fn execute(&mut self, transaction: &Transaction, sender: Address) -> Result<TransactionOutcome, ExecError> {
        let mut block = std::mem::take(&mut self.block);
        let is_remasc = transaction.has_remasc_form();
        let result = self.execute_in(transaction, sender, is_remasc, &mut block);
        self.block = block;
        result
    }

    /// Executes the next transaction of a block or sublist whose state the caller holds.
    pub fn execute_in(
        &mut self,
        transaction: &Transaction,
        sender: Address,
        is_remasc: bool,
        sublist: &mut SublistState,
    ) -> Result<TransactionOutcome, ExecError> {
        self.execute_traced(transaction, sender, is_remasc, sublist, &mut NoOpTracer)
    }

    /// Does the same as [`BlockExecutor::execute_in`] and returns the accessed trie keys.
    pub fn execute_tracked(
        &mut self,
        transaction: &Transaction,
        sender: Address,
        is_remasc: bool,
        sublist: &mut SublistState,
    ) -> Result<(TransactionOutcome, AccessSet), ExecError> {
        self.state().start_tracking();
        let result = self.execute_in(transaction, sender, is_remasc, sublist);
        let access = self.state().stop_tracking();
        result.map(|outcome| (outcome, access))
    }

    /// Does the same as [`BlockExecutor::execute_in`] with an inspection. If account changes are requested, the transaction
    /// runs twice.
    pub fn inspect_in(
        &mut self,
        transaction: &Transaction,
        sender: Address,
        is_remasc: bool,
        sublist: &mut SublistState,
        inspection: Inspection<'_>,
    ) -> Result<Inspected<TransactionOutcome>, ExecError> {
        let before = inspection.changes_limit.map(|limit| (limit, sublist.clone()));
        if before.is_some() {
            self.state().start_tracking();
        }
        let enclosing = EnclosingTransaction { is_creation: transaction.is_creation(), hash: transaction.hash() };
        let result = match inspection.inspector {
            Some(inspector) => {
                let tracer = &mut InspectingTracer::new(inspector, enclosing);
                self.execute_traced(transaction, sender, is_remasc, sublist, tracer)
            }
            None => self.execute_in(transaction, sender, is_remasc, sublist),
        };
        let access = self.state().stop_tracking();
        let outcome = result?;
        let mut accounts = Vec::new();
        if let Some((limit, before)) = before {
            let state = self.state();
            accounts = view_after(state, state.touched(&access), limit)?;
            self.undo_last();
            complete(self.state(), &mut accounts)?;
            *sublist = before;
            self.execute_in(transaction, sender, is_remasc, sublist)?;
        }
        Ok(Inspected { outcome, accounts })
    }

    pub(crate) fn execute_traced(
        &mut self,
        transaction: &Transaction,
        sender: Address,
        is_remasc: bool,
        sublist: &mut SublistState,
        tracer: &mut impl InterpreterTracer,
    ) -> Result<TransactionOutcome, ExecError> {
        self.evm.machine.state.settle();
        self.last = None;
        let last = UndoPoint {
            checkpoint: self.evm.machine.state.checkpoint(),
            gas_used: self.executed.gas_used,
            fees: self.executed.fees,
            unpaid_fees: self.executed.unpaid_fees,
            bloom: self.executed.bloom,
        };
        if is_remasc {
            self.pay_postponed_fees()?;
        }
        let context = TransactionContext { index: self.executed.transactions(), is_remasc, payment: self.payment };
        let result = self.evm.transact(transaction, sender, context, sublist, tracer);
        let outcome = match result {
            Ok(outcome) => outcome,
            Err(error) => {
                self.evm.machine.state.revert(last.checkpoint);
                self.executed.unpaid_fees = last.unpaid_fees;
                return Err(error);
            }
        };
        self.executed.add(&outcome, sublist.gas_used, self.payment);
        self.last = Some(last);
        Ok(outcome)
    }

    /// Undoes the last transaction. Returns false if there is none: two calls must not follow each other.
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

    /// Ends the block. Pays the fees that no REMASC transaction has collected.
    pub fn finish(mut self) -> Result<BlockOutcome, ExecError> {
        self.pay_postponed_fees()?;
        let (delta, prior_values) = self.evm.machine.state.into_changes();
        Ok(BlockOutcome {
            receipts: self.executed.receipts,
            gas_used: self.executed.gas_used,
            paid_fees: self.executed.fees,
            logs_bloom: self.executed.bloom,
            delta,
            prior_values,
            created: self.executed.created,
            inner_accounts: None,
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

impl BlockTotals {
    fn transactions(&self) -> usize {
        self.earlier + self.receipts.len()
    }

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

/// Creates the accounts of precompiles that activate at this block.
fn set_up_contracts(state: &mut State, spec: &ChainSpec, number: u64) -> Result<(), StateError> {
    for (address, mode) in set_ups(spec, number) {
        if mode == SetUpMode::Overwrite || !state.exists(address)? {
            state.create_account(address)?;
        }
        state.setup_contract(address)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use rhizome_primitives::{Rule, hex};

    use super::*;
    use crate::error::TransactionRefusal;
    use crate::fixtures::{NoAncestors, contract, env, rich, signed, world};

    /// Writes the number in its call data to slot 1.
    const STORE: [u8; 6] = hex!("600035600155");

    #[test]
    fn refused_transactions_leave_the_state_unchanged() {
        let spec = ChainSpec::regtest();
        let mut executor = BlockExecutor::new(&spec, env(5), world(&[]), &NoAncestors).unwrap();
        let refused = executor.execute(&signed(1, Some(rich()), &[], 21_000, 0), rich());
        let expected = TransactionRefusal::Nonce { nonce: U256::from(1), expected: U256::ZERO };
        assert!(matches!(refused, Err(ExecError::Refused { index: 0, reason }) if reason == expected));
        let outcome = executor.finish().unwrap();
        assert!(outcome.delta.is_empty() && outcome.receipts.is_empty());
    }

    #[test]
    fn txindex_returns_the_index_of_the_transaction() {
        let spec = ChainSpec::regtest().with_rule_height(Rule::Rskip191, None);
        // Returns TXINDEX.
        let code = hex!("aa60005260206000f3");
        let to = contract(0x51);
        let executor = BlockExecutor::new(&spec, env(5), world(&[(to, &code)]), &NoAncestors).unwrap();
        let mut executor = executor.at_index(3);
        for index in 3..5_u8 {
            let outcome = executor.execute(&signed(u64::from(index) - 3, Some(to), &[], 100_000, 0), rich()).unwrap();
            assert_eq!(outcome.output.last(), Some(&index));
        }
    }

    #[test]
    fn undoes_the_last_transaction() {
        let spec = ChainSpec::regtest();
        let store = contract(0x51);
        let first = signed(0, Some(store), &[7; 32], 100_000, 0);
        let second = signed(1, Some(store), &[0; 32], 100_000, 0);
        let run = |is_undone: bool| {
            let mut executor = BlockExecutor::new(&spec, env(5), world(&[(store, &STORE)]), &NoAncestors).unwrap();
            executor.execute(&first, rich()).unwrap();
            if is_undone {
                let mut sublist = SublistState { gas_limit: 6_800_000, ..SublistState::default() };
                let (outcome, access) = executor.execute_tracked(&second, rich(), false, &mut sublist).unwrap();
                assert!(outcome.success && !access.writes().is_empty());
                assert!(executor.undo_last() && !executor.undo_last());
            }
            executor.finish().unwrap()
        };
        let (expected, actual) = (run(false), run(true));
        assert_eq!(expected.delta, actual.delta);
        assert_eq!(expected.receipts, actual.receipts);
        assert_eq!((expected.gas_used, expected.paid_fees), (actual.gas_used, actual.paid_fees));
    }

    #[test]
    fn fees_are_postponed_if_the_rules_allow_sublists() {
        let transfer = signed(0, Some(rich()), &[], 21_000, 0);
        let fee_before_end = |spec: ChainSpec| {
            let mut executor = BlockExecutor::new(&spec, env(5), world(&[]), &NoAncestors).unwrap();
            executor.execute(&transfer, rich()).unwrap();
            executor.state().balance(REMASC).unwrap()
        };
        let fee = I256::try_from(21_000).unwrap();
        assert_eq!(fee_before_end(ChainSpec::regtest()), I256::ZERO);
        assert_eq!(fee_before_end(ChainSpec::regtest().with_rule_height(Rule::Rskip144, None)), fee);
        let spec = ChainSpec::regtest();
        let mut executor = BlockExecutor::new(&spec, env(5), world(&[]), &NoAncestors).unwrap();
        executor.execute(&transfer, rich()).unwrap();
        executor.execute(&Transaction::remasc(1), Address::ZERO).unwrap();
        assert_eq!(executor.state().balance(REMASC).unwrap(), fee);
        let outcome = executor.finish().unwrap();
        assert_eq!((outcome.paid_fees, outcome.gas_used), (U256::from(21_000), 21_000));
        assert_eq!(outcome.receipts.len(), 2);
    }
}
