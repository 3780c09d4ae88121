//! Local calls: `eth_call` and gas estimation. They skip the checks of transactions, charge no fee, and their changes are
//! dropped.

use std::sync::Arc;

use rhizome_primitives::{Address, B256, Bytes, ChainSpec, Log, U256};
use rhizome_trie::StateReader;

use crate::block_env::{Ancestry, BlockEnv};
use crate::deadline::Deadline;
use crate::error::{ExecError, Unexecutable};
use crate::evm::Evm;
use crate::frame::End;
use crate::inline_budget::InlineBudget;
use crate::machine::{Machine, Origin};
use crate::overrides::StateOverrides;
use crate::precompiles::Payment;
use crate::state::State;
use crate::tracing::{EnclosingTransaction, Inspected, InspectingTracer, Inspection, complete, view_after};
use crate::tracing::{InterpreterTracer, NoOpTracer};
use crate::transaction::{GAS_LIMIT_LIMIT, Message, granted_refund, local_intrinsic_gas};

/// Added to an estimate when value moved between contracts.
const ESTIMATE_STIPEND: u64 = 2_300;

/// A local call with all defaults and caps applied.
#[derive(Debug, Clone, Default)]
pub struct CallRequest {
    /// `None`: the zero address.
    pub from: Option<Address>,
    /// `None`: a creation.
    pub to: Option<Address>,
    /// Units of gas.
    pub gas: u64,
    /// Wei per unit of gas. Only visible to contracts, not charged.
    pub gas_price: U256,
    /// Wei. The balance of the sender is not checked.
    pub value: U256,
    /// Call data or init code.
    pub data: Bytes,
}

/// The result of a local call.
#[derive(Debug, Clone)]
pub struct CallOutcome {
    /// Return data, or revert data; empty after a halt.
    pub output: Bytes,
    /// How the call ended.
    pub end: End,
    /// Gas used, after the refund.
    pub gas_used: u64,
    /// Gas refunded for cleared slots and deleted accounts.
    pub refund: u64,
    /// Largest amount of gas that a frame had spent or lent at the same time.
    pub peak_gas: u64,
    /// Whether an inner call received all gas left.
    pub moved_all_gas: bool,
    /// Whether an inner call with value was paid.
    pub moved_value: bool,
    /// Logs of all frames that were not reverted.
    pub logs: Vec<Log>,
    /// Payments of the Bridge, if the call goes to it directly and succeeds. REMASC logs its payments.
    pub payments: Vec<Payment>,
    /// Address of the created contract.
    pub created: Option<Address>,
    /// Destroyed contracts, each once.
    pub deleted: Vec<Address>,
}

impl CallOutcome {
    /// Returns the gas limit for such a transaction, at most `cap`. There is no search: the estimate can be too high or, for
    /// contracts that read their gas, too low.
    pub fn estimate(&self, cap: u64) -> u64 {
        let used = if self.moved_all_gas { self.gas_used.saturating_add(self.refund) } else { self.peak_gas };
        let stipend = if self.moved_value { ESTIMATE_STIPEND } else { 0 };
        used.saturating_add(stipend).min(cap)
    }
}

/// Executes a request in a block, on the state of the reader.
pub fn call(
    spec: &ChainSpec,
    env: BlockEnv,
    reader: Arc<dyn StateReader>,
    ancestry: &dyn Ancestry,
    request: &CallRequest,
    deadline: &Deadline,
) -> Result<CallOutcome, ExecError> {
    call_with(&StateOverrides::default(), spec, env, reader, ancestry, request, deadline)
}

/// Does the same as [`call`] with state overrides.
pub fn call_with(
    overrides: &StateOverrides,
    spec: &ChainSpec,
    env: BlockEnv,
    reader: Arc<dyn StateReader>,
    ancestry: &dyn Ancestry,
    request: &CallRequest,
    deadline: &Deadline,
) -> Result<CallOutcome, ExecError> {
    let mut machine = Machine::new(spec, env, ancestry, State::new(reader), deadline.clone());
    machine.moved_precompiles = overrides.moved_precompiles(&machine.rules)?;
    overrides.apply(&mut machine.state)?;
    if !deadline.is_inline() {
        return execute(&mut Evm::new(machine), request, &mut NoOpTracer);
    }
    // The budget covers instructions only: neither the analysis of init code nor a precompile called directly.
    let runs_code = request.to.is_some_and(|to| machine.precompile_at(&to).is_none());
    if !runs_code || deadline.has_passed() {
        return Err(ExecError::DeadlineExceeded);
    }
    execute(&mut Evm::new(machine), request, &mut InlineBudget::new())
}

