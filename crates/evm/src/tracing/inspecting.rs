//! The tracer that passes events to an inspector.

use revm::bytecode::opcode;
use revm::interpreter::interpreter_types::Jumps;
use revm::interpreter::{CallInput, InstructionResult, Interpreter};
use rhizome_primitives::{Address, B256, Bytes, I256, U256};

use super::inner_hash::InnerTransaction;
use super::instruction::{Instruction, code_of};
use super::prices::{Price, memory_growth, price, range_end};
use super::tracer::InterpreterTracer;
use super::{
    CallKind, EnclosingTransaction, Failure, FrameEnd, FrameStart, Inspector, LeafCall, LeafEnd, RefusedDeposit, Step,
    StepEnd,
};
use crate::error::ExecError;
use crate::frame::{End, FinishedFrame, Frame, FrameKind};
use crate::instructions::{RskInterpreter, address_of, precompile_of};
use crate::machine::Machine;

/// A frame that has not ended.
struct OpenFrame {
    kind: CallKind,
    gas: u64,
    hash: B256,
    /// Number of inner transactions that the reference has recorded in the frame.
    recorded: u64,
    instruction: Instruction,
    /// Nonce of the account before the instruction, if that is a call or creation.
    nonce: U256,
    balance: I256,
    /// Input of a call of a precompile, whose output can overwrite it.
    input: Bytes,
    logs: usize,
    /// Price of the instruction while its child frame runs.
    pending_cost: u64,
    /// Price of the instruction that halted the frame, for the message.
    halting_price: Price,
}

/// A tracer that passes events to an [`Inspector`].
pub(crate) struct InspectingTracer<'o> {
    inspector: &'o mut dyn Inspector,
    enclosing: EnclosingTransaction,
    wants_steps: bool,
    wants_messages: bool,
    open: Vec<OpenFrame>,
}

