//! Messages of the reference for exceptional halts.

use revm::bytecode::opcode;
use rhizome_primitives::{B256, hex};

use super::Failure;
use super::instruction::Instruction;
use super::instruction_names::instruction_name;
use super::prices::Price;
use crate::halt::HaltReason;
use crate::instructions::{CODE_SIZE_LIMIT, INIT_CODE_SIZE_LIMIT, deposit_cost, stack_use};

impl Failure {
    /// Returns the failure of a frame whose last instruction was `step`. `price` is the price of the instruction, `hash` the
    /// hash of the transaction or inner transaction.
    pub(super) fn of_step(reason: HaltReason, step: &Instruction, price: Price, frame_gas: u64, hash: B256) -> Failure {
        let byte = step.byte;
        let message = match reason {
            HaltReason::OutOfGas => out_of_gas(step, price, frame_gas, hash),
            HaltReason::InvalidInstruction => format!("Invalid operation code: opcode[{byte:02x}], tx[{hash}]"),
            HaltReason::BadJump => {
                let target = step.operand(0);
                let position = if target.byte_len() > 4 { -1 } else { i64::from(target.as_limbs()[0] as u32 as i32) };
                format!("Operation with pc isn't 'JUMPDEST': PC[{position}], tx[{hash}]")
            }
            HaltReason::StackUnderflow => {
                let wanted = stack_use(byte).map_or(0, |(wanted, _left)| wanted);
                format!("Expected stack size {wanted} but actual {}, tx: {hash}", step.stack_length)
            }
            HaltReason::StackOverflow => "Expected: overflow 1024 elements stack limit".to_owned(),
            HaltReason::StaticViolation => {
                format!("Attempt to call a state modifying opcode inside STATICCALL: tx[{hash}]")
            }
            HaltReason::ReturnDataBounds => {
                let word = |index: usize| hex::encode(step.operand(index).to_be_bytes::<32>());
                let (offset, size, length) = (word(1), word(2), step.return_data_length);
                format!(
                    "Illegal RETURNDATACOPY arguments: offset ({offset}) + size ({size}) > RETURNDATASIZE ({length})"
                )
            }
            HaltReason::CodeHeader => {
                format!("Index {} out of bounds for length {}", step.position, step.code_length)
            }
            HaltReason::GasOverflow => {
                let requested = step.operand(0).saturating_to::<u64>().min(i64::MAX as u64);
                let wrapped = requested.wrapping_add(2_300) as i64;
                let cost = if let Price::Whole(cost) | Price::Call(cost) = price { cost } else { 0 };
                format!("Got invalid gas value, tried operation: {cost} + {wrapped}")
            }
            HaltReason::InitCodeSize => {
                let size = step.operand(2);
                format!("Maximum initcode size allowed {INIT_CODE_SIZE_LIMIT} but actual was {size}, tx: {hash}")
            }
            HaltReason::PrecompileFailed => {
                "org.ethereum.vm.exception.VMException: the built-in contract failed".to_owned()
            }
            // Code size and prefix are checked after the last instruction.
            HaltReason::CodeSize | HaltReason::CodePrefix | HaltReason::PrecompileUnpaid | HaltReason::Silent => {
                String::new()
            }
        };
        Failure { reason, message, instruction: byte }
    }

    /// Returns a failure without a message.
    pub(super) fn silent(reason: HaltReason, instruction: u8) -> Failure {
        Failure { reason, message: String::new(), instruction }
    }

    /// Returns the failure of a creation whose code cannot be stored. `gas`, `gas_used` and `hash` are those of the frame
    /// that reports the failure: the first frame, or the creator.
    pub fn of_code(reason: HaltReason, code_length: usize, gas: u64, gas_used: u64, hash: B256) -> Failure {
        let message = match reason {
            HaltReason::OutOfGas => {
                not_enough("No gas to return just created contract", gas, deposit_cost(code_length), gas_used, hash)
            }
            reason => refused_code(reason, code_length, hash),
        };
        Failure { reason, message, instruction: opcode::RETURN }
    }
}

fn refused_code(reason: HaltReason, length: usize, hash: B256) -> String {
    match reason {
        HaltReason::CodePrefix => {
            format!("Contract code cannot start with 0xEF byte (RSKIP544/EIP-3541), tx: {hash}")
        }
        _ => format!("Maximum contract size allowed {CODE_SIZE_LIMIT} but actual {length}, tx: {hash}"),
    }
}

fn out_of_gas(step: &Instruction, price: Price, frame_gas: u64, hash: B256) -> String {
    let name = instruction_name(step.byte).unwrap_or_default();
    let used = frame_gas.saturating_sub(step.gas);
    match price {
        Price::Unlimited => {
            let most = i64::MAX;
            format!(
                "Not enough gas for '{name}' operation executing: opGas[{most}], programGas[{}], tx[{hash}]",
                step.gas
            )
        }
        Price::Call(cost) if cost > step.gas => {
            format!("Gas value overflow: actualGas[{}], gasLimit[{cost}], tx[{hash}]", step.gas)
        }
        // The gas left after the price does not cover the stipend.
        Price::Call(_) => not_enough(name, frame_gas, 2_300, used, hash),
        Price::Whole(cost) => not_enough(name, frame_gas, cost, used, hash),
    }
}

fn not_enough(name: &str, frame_gas: u64, cost: u64, used: u64, hash: B256) -> String {
    format!(
        "Not enough gas for '{name}' cause spending: invokeGas[{frame_gas}], gas[{cost}], usedGas[{used}], tx[{hash}]"
    )
}
