//! An instruction with its operands, as read before its execution.

use revm::bytecode::opcode::{self, OpCode};
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
    /// Operands, top of the stack first. Operands beyond those of the instruction are of earlier ones.
    operands: [U256; OPERANDS],
}

impl Instruction {
    /// Returns the next instruction.
    pub(super) fn next(interpreter: &Interpreter<RskInterpreter>) -> Instruction {
        let mut instruction = Instruction::default();
        instruction.read_next(interpreter);
        instruction
    }

    /// Becomes the next instruction. Runs before each instruction of a trace: it copies the operands that the instruction takes, and
    /// leaves the others as they were.
    pub(super) fn read_next(&mut self, interpreter: &Interpreter<RskInterpreter>) {
        let stack = interpreter.stack.data();
        self.byte = interpreter.bytecode.opcode();
        self.position = interpreter.bytecode.pc();
        self.gas = interpreter.gas.remaining();
        self.account = interpreter.input.target_address;
        self.stack_length = stack.len();
        self.memory_length = interpreter.memory.len();
        self.code_length = code_of(interpreter).len();
        self.return_data_length = interpreter.return_data.0.len();
        let mut words = stack.iter().rev();
        for operand in self.operands.iter_mut().take(operand_count(self.byte)) {
            *operand = words.next().copied().unwrap_or_default();
        }
    }

    /// Returns one of the operands that the instruction takes, zero beyond the end of the stack.
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

/// Returns the number of operands of an instruction. Those of DUP and SWAP are no operands: they only move.
fn operand_count(byte: u8) -> usize {
    match byte {
        opcode::DUP1..=opcode::SWAP16 => 0,
        byte => OpCode::new(byte).map_or(0, |instruction| instruction.inputs().into()),
    }
}

/// Returns the code as contracts see it.
pub(super) fn code_of(interpreter: &Interpreter<RskInterpreter>) -> &[u8] {
    match &interpreter.extend.original_code {
        Some(code) => code,
        None => interpreter.bytecode.original_byte_slice(),
    }
}
