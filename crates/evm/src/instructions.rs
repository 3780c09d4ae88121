//! The instructions that differ from those of revm, and the table that puts both together.

mod accounts;
mod calls;
mod create;
mod logs;
mod memory;
mod memory_limit;
mod old_opcodes;
mod own_code;
mod precompiles;
mod return_data;
mod selfdestruct;
mod storage;
mod table;

use revm::interpreter::interpreter::EthInterpreter;
use revm::interpreter::{InstructionContext, InstructionResult, Interpreter};
use rhizome_primitives::{I256, U256};

use crate::frame::FrameState;
use crate::machine::Machine;

pub(crate) use accounts::{address_of, precompile_of};
pub(crate) use create::{
    CODE_SIZE_LIMIT, INIT_CODE_COST_PER_WORD, INIT_CODE_SIZE_LIMIT, REFUSED_CODE_PREFIX, deposit_cost,
};
pub(crate) use memory_limit::UNBOUNDED_MEMORY_GAS;
pub(crate) use table::{GAS, Instructions, instructions, is_instruction, stack_use};

/// The interpreter with what every frame of ours carries.
pub(crate) type RskInterpreter = EthInterpreter<FrameState>;
/// What an instruction works on.
type Context<'c, 'e> = InstructionContext<'c, Machine<'e>, RskInterpreter>;
/// How an instruction ends.
type Outcome = Result<(), InstructionResult>;

#[inline]
fn charge(interpreter: &mut Interpreter<RskInterpreter>, cost: u64) -> Outcome {
    if interpreter.gas.record_regular_cost(cost) { Ok(()) } else { Err(InstructionResult::OutOfGas) }
}

#[inline]
fn push(interpreter: &mut Interpreter<RskInterpreter>, word: U256) -> Outcome {
    if interpreter.stack.push(word) { Ok(()) } else { Err(InstructionResult::StackOverflow) }
}

/// True if a balance suffices for an amount. A negative one does not even suffice for nothing.
fn covers(balance: I256, amount: U256) -> bool {
    !balance.is_negative() && balance.into_raw() >= amount
}

/// An operand as gas: it saturates at 2^63 - 1.
#[inline]
fn saturated_gas(operand: U256) -> u64 {
    const LARGEST: u64 = i64::MAX as u64;
    operand.saturating_to::<u64>().min(LARGEST)
}
