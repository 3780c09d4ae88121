//! CODESIZE and CODECOPY. The executed code can differ from the code that contracts see.

use revm::interpreter::interpreter_types::LegacyBytecode;
use revm::interpreter::{Host, InstructionResult, num_words};
use rhizome_primitives::U256;

use super::context::{InstructionOutcome, OpcodeContext, charge, push};
use super::memory::{expand, expansion_cost, range_end};

const COPY_COST_PER_WORD: u64 = 3;

pub(super) fn codesize(context: OpcodeContext<'_, '_>) -> InstructionOutcome {
    let interpreter = context.interpreter;
    let length = match &interpreter.extend.original_code {
        None => interpreter.bytecode.bytecode_len(),
        Some(code) => code.len(),
    };
    push(interpreter, U256::from(length))
}

pub(super) fn codecopy(context: OpcodeContext<'_, '_>) -> InstructionOutcome {
    let OpcodeContext { interpreter, host: machine } = context;
    let Some([to, from, size]) = interpreter.stack.popn() else {
        return Err(InstructionResult::StackUnderflow);
    };
    let end = range_end(to, size)?;
    let size: usize = size.saturating_to();
    let params = machine.gas_params();
    let cost = expansion_cost(interpreter, params, end) + COPY_COST_PER_WORD * num_words(size) as u64;
    charge(interpreter, cost)?;
    expand(interpreter, params, end);
    if size != 0 {
        let code = match &interpreter.extend.original_code {
            None => interpreter.bytecode.bytecode_slice(),
            Some(code) => code,
        };
        interpreter.memory.set_data(end - size, from.saturating_to(), size, code);
    }
    Ok(())
}
