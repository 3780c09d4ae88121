//! The CALL family: gas in the order of the reference, and calls without a frame.

use std::ops::Range;

use revm::interpreter::{Host, InstructionResult, Interpreter};
use rhizome_primitives::{Address, I256, U256};

use super::accounts::{address_of, precompile_of};
use super::context::{InstructionOutcome, OpcodeContext, RskInterpreter, charge, covers, push, saturated_gas};
use super::memory::{expand, expansion_cost, range_end};
use super::precompiles;
use crate::frame_request::{CallFrameRequest, FrameRequest};
use crate::internal_transactions::{InternalData, InternalTransaction};
use crate::machine::{Machine, OrStop};
use crate::precompiles::CallScheme;
use crate::state::AccountIndex;

pub(super) const CALL: u8 = 0;
pub(super) const CALLCODE: u8 = 1;
pub(super) const DELEGATECALL: u8 = 2;
pub(super) const STATICCALL: u8 = 3;
/// STATICCALL before RSKIP-103: checks for six items and takes seven, including a value.
pub(super) const STATICCALL_WITH_VALUE: u8 = 4;

const BASE_COST: u64 = 700;
const NEW_ACCOUNT_COST: u64 = 25_000;
const VALUE_COST: u64 = 9_000;
/// Added to the requested gas of a call with value. The caller pays for it.
const STIPEND: u64 = 2_300;

/// A call whose gas was charged.
pub(super) struct ChargedCall {
    pub(super) target: Address,
    pub(super) target_account: AccountIndex,
    /// The account that receives the value and whose storage the code uses.
    pub(super) context_account: AccountIndex,
    pub(super) value: U256,
    pub(super) gas: u64,
    pub(super) kind: CallScheme,
    /// Ranges of the caller's memory.
    pub(super) input: Range<usize>,
    pub(super) output: Range<usize>,
    /// Offset of the output as on the stack, also if the size is zero.
    pub(super) output_offset: U256,
}

/// Operands, in the order of the stack.
struct Operands {
    gas: U256,
    target: U256,
    value: U256,
    input_offset: U256,
    input_size: U256,
    output_offset: U256,
    output_size: U256,
}

pub(super) fn call<const KIND: u8>(context: OpcodeContext<'_, '_>) -> InstructionOutcome {
    let OpcodeContext { interpreter, host: machine } = context;
    let operands = pop_operands::<KIND>(interpreter)?;
    if KIND == CALL && interpreter.runtime_flag.is_static && !operands.value.is_zero() {
        return Err(InstructionResult::CallNotAllowedInsideStatic);
    }
    let target = address_of(operands.target);
    let target_account = machine.state.locate(target.into());
    let input_end = range_end(operands.input_offset, operands.input_size)?;
    let output_end = range_end(operands.output_offset, operands.output_size)?;
    let mut cost = BASE_COST + expansion_cost(interpreter, machine.gas_params(), input_end.max(output_end));
    if KIND == CALL && !machine.state.exists_at(target_account).or_stop(machine)? {
        cost += NEW_ACCOUNT_COST;
    }
    if !operands.value.is_zero() {
        cost += VALUE_COST;
    }
    charge(interpreter, cost)?;
    let gas = lend_gas(interpreter, machine, operands.gas, !operands.value.is_zero())?;
    expand(interpreter, machine.gas_params(), output_end);

    let uses_own_account = matches!(KIND, CALLCODE | DELEGATECALL);
    let context_account = if uses_own_account { interpreter.extend.account } else { target_account };
    let request = ChargedCall {
        target,
        target_account,
        context_account,
        value: operands.value,
        gas,
        kind: call_scheme(KIND),
        input: range_before(input_end, operands.input_size),
        output: range_before(output_end, operands.output_size),
        output_offset: operands.output_offset,
    };
    match precompile_of(&operands.target, machine) {
        Some(entry) => precompiles::call(interpreter, machine, entry, request),
        None => call_account::<KIND>(interpreter, machine, request),
    }
}

const fn call_scheme(kind: u8) -> CallScheme {
    match kind {
        CALLCODE => CallScheme::CallCode,
        DELEGATECALL => CallScheme::DelegateCall,
        STATICCALL | STATICCALL_WITH_VALUE => CallScheme::StaticCall,
        _ => CallScheme::Call,
    }
}

fn pop_operands<const KIND: u8>(interpreter: &mut Interpreter<RskInterpreter>) -> Result<Operands, InstructionResult> {
    let underflow = InstructionResult::StackUnderflow;
    if matches!(KIND, DELEGATECALL | STATICCALL) {
        let [gas, target, input_offset, input_size, output_offset, output_size] =
            interpreter.stack.popn().ok_or(underflow)?;
        let value = U256::ZERO;
        return Ok(Operands { gas, target, value, input_offset, input_size, output_offset, output_size });
    }
    if KIND == STATICCALL_WITH_VALUE && interpreter.stack.len() == 6 {
        // The reference pops an empty stack after its own check, an error without a message.
        return Err(InstructionResult::InvalidImmediateEncoding);
    }
    let [gas, target, value, input_offset, input_size, output_offset, output_size] =
        interpreter.stack.popn().ok_or(underflow)?;
    Ok(Operands { gas, target, value, input_offset, input_size, output_offset, output_size })
}

