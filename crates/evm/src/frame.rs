//! Frames: their start, their end, and the return to the parent frame.

use std::ops::Range;

use revm::interpreter::interpreter::ExtBytecode;
use revm::interpreter::interpreter_types::Jumps;
use revm::interpreter::{CallInput, InputsImpl, InstructionResult, Interpreter, InterpreterAction, SharedMemory};
use revm::primitives::hardfork::SpecId;
use rhizome_primitives::{Address, Bytes, U256};

use crate::active_rules::ActiveRules;
use crate::code::ExecutableCode;
use crate::error::ExecError;
use crate::frame_request::{CallFrameRequest, CreateFrameRequest};
use crate::halt::HaltReason;
use crate::instructions::{self, CODE_SIZE_LIMIT, REJECTED_CODE_PREFIX, RskInterpreter};
use crate::machine::Machine;
use crate::state::{AccountIndex, Checkpoint};

/// The first frame of a transaction.
pub(crate) struct TopFrame {
    pub(crate) code: ExecutableCode,
    pub(crate) address: Address,
    pub(crate) account: AccountIndex,
    pub(crate) caller: Address,
    pub(crate) value: U256,
    pub(crate) input: Bytes,
    pub(crate) gas: u64,
    /// Gas spent before the first instruction, at most `gas`.
    pub(crate) intrinsic_gas: u64,
    /// The state after a failure.
    pub(crate) checkpoint: Checkpoint,
}

/// How a frame ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// STOP, RETURN, SELFDESTRUCT or the end of the code.
    Success,
    /// REVERT: the output is revert data, unused gas is returned.
    Revert,
    /// Exceptional halt: all gas is spent.
    Halt(HaltReason),
}

/// The reason why the output of a successful init code was not stored as code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DepositRefusal {
    pub(crate) reason: HaltReason,
    pub(crate) code_length: usize,
    /// Gas left by the init code.
    pub(crate) gas_left: u64,
}

/// The result of a frame.
#[derive(Debug)]
pub(crate) struct FinishedFrame {
    pub(crate) end: End,
    pub(crate) output: Bytes,
    pub(crate) gas_left: u64,
    pub(crate) refund: i64,
    pub(crate) peak_gas: u64,
    pub(crate) moved_all_gas: bool,
    pub(crate) moved_value: bool,
    /// Set for an inner creation whose code was not stored. Before RSKIP-453 such a creation succeeds.
    pub(crate) refused_deposit: Option<DepositRefusal>,
}

/// The origin of a frame, which determines how it returns.
pub(crate) enum FrameKind {
    Top,
    /// A call. Its output is copied to this range of the caller's memory.
    Call {
        output: Range<usize>,
    },
    /// A creation. Its output is the code of the new account.
    Create {
        address: Address,
    },
}

/// One activation of the interpreter. Its allocations are reused by later frames.
pub(crate) struct Frame {
    pub(crate) interpreter: Interpreter<RskInterpreter>,
    pub(crate) kind: FrameKind,
    checkpoint: Checkpoint,
    first_log: usize,
    first_deletion: usize,
    can_start: bool,
}

impl Frame {
    /// Returns an unused frame.
    pub(crate) fn idle() -> Frame {
        Frame {
            interpreter: Interpreter::invalid(),
            kind: FrameKind::Top,
            checkpoint: Checkpoint::default(),
            first_log: 0,
            first_deletion: 0,
            can_start: false,
        }
    }

    /// Starts the first frame of a transaction.
    pub(crate) fn begin_top(&mut self, top: TopFrame, memory: SharedMemory, machine: &Machine<'_>) {
        let inputs = InputsImpl {
            target_address: top.address,
            bytecode_address: None,
            caller_address: top.caller,
            input: CallInput::Bytes(top.input),
            call_value: top.value,
            depth: 0,
        };
        self.kind = FrameKind::Top;
        self.begin(top.code, inputs, memory, false, top.gas, top.checkpoint, machine);
        let state = &mut self.interpreter.extend;
        state.account = top.account;
        state.is_visible_to_scheduler = true;
        state.peak_gas = top.intrinsic_gas;
        self.interpreter.gas.set_remaining(top.gas.saturating_sub(top.intrinsic_gas));
    }