/// Local calls one after another on one state: each sees the changes of the calls before it.
pub struct CallSequence<'e> {
    evm: Evm<'e>,
}

impl<'e> CallSequence<'e> {
    /// Starts on the state of the reader with the overrides.
    pub fn new(
        overrides: &StateOverrides,
        spec: &'e ChainSpec,
        env: BlockEnv,
        reader: Arc<dyn StateReader>,
        ancestry: &'e dyn Ancestry,
        deadline: &Deadline,
    ) -> Result<CallSequence<'e>, ExecError> {
        CallSequence::on(State::new(reader), overrides, spec, env, ancestry, deadline)
    }

    /// Starts on a state with the overrides.
    pub fn on(
        mut state: State,
        overrides: &StateOverrides,
        spec: &'e ChainSpec,
        env: BlockEnv,
        ancestry: &'e dyn Ancestry,
        deadline: &Deadline,
    ) -> Result<CallSequence<'e>, ExecError> {
        overrides.apply(&mut state)?;
        let mut machine = Machine::new(spec, env, ancestry, state, deadline.clone());
        machine.moved_precompiles = overrides.moved_precompiles(&machine.rules)?;
        Ok(CallSequence { evm: Evm::new(machine) })
    }

    /// Continues in another block, on the state after the calls so far.
    #[must_use]
    pub fn in_block(self, env: BlockEnv) -> CallSequence<'e> {
        let Machine { spec, ancestry, state, deadline, moved_precompiles, .. } = self.evm.machine;
        let mut machine = Machine::new(spec, env, ancestry, state, deadline);
        machine.moved_precompiles = moved_precompiles;
        CallSequence { evm: Evm::new(machine) }
    }

    /// Executes a call with an inspection and keeps its changes. Then its sender has the next nonce.
    pub fn inspect(
        &mut self,
        request: &CallRequest,
        inspection: Inspection<'_>,
    ) -> Result<Inspected<CallOutcome>, ExecError> {
        let inspected = self.observe(request, inspection)?;
        let state = &mut self.evm.machine.state;
        for address in &inspected.outcome.deleted {
            state.delete(*address)?;
        }
        state.increase_nonce(request.from.unwrap_or_default())?;
        state.clear_transient();
        state.settle();
        Ok(inspected)
    }

    /// Executes the last call with an inspection.
    pub fn inspect_last(
        mut self,
        request: &CallRequest,
        inspection: Inspection<'_>,
    ) -> Result<Inspected<CallOutcome>, ExecError> {
        self.observe(request, inspection)
    }

    /// Executes a call. Its changes stay.
    fn observe(
        &mut self,
        request: &CallRequest,
        inspection: Inspection<'_>,
    ) -> Result<Inspected<CallOutcome>, ExecError> {
        let evm = &mut self.evm;
        let start = evm.machine.state.checkpoint();
        if inspection.changes_limit.is_some() {
            evm.machine.state.start_tracking();
        }
        let enclosing = EnclosingTransaction { is_creation: request.to.is_none(), hash: B256::ZERO };
        let outcome = match inspection.inspector {
            Some(inspector) => execute(evm, request, &mut InspectingTracer::new(inspector, enclosing))?,
            None => execute(evm, request, &mut NoOpTracer)?,
        };
        let state = &mut evm.machine.state;
        let mut accounts = Vec::new();
        if let Some(limit) = inspection.changes_limit {
            let access = state.stop_tracking();
            accounts = view_after(state, state.touched(&access), limit)?;
            complete(&mut state.before(start), &mut accounts)?;
        }
        Ok(Inspected { outcome, accounts })
    }
}

