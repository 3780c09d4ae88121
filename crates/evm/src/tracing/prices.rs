//! Prices of instructions that ran out of gas, for the messages of the reference.

use revm::bytecode::opcode;
use rhizome_primitives::U256;

use super::instruction::Instruction;
use crate::error::ExecError;
use crate::instructions::{GAS, INIT_CODE_COST_PER_WORD};
use crate::machine::Machine;

/// Largest end of a range of memory, in bytes.
const MEMORY_LIMIT: u64 = 1 << 30;

/// A price as the reference computes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Price {
    /// Price of an instruction.
    Whole(u64),
    /// Price of a call without the gas lent.
    Call(u64),
    /// Memory beyond 2^30 bytes.
    Unlimited,
}

/// Returns the price of an instruction that has just failed. Must precede the revert of the frame, whose changes affect
/// the price.
pub(super) fn price(step: &Instruction, machine: &mut Machine<'_>) -> Result<Price, ExecError> {
    let byte = step.byte;
    let fixed = u64::from(GAS.get(usize::from(byte)).copied().unwrap_or_default());
    let memory = |ranges: &[(usize, usize)]| memory_price(step, ranges);
    let size_at = |index: usize| step.operand(index).saturating_to::<u64>();
    let words_at = |index: usize| size_at(index).div_ceil(32);
    let variable = match byte {
        opcode::MLOAD | opcode::MSTORE => memory_growth(step, range_end(step.operand(0), U256::from(32))),
        opcode::MSTORE8 => memory_growth(step, range_end(step.operand(0), U256::ONE)),
        opcode::KECCAK256 => memory(&[(0, 1)]).map(|cost| cost.saturating_add(words_at(1).saturating_mul(6))),
        opcode::CALLDATACOPY | opcode::CODECOPY | opcode::RETURNDATACOPY => {
            memory(&[(0, 2)]).map(|cost| cost.saturating_add(words_at(2).saturating_mul(3)))
        }
        opcode::EXTCODECOPY => memory(&[(1, 3)]).map(|cost| cost.saturating_add(words_at(3).saturating_mul(3))),
        opcode::MCOPY => memory(&[(0, 2), (1, 2)]).map(|cost| cost.saturating_add(words_at(2).saturating_mul(3))),
        opcode::RETURN | opcode::REVERT => memory(&[(0, 1)]),
        opcode::EXP => Some(50 * step.operand(1).byte_len() as u64),
        opcode::LOG0..=opcode::LOG4 => {
            let topics = u64::from(byte - opcode::LOG0);
            let data = size_at(1).saturating_mul(8);
            memory(&[(0, 1)]).map(|cost| cost.saturating_add(data).saturating_add(375 * (topics + 1)))
        }
        opcode::CREATE | opcode::CREATE2 => {
            let hashing = if byte == opcode::CREATE2 { 6 } else { 0 };
            let scanning = if machine.active_rules.has_init_code_rules { INIT_CODE_COST_PER_WORD } else { 0 };
            let for_words = words_at(2).saturating_mul(hashing + scanning);
            memory(&[(1, 2)]).map(|cost| cost.saturating_add(for_words).saturating_add(32_000))
        }
        opcode::SSTORE => {
            let is_present = machine.state.storage_bytes(step.account, &step.operand(0))?.is_some();
            Some(if !is_present && !step.operand(1).is_zero() { 20_000 } else { 5_000 })
        }
        opcode::SELFDESTRUCT => {
            let is_known = machine.state.exists(step.address_operand(0))?;
            Some(if is_known { 5_000 } else { 30_000 })
        }
        opcode::CALL | opcode::CALLCODE | opcode::DELEGATECALL | opcode::STATICCALL => {
            return call_price(step, machine);
        }
        _ => Some(0),
    };
    Ok(variable.map_or(Price::Unlimited, |cost| Price::Whole(fixed.saturating_add(cost))))
}

fn call_price(step: &Instruction, machine: &mut Machine<'_>) -> Result<Price, ExecError> {
    let has_value = matches!(step.byte, opcode::CALL | opcode::CALLCODE);
    let first = if has_value { 3 } else { 2 };
    let Some(memory) = memory_price(step, &[(first, first + 1), (first + 2, first + 3)]) else {
        return Ok(Price::Unlimited);
    };
    let mut cost = memory.saturating_add(700);
    if step.byte == opcode::CALL && !machine.state.exists(step.address_operand(1))? {
        cost = cost.saturating_add(25_000);
    }
    if has_value && !step.operand(2).is_zero() {
        cost = cost.saturating_add(9_000);
    }
    Ok(Price::Call(cost))
}

/// Returns the price of memory up to the largest end of some ranges, given by the positions of their operands.
fn memory_price(step: &Instruction, ranges: &[(usize, usize)]) -> Option<u64> {
    let ends = ranges.iter().map(|(offset, size)| range_end(step.operand(*offset), step.operand(*size)));
    memory_growth(step, ends.max().unwrap_or_default())
}

/// Returns the end of a range; 0 for an empty range.
pub(super) fn range_end(offset: U256, size: U256) -> U256 {
    if size.is_zero() { U256::ZERO } else { offset.saturating_add(size) }
}

/// Returns the price of memory up to `end`; `None` beyond the limit.
pub(super) fn memory_growth(step: &Instruction, end: U256) -> Option<u64> {
    if end > U256::from(MEMORY_LIMIT) {
        return None;
    }
    let price_of = |words: u64| 3 * words + words * words / 512;
    let (words, present) = (end.saturating_to::<u64>().div_ceil(32), step.memory_length as u64 / 32);
    Some(price_of(words.max(present)) - price_of(present))
}