    /// Starts a call by `parent`.
    pub(crate) fn begin_call(&mut self, call: CallFrameRequest, parent: &mut Frame, machine: &Machine<'_>) {
        let inputs = InputsImpl {
            target_address: call.address,
            bytecode_address: Some(call.code_address),
            caller_address: call.caller,
            input: CallInput::SharedBuffer(call.input),
            call_value: call.value,
            depth: parent.interpreter.input.depth + 1,
        };
        let memory = parent.interpreter.memory.new_child_context();
        self.kind = FrameKind::Call { output: call.output };
        self.begin(call.code, inputs, memory, call.is_static, call.gas, call.checkpoint, machine);
        self.interpreter.extend.account = call.account;
        self.interpreter.extend.is_visible_to_scheduler = parent.interpreter.extend.is_visible_to_scheduler;
    }

    /// Starts the init code of a creation by `parent`.
    pub(crate) fn begin_create(&mut self, create: CreateFrameRequest, parent: &mut Frame, machine: &Machine<'_>) {
        let inputs = InputsImpl {
            target_address: create.address,
            bytecode_address: None,
            caller_address: create.creator,
            input: CallInput::Bytes(Bytes::new()),
            call_value: create.value,
            depth: parent.interpreter.input.depth + 1,
        };
        let memory = parent.interpreter.memory.new_child_context();
        let code = ExecutableCode::analyse(create.code, machine.active_rules.has_old_opcodes);
        self.kind = FrameKind::Create { address: create.address };
        self.begin(code, inputs, memory, false, create.gas, create.checkpoint, machine);
        self.interpreter.extend.account = create.account;
    }

    #[expect(clippy::too_many_arguments, reason = "all inputs of a new frame")]
    fn begin(
        &mut self,
        code: ExecutableCode,
        inputs: InputsImpl,
        memory: SharedMemory,
        is_static: bool,
        gas: u64,
        checkpoint: Checkpoint,
        machine: &Machine<'_>,
    ) {
        self.checkpoint = checkpoint;
        self.first_log = machine.logs.len();
        self.first_deletion = machine.deletions.len();
        self.can_start = code.can_start();
        let bytecode = ExtBytecode::new(code.bytecode);
        // The instructions of revm check no fork after Cancun. The instruction table decides which of them exist.
        self.interpreter.clear(memory, bytecode, inputs, is_static, SpecId::CANCUN, gas, 0);
        if self.can_start && code.start > 0 {
            self.interpreter.bytecode.absolute_jump(code.start as usize);
        }
        self.interpreter.extend.original_code = code.original;
    }

    /// Whether the frame can execute its first instruction. Otherwise it halts.
    pub(crate) fn can_start(&self) -> bool {
        self.can_start
    }

    /// Ends the frame: reverts its changes unless it succeeded, and stores the code of a creation.
    pub(crate) fn finish(
        &mut self,
        result: Result<InstructionResult, HaltReason>,
        machine: &mut Machine<'_>,
    ) -> Result<FinishedFrame, ExecError> {
        let interpreter = &mut self.interpreter;
        let end = match result {
            Ok(InstructionResult::Stop | InstructionResult::Return | InstructionResult::SelfDestruct) => End::Success,
            Ok(InstructionResult::Revert) => End::Revert,
            Ok(result) => End::Halt(HaltReason::diagnose(result, interpreter, &machine.rules)),
            Err(reason) => End::Halt(reason),
        };
        let output = match interpreter.bytecode.action.take() {
            Some(InterpreterAction::Return(returned)) => returned.output,
            _ => Bytes::new(),
        };
        let gas = &interpreter.gas;
        let state = &interpreter.extend;
        let mut finished = FinishedFrame {
            end,
            output,
            gas_left: gas.remaining(),
            refund: gas.refunded(),
            peak_gas: state.peak_gas.max(gas.limit() - gas.remaining().min(gas.limit())),
            moved_all_gas: state.moved_all_gas,
            moved_value: state.moved_value,
            refused_deposit: None,
        };
        match finished.end {
            End::Success => {
                if let FrameKind::Create { address } = self.kind {
                    self.store_code(address, &mut finished, machine)?;
                }
            }
            End::Revert => {
                finished.refund = 0;
                self.revert(machine);
            }
            End::Halt(_) => self.halt(&mut finished, machine),
        }
        Ok(finished)
    }

