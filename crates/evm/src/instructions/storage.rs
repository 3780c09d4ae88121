//! SLOAD and SSTORE with the prices before EIP-1283: only the current value counts, and refunds are never subtracted.

use revm::interpreter::InstructionResult;

use super::context::{InstructionOutcome, OpcodeContext, charge};
use crate::machine::OrStop;

const SET_COST: u64 = 20_000;
const RESET_COST: u64 = 5_000;
const CLEAR_REFUND: i64 = 15_000;

pub(super) fn sload(context: OpcodeContext<'_, '_>) -> InstructionOutcome {
    let OpcodeContext { interpreter, host: machine } = context;
    let Some(([], top)) = interpreter.stack.popn_top() else {
        return Err(InstructionResult::StackUnderflow);
    };
    let found = machine.state.storage_word_at(interpreter.extend.account, top).or_stop(machine)?;
    *top = found.unwrap_or_default();
    Ok(())
}

pub(super) fn sstore(context: OpcodeContext<'_, '_>) -> InstructionOutcome {
    let OpcodeContext { interpreter, host: machine } = context;
    if interpreter.runtime_flag.is_static {
        return Err(InstructionResult::StateChangeDuringStaticCall);
    }
    let Some([slot, word]) = interpreter.stack.popn() else {
        return Err(InstructionResult::StackUnderflow);
    };
    let account = interpreter.extend.account;
    let is_present = machine.state.has_storage_at(account, &slot).or_stop(machine)?;
    let cost = if !is_present && !word.is_zero() { SET_COST } else { RESET_COST };
    charge(interpreter, cost)?;
    if is_present && word.is_zero() {
        interpreter.gas.record_refund(CLEAR_REFUND);
    }
    machine.state.set_storage_word_at(account, slot, word).or_stop(machine)
}