fn execute(
    evm: &mut Evm<'_>,
    request: &CallRequest,
    tracer: &mut impl InterpreterTracer,
) -> Result<CallOutcome, ExecError> {
    if request.value.bit(255) {
        return Err(ExecError::Unexecutable { index: 0, reason: Unexecutable::Amount });
    }
    let machine = &mut evm.machine;
    let sender = request.from.unwrap_or_default();
    let message = Message {
        sender: sender.into(),
        nonce: machine.state.nonce(sender)?,
        gas_price: request.gas_price,
        gas_limit: request.gas.min(GAS_LIMIT_LIMIT),
        to: request.to,
        value: request.value,
        data: request.data.clone(),
        intrinsic_gas: local_intrinsic_gas(request.to, &request.data, &sender, machine.spec, &machine.rules),
        hash: B256::ZERO,
        is_remasc: false,
        is_local_call: true,
        signed: None,
    };
    machine.begin(Origin { sender, gas_price: request.gas_price, is_local_call: true, ..Origin::default() });
    let execution = evm.execute(&message, tracer)?;
    let deleted = evm.machine.take_deletions();
    let refund = granted_refund(&execution, deleted.len());
    let left = i128::from(execution.gas_left) + i128::from(refund);
    let gas_used = match execution.end {
        End::Halt(_) => execution.gas_spent,
        _ => u64::try_from(i128::from(message.gas_limit) - left).unwrap_or_default(),
    };
    Ok(CallOutcome {
        output: execution.output,
        end: execution.end,
        gas_used,
        refund,
        peak_gas: execution.peak_gas,
        moved_all_gas: execution.moved_all_gas,
        moved_value: execution.moved_value,
        logs: std::mem::take(&mut evm.machine.logs),
        payments: execution.payments,
        created: execution.created,
        deleted,
    })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;
    use std::time::{Duration, Instant};

    use rhizome_primitives::{BRIDGE, hex};

    use super::*;
    use crate::fixtures::{NoAncestors, contract, env, world};
    use crate::halt::HaltReason;

    fn execute_code(code: &[u8], gas: u64, deadline: &Deadline) -> Result<CallOutcome, ExecError> {
        let to = contract(0x77);
        let request = CallRequest { to: Some(to), gas, ..CallRequest::default() };
        call(&ChainSpec::regtest(), env(5), world(&[(to, code)]), &NoAncestors, &request, deadline)
    }

    #[test]
    fn loops_end_at_the_deadline() {
        let start = Instant::now();
        let endless = hex!("5b600056");
        let result = execute_code(&endless, u64::MAX, &Deadline::at(start + Duration::from_millis(20)));
        assert!(matches!(result, Err(ExecError::DeadlineExceeded)));
        assert!(start.elapsed() < Duration::from_secs(2));
        let cancelled = Deadline::none().or_when(Arc::new(AtomicBool::new(true)));
        assert!(matches!(execute_code(&endless, u64::MAX, &cancelled), Err(ExecError::DeadlineExceeded)));
    }

    #[test]
    fn memory_is_limited_to_two_to_the_thirty_bytes() {
        let halted = |code: &[u8]| {
            let outcome = execute_code(code, i64::MAX as u64, &Deadline::none()).unwrap();
            assert!(matches!(outcome.end, End::Success | End::Halt(HaltReason::OutOfGas)));
            outcome.end != End::Success
        };
        // A store at 2^30 - 31, the same by CALLDATACOPY, RETURN, KECCAK256, LOG0 and MCOPY.
        assert!(halted(&hex!("6000633fffffe152")));
        assert!(halted(&hex!("60206000633fffffe137")));
        assert!(halted(&hex!("6020633fffffe1f3")));
        assert!(halted(&hex!("6020633fffffe120")));
        assert!(halted(&hex!("6020633fffffe1a0")));
        assert!(halted(&hex!("6020633fffffe160005e")));
        // Nothing is no range, wherever it is.
        assert!(!halted(&hex!("60006000637fffffff37")));
    }

    #[test]
    fn instructions_that_skip_a_byte_stop_at_the_end_of_code() {
        let spec = ChainSpec::mainnet();
        let run = |code: &[u8]| {
            let to = contract(0x78);
            let request = CallRequest { to: Some(to), gas: 100_000, ..CallRequest::default() };
            call(&spec, env(5), world(&[(to, code)]), &NoAncestors, &request, &Deadline::none()).unwrap().end
        };
        // DUPN as the last byte, before a last byte, and before the data of a PUSH that is a PUSH itself.
        assert_eq!(run(&hex!("60016000a8")), End::Success);
        assert_eq!(run(&hex!("60016000a8fe")), End::Success);
        assert_eq!(run(&hex!("60016000a8fefe")), End::Halt(HaltReason::InvalidInstruction));
        assert_eq!(run(&hex!("60016000a8607f")), End::Success);
        assert_eq!(run(&hex!("600160006000a9")), End::Success);
    }

    #[test]
    fn checks_the_stack_before_gas_and_rules() {
        let end = |code: &[u8], gas| execute_code(code, gas, &Deadline::none()).unwrap().end;
        assert_eq!(end(&hex!("01"), 21_000), End::Halt(HaltReason::StackUnderflow));
        assert_eq!(end(&hex!("600001"), 21_003), End::Halt(HaltReason::StackUnderflow));
        assert_eq!(end(&hex!("80"), 100_000), End::Halt(HaltReason::StackUnderflow));
        assert_eq!(end(&hex!("5f"), 21_001), End::Halt(HaltReason::OutOfGas));
        assert_eq!(end(&hex!("49"), 21_000), End::Halt(HaltReason::InvalidInstruction));
        assert_eq!(end(&hex!("5b5f600056"), 1_000_000), End::Halt(HaltReason::StackOverflow));
    }

    #[test]
    fn calls_of_the_bridge_by_exempt_senders_are_free() {
        let spec = ChainSpec::regtest();
        let update_collections = Bytes::from_static(&hex!("0c5a9990"));
        let estimate = |from, to, data| {
            let request = CallRequest { from: Some(from), to: Some(to), gas: 100_000, data, ..CallRequest::default() };
            let world = world(&[(BRIDGE, &[])]);
            call(&spec, env(5), world, &NoAncestors, &request, &Deadline::none()).unwrap().estimate(100_000)
        };
        let federator = rhizome_bridge::genesis_federation(spec.network).unwrap()[0];
        assert_eq!(estimate(federator, BRIDGE, update_collections.clone()), 0);
        assert_eq!(estimate(federator, contract(0x77), update_collections.clone()), 21_064);
        assert_eq!(estimate(contract(0x77), BRIDGE, update_collections), 21_064 + 48_008);
    }

    #[test]
    fn only_the_first_contract_makes_local_calls_of_the_bridge() {
        // Both return whether the call succeeds: `inner` calls getFederationSize, `outer` calls `inner`.
        let (inner, outer) = (contract(0x77), contract(0x78));
        let size = hex!("63802ad4b660e01b600052 6000600060046000600063010000065af1 60005260206000f3");
        let forward = [&hex!("6020600060006000600073")[..], inner.as_slice(), &hex!("5af15060206000f3")].concat();
        let world = world(&[(BRIDGE, &[]), (inner, &size), (outer, &forward)]);
        let succeeds = |to| {
            let request = CallRequest { to: Some(to), gas: 1_000_000, ..CallRequest::default() };
            let spec = ChainSpec::regtest();
            let outcome = call(&spec, env(5), Arc::clone(&world), &NoAncestors, &request, &Deadline::none()).unwrap();
            U256::from_be_slice(&outcome.output)
        };
        assert_eq!((succeeds(inner), succeeds(outer)), (U256::ONE, U256::ZERO));
    }

    #[test]
    fn rejects_values_of_two_to_the_255_wei() {
        let request = CallRequest { value: U256::MAX, gas: 100_000, ..CallRequest::default() };
        let result = call(&ChainSpec::regtest(), env(5), world(&[]), &NoAncestors, &request, &Deadline::none());
        assert!(matches!(result, Err(ExecError::Unexecutable { reason: Unexecutable::Amount, .. })));
    }

    #[test]
    fn calls_of_a_sequence_see_earlier_changes() {
        // Adds one to slot 0 and returns it.
        let count = hex!("600160005401 80600055 60005260206000f3");
        let to = contract(0x77);
        let world = world(&[(to, &count)]);
        let (spec, none) = (ChainSpec::regtest(), StateOverrides::default());
        let request = CallRequest { to: Some(to), gas: 100_000, ..CallRequest::default() };
        for changes_limit in [None, Some(1 << 20)] {
            let mut calls =
                CallSequence::new(&none, &spec, env(5), Arc::clone(&world), &NoAncestors, &Deadline::none()).unwrap();
            for expected in 1..=3_u64 {
                let inspected = calls.inspect(&request, Inspection { inspector: None, changes_limit }).unwrap();
                assert_eq!(U256::from_be_slice(&inspected.outcome.output), U256::from(expected));
                let slots = inspected.accounts.iter().flat_map(|account| &account.slots);
                let before: Vec<U256> = slots.map(|slot| slot.before).collect();
                assert_eq!(before, if changes_limit.is_some() { vec![U256::from(expected - 1)] } else { Vec::new() });
            }
            // Creations of a sender are at different addresses.
            let creation = CallRequest { to: None, ..request.clone() };
            let created = |calls: &mut CallSequence<'_>| {
                calls.inspect(&creation, Inspection { inspector: None, changes_limit }).unwrap().outcome.created
            };
            let first = created(&mut calls);
            assert!(first.is_some() && first != created(&mut calls));
        }
    }
}