fn range_before(end: usize, size: U256) -> Range<usize> {
    end - size.saturating_to::<usize>()..end
}

/// Charges the gas of the callee. It can be all gas left: RSK has no rule of 63/64 (EIP-150).
fn lend_gas(
    interpreter: &mut Interpreter<RskInterpreter>,
    machine: &Machine<'_>,
    requested: U256,
    moves_value: bool,
) -> Result<u64, InstructionResult> {
    let left = interpreter.gas.remaining();
    let stipend = if moves_value { STIPEND } else { 0 };
    if left < stipend {
        return Err(InstructionResult::OutOfGas);
    }
    let wanted = saturated_gas(requested) + stipend;
    if wanted > i64::MAX as u64 && !machine.active_rules.has_bounded_calls {
        return Err(InstructionResult::OverflowPayment);
    }
    let lent = wanted.min(left);
    charge(interpreter, lent)?;
    let spent = interpreter.gas.limit() - interpreter.gas.remaining();
    let frame = &mut interpreter.extend;
    frame.peak_gas = frame.peak_gas.max(spent);
    frame.moved_all_gas |= lent == left;
    frame.moved_value |= moves_value;
    frame.lent_gas = lent;
    frame.kept_gas = left - lent;
    Ok(lent)
}

fn call_account<const KIND: u8>(
    interpreter: &mut Interpreter<RskInterpreter>,
    machine: &mut Machine<'_>,
    request: ChargedCall,
) -> InstructionOutcome {
    if interpreter.input.depth >= machine.active_rules.depth_limit as usize {
        return fail_call(interpreter, request.gas);
    }
    expand(interpreter, machine.gas_params(), request.input.end);
    let own_account = interpreter.extend.account;
    let balance = machine.state.balance_at(own_account).or_stop(machine)?;
    if !covers(balance, request.value) {
        clear_return_buffer(interpreter, machine);
        return fail_call(interpreter, request.gas);
    }
    machine.note_inner(request.target);
    let nonce = machine.state.nonce_at(own_account).or_stop(machine)?;
    let code =
        machine.state.executable_code(request.target_account, machine.active_rules.has_old_opcodes).or_stop(machine)?;
    let checkpoint = machine.state.checkpoint();
    move_value(machine, own_account, request.context_account, request.value)?;
    let depth = interpreter.input.depth;
    let Some(code) = code else {
        machine.frame_records.count(depth);
        interpreter.gas.erase_cost(request.gas);
        clear_return_buffer(interpreter, machine);
        return push(interpreter, U256::ONE);
    };
    let own = interpreter.input.target_address;
    let address = if matches!(KIND, CALLCODE | DELEGATECALL) { own } else { request.target };
    let internal = InternalTransaction {
        sender: own,
        nonce,
        receiver: Some(address),
        value: request.value,
        data: InternalData::CodeOf(request.target),
    };
    machine.frame_records.enter(depth, internal);
    let memory_offset = revm::interpreter::interpreter_types::MemoryTr::local_memory_offset(&interpreter.memory);
    machine.frame_request = Some(FrameRequest::Call(CallFrameRequest {
        code,
        code_address: request.target,
        address,
        account: request.context_account,
        caller: if KIND == DELEGATECALL { interpreter.input.caller_address } else { own },
        value: if KIND == DELEGATECALL { interpreter.input.call_value } else { request.value },
        input: memory_offset + request.input.start..memory_offset + request.input.end,
        output: request.output,
        gas: request.gas,
        is_static: matches!(KIND, STATICCALL | STATICCALL_WITH_VALUE) || interpreter.runtime_flag.is_static,
        checkpoint,
    }));
    Err(InstructionResult::Suspend)
}

/// Fails a call without execution and returns its gas.
pub(super) fn fail_call(interpreter: &mut Interpreter<RskInterpreter>, gas: u64) -> InstructionOutcome {
    interpreter.gas.erase_cost(gas);
    push(interpreter, U256::ZERO)
}

/// Clears the return buffer after a call without a frame, from RSKIP-171 on.
pub(super) fn clear_return_buffer(interpreter: &mut Interpreter<RskInterpreter>, machine: &Machine<'_>) {
    if machine.active_rules.clears_return_buffer {
        interpreter.return_data.0.clear();
    }
}

/// Transfers a covered amount. Creates the receiver if absent, also for zero.
pub(super) fn move_value(
    machine: &mut Machine<'_>,
    from: AccountIndex,
    to: AccountIndex,
    value: U256,
) -> Result<(), InstructionResult> {
    let amount = I256::from_raw(value);
    machine.state.add_balance_at(from, -amount).or_stop(machine)?;
    machine.state.add_balance_at(to, amount).or_stop(machine)
}
