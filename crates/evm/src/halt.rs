//! The reasons of exceptional halts.

use revm::interpreter::interpreter_types::Jumps;
use revm::interpreter::{InstructionResult, Interpreter, STACK_LIMIT};
use rhizome_primitives::Rules;

use crate::instructions::{RskInterpreter, is_instruction, stack_use};

/// The reason why a frame halted. All its gas is spent and all its changes are reverted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HaltReason {
    /// The cost exceeds the gas left, or the memory exceeds 2^30 bytes.
    OutOfGas,
    /// The byte is no instruction under the rules of the block.
    InvalidInstruction,
    /// The destination is not a JUMPDEST.
    BadJump,
    /// The stack has fewer items than the instruction takes.
    StackUnderflow,
    /// The stack would exceed 1024 items.
    StackOverflow,
    /// A state change in a static frame (RSKIP-91).
    StaticViolation,
    /// RETURNDATACOPY beyond the return buffer.
    ReturnDataBounds,
    /// The code ends inside its header.
    CodeHeader,
    /// The gas given to a call overflows (before RSKIP-150).
    GasOverflow,
    /// A created contract would have more than 24576 bytes.
    CodeSize,
    /// Init code of more than 49152 bytes (RSKIP-438).
    InitCodeSize,
    /// A created contract would start with 0xEF (RSKIP-544).
    CodePrefix,
    /// A precompile failed, called by the transaction itself or (before RSKIP-197) by the frame.
    PrecompileFailed,
    /// The transaction calls a precompile and its gas does not cover the price.
    PrecompileUnpaid,
    /// The reference throws an error without a message, from which it builds no receipt.
    Silent,
}

impl HaltReason {
    /// Returns the exception class of the reference, as in traces; `None` if it has none.
    pub fn class(self) -> Option<&'static str> {
        Some(match self {
            HaltReason::OutOfGas => "org.ethereum.vm.program.Program$OutOfGasException",
            HaltReason::InvalidInstruction => "org.ethereum.vm.program.Program$IllegalOperationException",
            HaltReason::BadJump => "org.ethereum.vm.program.Program$BadJumpDestinationException",
            HaltReason::StackUnderflow => "org.ethereum.vm.program.Program$StackTooSmallException",
            HaltReason::StackOverflow => "org.ethereum.vm.program.Program$StackTooLargeException",
            HaltReason::StaticViolation => "org.ethereum.vm.program.Program$StaticCallModificationException",
            HaltReason::CodeHeader => "java.lang.ArrayIndexOutOfBoundsException",
            HaltReason::GasOverflow => "org.ethereum.vm.GasCost$InvalidGasException",
            HaltReason::ReturnDataBounds
            | HaltReason::CodeSize
            | HaltReason::InitCodeSize
            | HaltReason::CodePrefix
            | HaltReason::PrecompileFailed => "java.lang.RuntimeException",
            HaltReason::PrecompileUnpaid | HaltReason::Silent => return None,
        })
    }

    /// Converts the result of the interpreter to the reason that the reference reports. The reference checks the stack
    /// first, then whether the instruction is active, and then gas and the rest.
    pub(crate) fn diagnose(
        result: InstructionResult,
        interpreter: &Interpreter<RskInterpreter>,
        rules: &Rules,
    ) -> HaltReason {
        let byte = last_byte(interpreter);
        // The interpreter subtracts the fixed price, which may wrap, before the instruction executes.
        let is_unpaid = interpreter.gas.remaining() > interpreter.gas.limit();
        let is_stack_intact = is_unpaid || keeps_stack(result);
        if let (true, Some((wanted, left))) = (is_stack_intact, stack_use(byte)) {
            let length = interpreter.stack.len();
            if length < wanted {
                return HaltReason::StackUnderflow;
            }
            if length - wanted + left > STACK_LIMIT {
                return HaltReason::StackOverflow;
            }
        }
        if !is_instruction(byte, rules) {
            return HaltReason::InvalidInstruction;
        }
        match result {
            InstructionResult::InvalidJump => HaltReason::BadJump,
            InstructionResult::StackUnderflow => HaltReason::StackUnderflow,
            InstructionResult::StackOverflow => HaltReason::StackOverflow,
            InstructionResult::StateChangeDuringStaticCall | InstructionResult::CallNotAllowedInsideStatic => {
                HaltReason::StaticViolation
            }
            InstructionResult::OutOfOffset => HaltReason::ReturnDataBounds,
            InstructionResult::OverflowPayment => HaltReason::GasOverflow,
            InstructionResult::CreateInitCodeSizeLimit => HaltReason::InitCodeSize,
            InstructionResult::PrecompileError => HaltReason::PrecompileFailed,
            InstructionResult::InvalidImmediateEncoding => HaltReason::Silent,
            _ => HaltReason::OutOfGas,
        }
    }
}

/// Returns the byte of the instruction that halted.
fn last_byte(interpreter: &Interpreter<RskInterpreter>) -> u8 {
    let at = interpreter.bytecode.pc().saturating_sub(1);
    interpreter.bytecode.bytes_slice().get(at).copied().unwrap_or_default()
}

/// Whether an instruction with this result has left the stack unchanged.
fn keeps_stack(result: InstructionResult) -> bool {
    matches!(
        result,
        InstructionResult::OpcodeNotFound
            | InstructionResult::NotActivated
            | InstructionResult::InvalidFEOpcode
            | InstructionResult::StackUnderflow
            | InstructionResult::StackOverflow
            | InstructionResult::StateChangeDuringStaticCall
    )
}