impl<'o> InspectingTracer<'o> {
    pub(crate) fn new(inspector: &'o mut dyn Inspector, enclosing: EnclosingTransaction) -> InspectingTracer<'o> {
        let wants_steps = inspector.wants_steps();
        let wants_messages = inspector.wants_inner_messages();
        InspectingTracer { inspector, enclosing, wants_steps, wants_messages, open: Vec::new() }
    }

    fn kind_of(&self, frame: &Frame) -> CallKind {
        match (&frame.kind, self.open.last().and_then(|parent| parent.instruction.call_kind())) {
            (FrameKind::Top, _) if self.enclosing.is_creation => CallKind::Create,
            (FrameKind::Top, _) | (_, None) => CallKind::Call,
            (_, Some(kind)) => kind,
        }
    }

    /// Records values that the instruction will change.
    fn prepare(
        &mut self,
        interpreter: &Interpreter<RskInterpreter>,
        machine: &mut Machine<'_>,
    ) -> Result<(), ExecError> {
        let Some(open) = self.open.last_mut() else { return Ok(()) };
        let step = &open.instruction;
        open.logs = machine.logs.len();
        let account = interpreter.extend.account;
        if step.byte == opcode::SELFDESTRUCT {
            open.balance = machine.state.balance_at(account)?;
            return Ok(());
        }
        let Some(kind) = step.call_kind() else { return Ok(()) };
        open.nonce = machine.state.nonce(step.account)?;
        open.balance = machine.state.balance_at(account)?;
        let is_precompile = !kind.is_creation() && precompile_of(&step.operand(1), machine).is_some();
        let (offset, size) = step.input_range();
        open.input = match is_precompile && is_affordable(step, offset, size) {
            true => padded_memory(interpreter, offset, size),
            false => Bytes::new(),
        };
        Ok(())
    }

    /// Reports a call or creation that ran no code.
    fn call_ended(
        &mut self,
        interpreter: &Interpreter<RskInterpreter>,
        machine: &mut Machine<'_>,
    ) -> Result<(), ExecError> {
        let Some(open) = self.open.last_mut() else { return Ok(()) };
        let step = &open.instruction;
        let Some(kind) = step.call_kind() else { return Ok(()) };
        let depth = interpreter.input.depth;
        let is_success = interpreter.stack.peek(0).is_ok_and(|result| !result.is_zero());
        let is_deep = depth >= machine.active_rules.depth_limit as usize;
        let value = step.moved_value();
        let is_funded = !open.balance.is_negative() && open.balance.into_raw() >= value;
        let precompile = if kind.is_creation() { None } else { precompile_of(&step.operand(1), machine) };
        let end = match precompile {
            _ if is_deep => LeafEnd::DepthLimit,
            _ if !is_funded => LeafEnd::InsufficientBalance,
            Some(_) if is_success => LeafEnd::PrecompileSucceeded,
            Some(_) => LeafEnd::PrecompileFailed,
            None if kind.is_creation() => LeafEnd::AddressCollision,
            None => LeafEnd::Transferred,
        };
        let left = interpreter.gas.remaining();
        let (gas, gas_used) = match kind.is_creation() {
            true => (interpreter.extend.kept_gas, interpreter.extend.kept_gas.saturating_sub(left)),
            false => {
                let lent = interpreter.extend.lent_gas;
                (lent, lent.saturating_sub(left.saturating_sub(interpreter.extend.kept_gas)))
            }
        };
        let is_recorded = precompile.is_none_or(|entry| is_native(&entry.address));
        if is_recorded && matches!(end, LeafEnd::Transferred | LeafEnd::PrecompileSucceeded | LeafEnd::PrecompileFailed)
        {
            open.recorded += 1;
        }
        let (offset, size) = step.input_range();
        let input = if precompile.is_some() {
            std::mem::take(&mut open.input)
        } else {
            padded_memory(interpreter, offset, size)
        };
        let output = match end {
            LeafEnd::PrecompileSucceeded => interpreter.return_data.0.clone(),
            _ => Bytes::new(),
        };
        let to = if kind.is_creation() { Address::ZERO } else { address_of(step.operand(1)) };
        let value = if kind == CallKind::DelegateCall { interpreter.input.call_value } else { value };
        let call = LeafCall { kind, from: step.account, to, value, gas, gas_used, input, output, end };
        self.inspector.leaf_call(&call)
    }

    fn hash_of(&self, frame: &Frame, kind: CallKind, machine: &Machine<'_>) -> B256 {
        let Some(parent) = self.open.last() else { return self.enclosing.hash };
        let step = &parent.instruction;
        let inner = InnerTransaction {
            nonce: parent.nonce,
            enclosing: parent.hash,
            from: step.account,
            to: (!kind.is_creation()).then_some(frame.interpreter.input.target_address),
            value: step.moved_value(),
            gas_price: machine.origin.gas_price,
            block_gas_limit: machine.env.gas_limit,
            code: code_of(&frame.interpreter),
            depth: frame.interpreter.input.depth.saturating_sub(1),
            recorded: parent.recorded,
        };
        inner.hash()
    }
}

impl InterpreterTracer for InspectingTracer<'_> {
    const HAS_STEPS: bool = true;