    /// Stores the output of a creation as code if the rules allow it.
    fn store_code(
        &self,
        address: Address,
        finished: &mut FinishedFrame,
        machine: &mut Machine<'_>,
    ) -> Result<(), ExecError> {
        let code = std::mem::take(&mut finished.output);
        let gas_left = finished.gas_left;
        let mut refusals = code_refusals(&code, gas_left, &machine.active_rules);
        // Before RSKIP-453 the reference continues after a failed check and reports the last failure.
        let refusal = if machine.active_rules.reverts_failed_creations { refusals.next() } else { refusals.last() };
        let Some(reason) = refusal else {
            finished.gas_left -= instructions::deposit_cost(code.len());
            return Ok(machine.state.save_code(address, code)?);
        };
        finished.refused_deposit = Some(DepositRefusal { reason, code_length: code.len(), gas_left });
        if machine.active_rules.reverts_failed_creations {
            finished.end = End::Halt(reason);
            self.halt(finished, machine);
        }
        Ok(())
    }

    fn halt(&self, finished: &mut FinishedFrame, machine: &mut Machine<'_>) {
        finished.output = Bytes::new();
        finished.gas_left = 0;
        finished.refund = 0;
        finished.peak_gas = self.interpreter.gas.limit();
        self.revert(machine);
    }

    fn revert(&self, machine: &mut Machine<'_>) {
        machine.state.revert(self.checkpoint);
        machine.logs.truncate(self.first_log);
        machine.deletions.truncate(self.first_deletion);
    }

    /// Resumes after a child frame.
    pub(crate) fn resume(&mut self, child: &FrameKind, finished: FinishedFrame) {
        let interpreter = &mut self.interpreter;
        interpreter.memory.free_child_context();
        interpreter.gas.erase_cost(finished.gas_left);
        let is_success = finished.end == End::Success;
        let mut result = U256::from(is_success);
        match child {
            FrameKind::Top => {}
            FrameKind::Create { address } => {
                // As in the reference, revert data and refunds of a creation are dropped.
                interpreter.return_data.0.clear();
                if is_success {
                    result = address.into_word().into();
                }
            }
            FrameKind::Call { output } => {
                let written = finished.output.len().min(output.len());
                if let Some(bytes) = finished.output.get(..written) {
                    interpreter.memory.set(output.start, bytes);
                }
                interpreter.return_data.0 = finished.output;
                if is_success {
                    interpreter.gas.record_refund(finished.refund);
                    let state = &mut interpreter.extend;
                    state.peak_gas = state.peak_gas.max(finished.peak_gas);
                    state.moved_all_gas |= finished.moved_all_gas;
                    state.moved_value |= finished.moved_value;
                }
            }
        }
        // Cannot fail: the instruction popped more items than it pushes.
        let _has_room = interpreter.stack.push(result);
    }
}

/// Returns the reasons why code cannot be stored in a new contract, in the order of the checks.
pub(crate) fn code_refusals(
    code: &[u8],
    gas_left: u64,
    rules: &ActiveRules,
) -> impl Iterator<Item = HaltReason> + use<> {
    let has_rejected_prefix = rules.rejects_code_prefix && code.first() == Some(&REJECTED_CODE_PREFIX);
    let refusals = [
        has_rejected_prefix.then_some(HaltReason::CodePrefix),
        (gas_left < instructions::deposit_cost(code.len())).then_some(HaltReason::OutOfGas),
        (code.len() > CODE_SIZE_LIMIT).then_some(HaltReason::CodeSize),
    ];
    refusals.into_iter().flatten()
}
