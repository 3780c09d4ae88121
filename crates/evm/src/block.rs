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
use crate::overrides::StateOverrides;
use crate::state::{AccessSet, Checkpoint, State};
use crate::tracing::{EnclosingTransaction, Inspected, InspectingTracer, Inspection, complete, view_after};
use crate::tracing::{NoOpTracer, Tracer};
use crate::transaction::{FeePayment, SublistState, TransactionContext, TransactionOutcome};

/// Executes transactions on the state of the parent block.
///
/// The plain way is [`BlockExecutor::execute`], which accounts for the block as one list. Who arranges sublists uses
/// [`BlockExecutor::execute_in`] with containers of their own.
pub struct BlockExecutor<'e> {
    evm: Evm<'e>,
    payment: FeePayment,
    block: SublistState,
    executed: BlockTotals,
    last: Option<UndoPoint>,
}

/// What the transactions so far add up to.
#[derive(Debug, Clone, Default)]
struct BlockTotals {
    /// Transactions that another executor has executed before.
    earlier: usize,
    receipts: Vec<Receipt>,
    created: Vec<Option<Address>>,
    gas_used: u64,
    fees: U256,
    /// Fees that REMASC has not received yet.
    unpaid_fees: U256,
    bloom: Bloom,
}

/// What the transactions so far leave to the next one, beside the state.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CarriedTotals {
    /// How many they are.
    pub(crate) transactions: usize,
    /// Fees that REMASC has not received yet, in wei.
    pub(crate) unpaid_fees: U256,
}

