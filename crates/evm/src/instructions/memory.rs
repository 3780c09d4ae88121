//! Memory up to 2^30 bytes. Charge and expansion are separate steps.

use revm::context_interface::cfg::GasParams;
use revm::interpreter::{InstructionResult, Interpreter, num_words};
use rhizome_primitives::U256;

use super::context::RskInterpreter;

/// Largest end of a range, in bytes.
pub(super) const LIMIT: usize = 1 << 30;

/// Returns the end of a memory range; 0 for an empty range at any offset. Fails with out of gas beyond the limit.
#[inline]
pub(super) fn range_end(offset: U256, size: U256) -> Result<usize, InstructionResult> {
    if size.is_zero() {
        return Ok(0);
    }
    let limit = U256::from(LIMIT);
    match offset.checked_add(size) {
        Some(end) if size <= limit && end <= limit => Ok(end.saturating_to()),
        _ => Err(InstructionResult::MemoryLimitOOG),
    }
}

/// Returns the price of an expansion of the memory to `end` bytes.
#[inline]
pub(super) fn expansion_cost(interpreter: &Interpreter<RskInterpreter>, params: &GasParams, end: usize) -> u64 {
    let words = num_words(end);
    let memory = interpreter.gas.memory();
    if words <= memory.words_num {
        return 0;
    }
    params.memory_cost(words) - memory.expansion_cost
}

/// Expands the memory to `end` bytes without a charge.
#[inline]
pub(super) fn expand(interpreter: &mut Interpreter<RskInterpreter>, params: &GasParams, end: usize) {
    let words = num_words(end);
    if words > interpreter.gas.memory().words_num {
        let cost = params.memory_cost(words);
        let _difference = interpreter.gas.memory_mut().set_words_num(words, cost);
        interpreter.memory.resize(words * 32);
    }
}
