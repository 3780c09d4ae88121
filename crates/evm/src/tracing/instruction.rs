//! An instruction with its operands, as read before its execution.

use revm::bytecode::opcode;
use revm::interpreter::Interpreter;
use revm::interpreter::interpreter_types::Jumps;
use rhizome_primitives::{Address, U256};

use super::CallKind;
use crate::instructions::{RskInterpreter, address_of};

/// Largest number of operands that an instruction takes.
const OPERANDS: usize = 7;

/// An instruction with the state of the frame before it.
#[derive(Debug, Clone, Default)]
pub(super) struct Instruction {
    pub(super) byte: u8,
    pub(super) position: usize,
    /// Gas left before the instruction.
    pub(super) gas: u64,
    pub(super) account: Address,
    pub(super) stack_length: usize,
    pub(super) memory_length: usize,
    pub(super) code_length: usize,
    pub(super) return_data_length: usize,
    /// Operands, top of the stack first.
    operands: [U256; OPERANDS],
}

impl Instruction {
    pub(super) fn read(interpreter: &Interpreter<RskInterpreter>) -> Instruction {
        let mut operands = [U256::ZERO; OPERANDS];
        for (operand, word) in operands.iter_mut().zip(interpreter.stack.data().iter().rev()) {
            *operand = *word;
        }
        Instruction {
            byte: interpreter.bytecode.opcode(),
            position: interpreter.bytecode.pc(),
            gas: interpreter.gas.remaining(),
            account: interpreter.input.target_address,
            stack_length: interpreter.stack.len(),
            memory_length: interpreter.memory.len(),
            code_length: code_of(interpreter).len(),
            return_data_length: interpreter.return_data.0.len(),
            operands,
        }
    }

    /// Returns an operand, zero beyond the end of the stack.
    pub(super) fn operand(&self, index: usize) -> U256 {
        self.operands.get(index).copied().unwrap_or_default()
    }

    pub(super) fn address_operand(&self, index: usize) -> Address {
        address_of(self.operand(index))
    }

    pub(super) fn call_kind(&self) -> Option<CallKind> {
        Some(match self.byte {
            opcode::CALL => CallKind::Call,
            opcode::CALLCODE => CallKind::CallCode,
            opcode::DELEGATECALL => CallKind::DelegateCall,
            opcode::STATICCALL => CallKind::StaticCall,
            opcode::CREATE => CallKind::Create,
            opcode::CREATE2 => CallKind::Create2,
            _ => return None,
        })
    }

    /// Returns the value that a call or creation transfers.
    pub(super) fn moved_value(&self) -> U256 {
        match self.byte {
            opcode::CALL | opcode::CALLCODE => self.operand(2),
            opcode::CREATE | opcode::CREATE2 => self.operand(0),
            _ => U256::ZERO,
        }
    }

    /// Returns offset and size of the input of a call or creation.
    pub(super) fn input_range(&self) -> (U256, U256) {
        let first = match self.byte {
            opcode::CALL | opcode::CALLCODE => 3,
            opcode::CREATE | opcode::CREATE2 => 1,
            _ => 2,
        };
        (self.operand(first), self.operand(first + 1))
    }
}

/// Returns the code as contracts see it.
pub(super) fn code_of(interpreter: &Interpreter<RskInterpreter>) -> &[u8] {
    match &interpreter.extend.original_code {
        Some(code) => code,
        None => interpreter.bytecode.original_byte_slice(),
    }
}