/// How the last transaction is taken back.
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
        let mut executor = BlockExecutor::resume(spec, env, State::new(reader), ancestry, CarriedTotals::default());
        set_up_contracts(executor.state(), spec, number)?;
        executor.state().settle();
        Ok(executor)
    }

    /// Goes on where another executor of the block was left. What [`BlockExecutor::finish`] adds up begins here.
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

    /// What a resumed executor needs beside [`BlockExecutor::into_state`].
    pub(crate) fn carried(&self) -> CarriedTotals {
        CarriedTotals { transactions: self.executed.transactions(), unpaid_fees: self.executed.unpaid_fees }
    }

    /// The state as the transactions so far left it.
    pub(crate) fn into_state(self) -> State {
        self.evm.machine.state
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

    /// The same executor, for which the next transaction has this index in the block. Golden data gives single
    /// transactions with their index; it shows in TXINDEX and in messages.
    #[must_use]
    pub fn at_index(mut self, index: usize) -> BlockExecutor<'e> {
        self.executed.earlier = index;
        self
    }

    /// Lets the transactions find a state that is pretended. To be asked for before the first of them.
    pub fn apply_overrides(&mut self, overrides: &StateOverrides) -> Result<(), ExecError> {
        let machine = &mut self.evm.machine;
        machine.moves = overrides.moves(&machine.rules)?;
        Ok(overrides.apply(&mut machine.state)?)
    }

    /// The state as the transactions so far left it.
    pub fn state(&mut self) -> &mut State {
        &mut self.evm.machine.state
    }

    /// True if the last transaction, also one that could not be executed, called the Bridge or REMASC where a scheduler of
    /// parallel sublists sees it.
    pub(crate) fn calls_sequential_contract(&self) -> bool {
        self.evm.machine.calls_sequential_contract
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
        container: &mut SublistState,
    ) -> Result<TransactionOutcome, ExecError> {
        self.execute_traced(transaction, sender, is_remasc, container, &mut NoOpTracer)
    }

    /// As [`BlockExecutor::execute_in`], and says which trie keys were touched.
    pub fn execute_tracked(
        &mut self,
        transaction: &Transaction,
        sender: Address,
        is_remasc: bool,
        container: &mut SublistState,
    ) -> Result<(TransactionOutcome, AccessSet), ExecError> {
        self.state().start_tracking();
        let result = self.execute_in(transaction, sender, is_remasc, container);
        let access = self.state().stop_tracking();
        result.map(|outcome| (outcome, access))
    }

    /// As [`BlockExecutor::execute_in`], and looks on. Where accounts are asked for, the transaction runs twice.
    pub fn inspect_in(
        &mut self,
        transaction: &Transaction,
        sender: Address,
        is_remasc: bool,
        container: &mut SublistState,
        inspection: Inspection<'_>,
    ) -> Result<Inspected<TransactionOutcome>, ExecError> {
        let before = inspection.changes_limit.map(|limit| (limit, container.clone()));
        if before.is_some() {
            self.state().start_tracking();
        }
        let enclosing = EnclosingTransaction { is_creation: transaction.is_creation(), hash: transaction.hash() };
        let result = match inspection.inspector {
            Some(inspector) => {
                let tracer = &mut InspectingTracer::new(inspector, enclosing);
                self.execute_traced(transaction, sender, is_remasc, container, tracer)
            }
            None => self.execute_in(transaction, sender, is_remasc, container),
        };
        let access = self.state().stop_tracking();
        let outcome = result?;
        let mut accounts = Vec::new();
        if let Some((limit, before)) = before {
            let state = self.state();
            accounts = view_after(state, state.touched(&access), limit)?;
            self.undo_last();
            complete(self.state(), &mut accounts)?;
            *container = before;
            self.execute_in(transaction, sender, is_remasc, container)?;
        }
        Ok(Inspected { outcome, accounts })
    }

    pub(crate) fn execute_traced(
        &mut self,
        transaction: &Transaction,
        sender: Address,
        is_remasc: bool,
        container: &mut SublistState,
        tracer: &mut impl Tracer,
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
        let place = TransactionContext { index: self.executed.transactions(), is_remasc, payment: self.payment };
        let result = self.evm.transact(transaction, sender, place, container, tracer);
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

#[cfg(test)]
mod tests {
    use rhizome_primitives::{BRIDGE, Rule, hex};

    use super::*;
    use crate::error::TransactionRefusal;
    use crate::fixtures::{NoAncestors, contract, env, rich, signed, world};

    /// Writes the number in its call data to cell 1.
    const STORE: [u8; 6] = hex!("600035600155");

    #[test]
    fn refused_transactions_change_nothing() {
        let spec = ChainSpec::regtest();
        let mut executor = BlockExecutor::new(&spec, env(5), world(&[]), &NoAncestors).unwrap();
        let refused = executor.execute(&signed(1, Some(rich()), &[], 21_000, 0), rich());
        let expected = TransactionRefusal::Nonce { nonce: U256::from(1), expected: U256::ZERO };
        assert!(matches!(refused, Err(ExecError::Refused { index: 0, reason }) if reason == expected));
        // The registration of an empty Bitcoin transaction.
        let register = [&hex!("43dc0656")[..], &[0; 96]].concat();
        let needs_bridge = executor.execute(&signed(0, Some(BRIDGE), &register, 100_000, 0), rich());
        assert!(matches!(needs_bridge, Err(ExecError::BridgePart { index: 0, number: 5, stage: 5, .. })));
        let outcome = executor.finish().unwrap();
        assert!(outcome.delta.is_empty() && outcome.receipts.is_empty());
    }

    #[test]
    fn code_sees_the_index_of_its_transaction() {
        let spec = ChainSpec::regtest().with_rule_height(Rule::Rskip191, None);
        // TXINDEX, and its word as the output.
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
    fn the_last_transaction_can_be_taken_back() {
        let spec = ChainSpec::regtest();
        let store = contract(0x51);
        let first = signed(0, Some(store), &[7; 32], 100_000, 0);
        let second = signed(1, Some(store), &[0; 32], 100_000, 0);
        let run = |takes_back: bool| {
            let mut executor = BlockExecutor::new(&spec, env(5), world(&[(store, &STORE)]), &NoAncestors).unwrap();
            executor.execute(&first, rich()).unwrap();
            if takes_back {
                let mut container = SublistState { gas_limit: 6_800_000, ..SublistState::default() };
                let (outcome, access) = executor.execute_tracked(&second, rich(), false, &mut container).unwrap();
                assert!(outcome.success && !access.writes().is_empty());
                assert!(executor.undo_last() && !executor.undo_last());
            }
            executor.finish().unwrap()
        };
        let (kept, taken_back) = (run(false), run(true));
        assert_eq!(kept.delta, taken_back.delta);
        assert_eq!(kept.receipts, taken_back.receipts);
        assert_eq!((kept.gas_used, kept.paid_fees), (taken_back.gas_used, taken_back.paid_fees));
    }

    #[test]
    fn fees_wait_for_remasc_where_sublists_are_allowed() {
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
