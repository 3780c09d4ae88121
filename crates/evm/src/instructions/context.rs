//! The parts that all instructions share: their operands, their result, and charges of gas.

use revm::interpreter::interpreter::EthInterpreter;
use revm::interpreter::{InstructionContext, InstructionResult, Interpreter};
use rhizome_primitives::{Bytes, I256, U256};

use crate::machine::Machine;
use crate::state::AccountIndex;

/// State of a frame in addition to that of a revm interpreter.
#[derive(Debug, Clone, Default)]
pub(crate) struct FrameState {
    /// The executing account.
    pub(crate) account: AccountIndex,
    /// The code as contracts see it, if the executed code differs.
    pub(crate) original_code: Option<Bytes>,
    /// The largest amount of gas that was spent or lent at the same time.
    pub(crate) peak_gas: u64,
    /// Whether a call received all gas left.
    pub(crate) moved_all_gas: bool,
    /// Whether a call with value was paid.
    pub(crate) moved_value: bool,
    /// Gas lent to the last call.
    pub(crate) lent_gas: u64,
    /// Gas left after the price of the last call or creation and the gas lent to it.
    pub(crate) kept_gas: u64,
    /// Whether all parent frames were started by calls. Only then the scheduler of parallel sublists notices calls of the
    /// Bridge and REMASC (RSKIP-144).
    pub(crate) is_visible_to_scheduler: bool,
}

/// The interpreter of revm with the state of an RSK frame.
pub(crate) type RskInterpreter = EthInterpreter<FrameState>;
/// The operands of an instruction: interpreter and machine.
pub(super) type OpcodeContext<'c, 'e> = InstructionContext<'c, Machine<'e>, RskInterpreter>;
/// The result of an instruction.
pub(super) type InstructionOutcome = Result<(), InstructionResult>;

#[inline]
pub(super) fn charge(interpreter: &mut Interpreter<RskInterpreter>, cost: u64) -> InstructionOutcome {
    if interpreter.gas.record_regular_cost(cost) { Ok(()) } else { Err(InstructionResult::OutOfGas) }
}

#[inline]
pub(super) fn push(interpreter: &mut Interpreter<RskInterpreter>, word: U256) -> InstructionOutcome {
    if interpreter.stack.push(word) { Ok(()) } else { Err(InstructionResult::StackOverflow) }
}

/// Whether a balance covers an amount. A negative balance does not cover zero.
pub(super) fn covers(balance: I256, amount: U256) -> bool {
    !balance.is_negative() && balance.into_raw() >= amount
}

/// Converts an operand to gas, saturated at 2^63 - 1.
#[inline]
pub(super) fn saturated_gas(operand: U256) -> u64 {
    const LARGEST: u64 = i64::MAX as u64;
    operand.saturating_to::<u64>().min(LARGEST)
}
