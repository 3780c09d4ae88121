//! RETURNDATACOPY: the check of gas precedes the check of bounds.

use revm::interpreter::{Host, InstructionResult, num_words};

use super::context::{InstructionOutcome, OpcodeContext, charge};
use super::memory::{expand, expansion_cost, range_end};

const COPY_COST_PER_WORD: u64 = 3;

pub(super) fn returndatacopy(context: OpcodeContext<'_, '_>) -> InstructionOutcome {
    let OpcodeContext { interpreter, host: machine } = context;
    let Some([to, from, size]) = interpreter.stack.popn() else {
        return Err(InstructionResult::StackUnderflow);
    };
    let end = range_end(to, size)?;
    let size: usize = size.saturating_to();
    let from: usize = from.saturating_to();
    let params = machine.gas_params();
    let cost = expansion_cost(interpreter, params, end) + COPY_COST_PER_WORD * num_words(size) as u64;
    charge(interpreter, cost)?;
    if from.checked_add(size).is_none_or(|until| until > interpreter.return_data.0.len()) {
        return Err(InstructionResult::OutOfOffset);
    }
    expand(interpreter, params, end);
    if let Some(data) = interpreter.return_data.0.get(from..from + size) {
        interpreter.memory.set(end - size, data);
    }
    Ok(())
}
