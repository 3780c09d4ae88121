//! DUPN, SWAPN and TXINDEX, which RSKIP-191 removed.

use revm::interpreter::interpreter_types::{Jumps, LegacyBytecode};
use revm::interpreter::{InstructionResult, Interpreter};
use rhizome_primitives::U256;

use super::context::{InstructionOutcome, OpcodeContext, RskInterpreter, push};

pub(super) fn txindex(context: OpcodeContext<'_, '_>) -> InstructionOutcome {
    let index = context.host.origin.index;
    push(context.interpreter, U256::from(index))
}

/// Copies the item at the popped index.
pub(super) fn dupn(context: OpcodeContext<'_, '_>) -> InstructionOutcome {
    let interpreter = context.interpreter;
    if interpreter.stack.len() < 2 {
        return Err(InstructionResult::StackUnderflow);
    }
    let index = pop_index(interpreter)?;
    let word = interpreter.stack.peek(index)?;
    push(interpreter, word)?;
    skip_byte(interpreter)
}

/// Exchanges the top with the item below the popped index.
pub(super) fn swapn(context: OpcodeContext<'_, '_>) -> InstructionOutcome {
    let interpreter = context.interpreter;
    if interpreter.stack.len() < 3 {
        return Err(InstructionResult::StackUnderflow);
    }
    let index = pop_index(interpreter)?;
    if !interpreter.stack.exchange(0, index + 1) {
        return Err(InstructionResult::StackUnderflow);
    }
    skip_byte(interpreter)
}

/// Pops a number of 31 bits. The reference fails without a message for a larger number.
fn pop_index(interpreter: &mut Interpreter<RskInterpreter>) -> Result<usize, InstructionResult> {
    let operand = interpreter.stack.pop()?;
    if operand.bit_len() > 31 {
        return Err(InstructionResult::InvalidImmediateEncoding);
    }
    Ok(operand.saturating_to())
}

/// Skips the byte after the instruction. The code continues with STOP beyond its end.
fn skip_byte(interpreter: &mut Interpreter<RskInterpreter>) -> InstructionOutcome {
    let length = match &interpreter.extend.original_code {
        None => interpreter.bytecode.bytecode_len(),
        Some(code) => code.len(),
    };
    if interpreter.bytecode.pc() + 1 >= length {
        return Err(InstructionResult::Stop);
    }
    interpreter.bytecode.relative_jump(1);
    Ok(())
}
