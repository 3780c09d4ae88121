//! Memory instructions for frames whose gas pays for more than 2^30 bytes of memory, which is the limit.
//!
//! Only a local call without a gas cap has that much gas. The default table has no check of the limit.

use revm::bytecode::opcode;
use revm::interpreter::Instruction;
use revm::interpreter::instructions::{control, memory, system};
use rhizome_primitives::U256;

use super::Instructions;
use super::context::{InstructionOutcome, OpcodeContext, RskInterpreter};
use super::memory::range_end;
use crate::machine::Machine;

/// Gas limit from which these instructions are needed: less gas does not pay for 2^30 bytes and a word.
pub(crate) const UNBOUNDED_MEMORY_GAS: u64 = 1 << 41;

/// Defines an instruction that checks its memory range before it executes.
macro_rules! checked {
    ($name:ident, $check:expr, $instruction:expr) => {
        fn $name(context: OpcodeContext<'_, '_>) -> InstructionOutcome {
            let check: fn(&[U256]) -> Option<(U256, U256)> = $check;
            let stack = context.interpreter.stack.data();
            // Operands, top of the stack first. The instruction itself checks their number.
            let mut operands = [U256::ZERO; 3];
            for (operand, item) in operands.iter_mut().zip(stack.iter().rev()) {
                *operand = *item;
            }
            if let Some((offset, size)) = check(&operands) {
                range_end(offset, size)?;
            }
            $instruction(context)
        }
    };
}

/// Returns the range with the offset on top and the size at the given position.
fn range(operands: &[U256], size: usize) -> Option<(U256, U256)> {
    Some((*operands.first()?, *operands.get(size)?))
}

/// Returns a range of fixed size with the offset on top.
fn word(operands: &[U256], size: usize) -> Option<(U256, U256)> {
    Some((*operands.first()?, U256::from(size)))
}

/// Returns the range of source or destination that ends later.
fn copy(operands: &[U256]) -> Option<(U256, U256)> {
    Some((*operands.first()?.max(operands.get(1)?), *operands.get(2)?))
}

checked!(mload, |operands| word(operands, 32), memory::mload::<RskInterpreter, Machine<'_>>);
checked!(mstore, |operands| word(operands, 32), memory::mstore::<RskInterpreter, Machine<'_>>);
checked!(mstore8, |operands| word(operands, 1), memory::mstore8::<RskInterpreter, Machine<'_>>);
checked!(mcopy, copy, memory::mcopy::<RskInterpreter, Machine<'_>>);
checked!(keccak256, |operands| range(operands, 1), system::keccak256::<RskInterpreter, Machine<'_>>);
checked!(calldatacopy, |operands| range(operands, 2), system::calldatacopy::<RskInterpreter, Machine<'_>>);
checked!(ret, |operands| range(operands, 1), control::ret::<RskInterpreter, Machine<'_>>);
checked!(revert, |operands| range(operands, 1), control::revert::<RskInterpreter, Machine<'_>>);

/// Replaces the instructions of revm that access memory without a limit.
pub(super) fn limit_memory(table: &mut Instructions<'_>) {
    let mut set = |byte: u8, instruction| table[usize::from(byte)] = instruction;
    set(opcode::MLOAD, Instruction::new(mload));
    set(opcode::MSTORE, Instruction::new(mstore));
    set(opcode::MSTORE8, Instruction::new(mstore8));
    set(opcode::MCOPY, Instruction::new(mcopy));
    set(opcode::KECCAK256, Instruction::new(keccak256));
    set(opcode::CALLDATACOPY, Instruction::new(calldatacopy));
    set(opcode::RETURN, Instruction::new(ret));
    set(opcode::REVERT, Instruction::new(revert));
}