    fn frame_start(&mut self, frame: &Frame, machine: &mut Machine<'_>) -> Result<(), ExecError> {
        let interpreter = &frame.interpreter;
        let inputs = &interpreter.input;
        let kind = self.kind_of(frame);
        let hash = match self.open.is_empty() || self.wants_messages {
            true => self.hash_of(frame, kind, machine),
            false => B256::ZERO,
        };
        if let Some(parent) = self.open.last_mut() {
            parent.recorded += 1;
        }
        let shared;
        let input: &[u8] = match (&inputs.input, kind.is_creation()) {
            (_, true) => code_of(interpreter),
            (CallInput::Bytes(bytes), false) => bytes,
            (CallInput::SharedBuffer(range), false) => {
                shared = interpreter.memory.global_slice_range(range.clone());
                &shared
            }
        };
        let from = match kind {
            CallKind::CallCode | CallKind::DelegateCall => inputs.target_address,
            _ => inputs.caller_address,
        };
        let start = FrameStart {
            kind,
            depth: inputs.depth,
            from,
            to: inputs.bytecode_address.unwrap_or(inputs.target_address),
            account: inputs.target_address,
            value: inputs.call_value,
            gas: interpreter.gas.limit(),
            input,
        };
        self.open.push(OpenFrame {
            kind,
            gas: interpreter.gas.limit(),
            hash,
            recorded: 0,
            instruction: Instruction::next(interpreter),
            nonce: U256::ZERO,
            balance: I256::ZERO,
            input: Bytes::new(),
            logs: machine.logs.len(),
            pending_cost: 0,
            halting_price: Price::Whole(0),
        });
        self.inspector.frame_start(&start, &mut machine.state)
    }

    fn step_start(
        &mut self,
        interpreter: &Interpreter<RskInterpreter>,
        machine: &mut Machine<'_>,
    ) -> Result<(), ExecError> {
        if let Some(open) = self.open.last_mut() {
            open.instruction.read_next(interpreter);
        }
        self.prepare(interpreter, machine)?;
        if !self.shows_step() {
            return Ok(());
        }
        let memory = interpreter.memory.context_memory();
        let step = Step {
            instruction: interpreter.bytecode.opcode(),
            depth: interpreter.input.depth,
            position: interpreter.bytecode.pc(),
            gas: interpreter.gas.remaining(),
            account: interpreter.input.target_address,
            stack: interpreter.stack.data(),
            memory: &memory,
        };
        self.inspector.step_start(&step, &mut machine.state)
    }

    fn step_end(
        &mut self,
        interpreter: &Interpreter<RskInterpreter>,
        machine: &mut Machine<'_>,
        result: Result<(), InstructionResult>,
    ) -> Result<(), ExecError> {
        let has_message = self.has_message();
        let Some(open) = self.open.last_mut() else { return Ok(()) };
        let step = &open.instruction;
        let is_call = step.call_kind().is_some();
        let left = if is_call { interpreter.extend.kept_gas } else { interpreter.gas.remaining() };
        let cost = step.gas.saturating_sub(left);
        let cost = match result {
            Ok(()) => Some(cost),
            Err(InstructionResult::Stop | InstructionResult::Return | InstructionResult::Revert) => Some(cost),
            Err(InstructionResult::SelfDestruct) => {
                let (account, heir, balance) = (step.account, step.address_operand(0), open.balance);
                open.recorded += u64::from(!balance.is_zero());
                self.inspector.selfdestruct(account, heir, balance.into_raw())?;
                Some(cost)
            }
            Err(InstructionResult::Suspend) => {
                open.pending_cost = cost;
                return Ok(());
            }
            Err(_) => {
                if has_message {
                    open.halting_price = price(step, machine)?;
                }
                None
            }
        };
        if result == Ok(()) {
            for log in machine.logs.get(open.logs..).unwrap_or_default() {
                self.inspector.log(log)?;
            }
            if is_call {
                self.call_ended(interpreter, machine)?;
            }
        }
        self.report_step_end(interpreter, cost)
    }

