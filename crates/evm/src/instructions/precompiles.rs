//! Calls of precompiles by the CALL family. They run inside the instruction, without a frame.

use revm::interpreter::{Host, InstructionResult, Interpreter};
use rhizome_primitives::{Address, B256, BRIDGE, Bytes, U256};

use super::calls::{ChargedCall, clear_return_buffer, fail_call, move_value};
use super::context::{InstructionOutcome, RskInterpreter, covers, push};
use super::memory::{LIMIT, expand};
use crate::internal_transactions::{InternalData, InternalDefaults, InternalTransaction, is_native_contract};
use crate::machine::{Machine, OrStop};
use crate::precompiles::{CallScheme, PrecompileContext, PrecompileEntry, PrecompileFailure, PrecompileOutput};

pub(super) fn call(
    interpreter: &mut Interpreter<RskInterpreter>,
    machine: &mut Machine<'_>,
    entry: &PrecompileEntry,
    request: ChargedCall,
) -> InstructionOutcome {
    if interpreter.extend.is_visible_to_scheduler {
        machine.note_precompile_call(&entry.address);
    }
    if interpreter.input.depth >= machine.active_rules.depth_limit as usize {
        return fail_call(interpreter, request.gas);
    }
    let own_account = interpreter.extend.account;
    let balance = machine.state.balance_at(own_account).or_stop(machine)?;
    if !covers(balance, request.value) {
        clear_return_buffer(interpreter, machine);
        return fail_call(interpreter, request.gas);
    }
    let length = match entry.input_limit {
        Some(limit) if machine.active_rules.truncates_precompile_input => request.input.len().min(limit),
        _ => request.input.len(),
    };
    let input = request.input.start..request.input.start + length;
    expand(interpreter, machine.gas_params(), input.end);
    if entry.address == BRIDGE && !machine.active_rules.may_call_bridge {
        return Err(InstructionResult::InvalidImmediateEncoding);
    }
    let checkpoint = machine.state.checkpoint();
    move_value(machine, own_account, request.context_account, request.value)?;
    if !machine.state.is_contract(request.target).or_stop(machine)? {
        machine.state.setup_contract(request.target).or_stop(machine)?;
    }
    // Nearly every transaction of a contract uses the precompiles of Ethereum, so a search for them is of no use.
    if !is_ethereum_precompile(&entry.address) {
        machine.note_inner(request.target);
    }
    let depth = interpreter.input.depth;
    let transaction_hash = match entry.address {
        BRIDGE => hash_of_call(interpreter, machine, &request)?,
        address if is_native_contract(&address) => {
            machine.frame_records.count(depth);
            machine.origin.hash
        }
        _ => machine.origin.hash,
    };
    let data = interpreter.memory.slice_range(input);
    let mut context = PrecompileContext {
        call_depth: depth as u32,
        // The reference hands the mark of a local call on to the calls of the first contract only.
        is_local_call: machine.origin.is_local_call && depth == 0,
        caller: interpreter.input.target_address,
        value: request.value,
        call_scheme: request.kind,
        transaction_index: machine.origin.index,
        transaction_hash,
        origin_transaction_hash: machine.origin.hash,
        ..PrecompileContext::new(
            machine.spec,
            machine.rules,
            &machine.env,
            machine.ancestry,
            &mut machine.state,
            &mut machine.logs,
            &machine.deadline,
        )
    };
    let required_gas = match entry.precompile.required_gas(&data, &mut context) {
        Ok(required_gas) => required_gas,
        Err(PrecompileFailure::Fatal(error)) => {
            drop(data);
            return Err(machine.stop(error));
        }
        Err(_) => return Err(InstructionResult::PrecompileError),
    };
    if required_gas > request.gas {
        drop(data);
        machine.state.revert(checkpoint);
        clear_return_buffer(interpreter, machine);
        return push(interpreter, U256::ZERO);
    }
    let result = entry.precompile.run(&data, &mut context);
    drop(data);
    let gas_left = request.gas - required_gas;
    let is_failure = match &result {
        Ok(PrecompileOutput::Output(_)) => false,
        Ok(PrecompileOutput::NoValue) => {
            machine.active_rules.has_precompile_failures || !machine.active_rules.has_bounded_calls
        }
        Err(_) => true,
    };
    if is_failure {
        if let Err(PrecompileFailure::Fatal(error)) = result {
            return Err(machine.stop(error));
        }
        if !machine.active_rules.has_precompile_failures {
            return Err(InstructionResult::PrecompileError);
        }
        machine.state.revert(checkpoint);
        interpreter.return_data.0.clear();
        return fail_call(interpreter, gas_left);
    }
    interpreter.gas.erase_cost(gas_left);
    let output = match result {
        Ok(PrecompileOutput::Output(output)) => output,
        _ => Bytes::new(),
    };
    write_output(interpreter, machine, &request, &output)?;
    if machine.active_rules.has_precompile_return_data {
        interpreter.return_data.0 = output;
    }
    push(interpreter, U256::ONE)
}

/// Whether Ethereum has the precompile, too: addresses 1 to 9.
fn is_ethereum_precompile(address: &Address) -> bool {
    let [prefix @ .., _] = &address.0.0;
    prefix == &[0; 19]
}

/// Returns the hash of the internal transaction that calls the Bridge.
fn hash_of_call(
    interpreter: &Interpreter<RskInterpreter>,
    machine: &mut Machine<'_>,
    request: &ChargedCall,
) -> Result<B256, InstructionResult> {
    let own = interpreter.input.target_address;
    let uses_own_account = matches!(request.kind, CallScheme::CallCode | CallScheme::DelegateCall);
    let transaction = InternalTransaction {
        sender: own,
        nonce: machine.state.nonce_at(interpreter.extend.account).or_stop(machine)?,
        receiver: Some(if uses_own_account { own } else { request.target }),
        value: request.value,
        data: InternalData::Empty,
    };
    let Machine { frame_records, state, origin, env, .. } = machine;
    let defaults = InternalDefaults { gas_price: origin.gas_price, gas_limit: env.gas_limit };
    let code_at = |address: Address| state.code(address).map(Option::unwrap_or_default);
    let hash = frame_records.hash(interpreter.input.depth, &transaction, origin.hash, &defaults, code_at);
    hash.or_stop(machine)
}

/// Copies the output to the output range. Before RSKIP-150 the whole output is copied and memory grows without a charge.
fn write_output(
    interpreter: &mut Interpreter<RskInterpreter>,
    machine: &Machine<'_>,
    request: &ChargedCall,
    output: &Bytes,
) -> InstructionOutcome {
    if machine.active_rules.has_bounded_calls {
        let written = output.len().min(request.output.len());
        if let Some(bytes) = output.get(..written) {
            interpreter.memory.set(request.output.start, bytes);
        }
        return Ok(());
    }
    if output.is_empty() {
        return Ok(());
    }
    // The offset is truncated to a signed number of 32 bits. A negative offset is an error. No block has used gigabytes of
    // memory.
    let [low, ..] = request.output_offset.as_limbs();
    let offset = usize::try_from(*low as u32 as i32).map_err(|_negative| InstructionResult::PrecompileError)?;
    let end = offset + output.len();
    if end > LIMIT {
        return Err(InstructionResult::MemoryLimitOOG);
    }
    expand(interpreter, machine.gas_params(), end);
    interpreter.memory.set(offset, output);
    Ok(())
}