    fn frame_end(
        &mut self,
        frame: &Frame,
        finished: &FinishedFrame,
        machine: &mut Machine<'_>,
    ) -> Result<(), ExecError> {
        let has_message = self.has_message();
        let Some(open) = self.open.pop() else { return Ok(()) };
        let refused_deposit = self.refused_deposit(&open, finished);
        let failure = match (finished.end, &refused_deposit) {
            (End::Success | End::Revert, _) => None,
            (End::Halt(_), Some(deposit)) => Some(deposit.failure.clone()),
            (End::Halt(reason), None) if !has_message => Some(Failure::silent(reason, open.instruction.byte)),
            (End::Halt(reason), None) => {
                Some(Failure::of_step(reason, &open.instruction, open.halting_price, open.gas, open.hash))
            }
        };
        let code;
        let output: &[u8] = match (&frame.kind, finished.end) {
            (FrameKind::Create { address }, End::Success) => {
                code = machine.state.code(*address)?.unwrap_or_default();
                &code
            }
            _ => &finished.output,
        };
        let end = FrameEnd {
            end: finished.end,
            failure: failure.as_ref(),
            gas_used: open.gas.saturating_sub(finished.gas_left),
            output,
            refused_deposit: refused_deposit.as_ref(),
        };
        if let (Some(parent), false) = (self.open.last_mut(), open.kind.is_creation()) {
            parent.recorded += open.recorded;
        }
        self.inspector.frame_end(&end)
    }

    fn frame_resume(&mut self, frame: &Frame, _machine: &mut Machine<'_>) -> Result<(), ExecError> {
        let cost = self.open.last().map(|open| open.pending_cost);
        self.report_step_end(&frame.interpreter, cost)
    }
}

impl InspectingTracer<'_> {
    /// Whether a failure of the current frame has the message of the reference.
    fn has_message(&self) -> bool {
        self.open.len() <= 1 || self.wants_messages
    }

    /// Returns the refusal to store the code of a frame that has ended. The message of the reference is that of the
    /// creator, which has lent all its gas.
    fn refused_deposit(&self, open: &OpenFrame, finished: &FinishedFrame) -> Option<RefusedDeposit> {
        let deposit = finished.refused_deposit?;
        let failure = match self.open.last().filter(|_| self.wants_messages) {
            Some(parent) => Failure::of_code(deposit.reason, deposit.code_length, parent.gas, parent.gas, parent.hash),
            None => Failure::silent(deposit.reason, open.instruction.byte),
        };
        Some(RefusedDeposit { failure, gas_used: open.gas.saturating_sub(deposit.gas_left) })
    }

    /// Whether the current instruction is reported. The interpreter executes a STOP beyond the end of the code.
    fn shows_step(&self) -> bool {
        let is_in_code = self.open.last().is_some_and(|open| open.instruction.position < open.instruction.code_length);
        self.wants_steps && is_in_code
    }

    fn report_step_end(
        &mut self,
        interpreter: &Interpreter<RskInterpreter>,
        cost: Option<u64>,
    ) -> Result<(), ExecError> {
        if !self.shows_step() {
            return Ok(());
        }
        let memory = interpreter.memory.context_memory();
        let end = StepEnd { cost, gas: interpreter.gas.remaining(), stack: interpreter.stack.data(), memory: &memory };
        self.inspector.step_end(&end)
    }
}

/// Whether the reference records calls of a precompile: Bridge, REMASC and the precompiles with an ABI.
fn is_native(address: &Address) -> bool {
    matches!(address.0.0, [.., 0x01, 0x00, 0x00, 0x06 | 0x08 | 0x09 | 0x10 | 0x11])
}

/// Whether the gas covers memory up to the end of the range. Otherwise the instruction fails.
fn is_affordable(step: &Instruction, offset: U256, size: U256) -> bool {
    memory_growth(step, range_end(offset, size)).is_some_and(|cost| cost <= step.gas)
}

/// Returns a range of memory, padded with zeros beyond the end of the memory.
fn padded_memory(interpreter: &Interpreter<RskInterpreter>, offset: U256, size: U256) -> Bytes {
    if size.is_zero() {
        return Bytes::new();
    }
    let memory = interpreter.memory.context_memory();
    let (start, length): (usize, usize) = (offset.saturating_to(), size.saturating_to());
    let present = memory.get(start.min(memory.len())..).unwrap_or_default();
    let mut bytes = present.get(..length.min(present.len())).unwrap_or_default().to_vec();
    bytes.resize(length, 0);
    bytes.into()
}
