//! Instructions that read other accounts. All 32 bytes of the operand identify a precompile.

use revm::interpreter::{Host, InstructionResult, num_words};
use rhizome_primitives::{Address, B256, EMPTY_CODE_HASH, I256, Rules, U256};

use super::context::{InstructionOutcome, OpcodeContext, charge, push};
use super::memory::{expand, expansion_cost, range_end};
use crate::machine::{Machine, OrStop};
use crate::precompiles::{PrecompileEntry, precompile_at};

const COPY_COST_PER_WORD: u64 = 3;

/// Returns the address in an operand, whose upper 12 bytes are ignored.
#[inline]
pub(crate) fn address_of(operand: U256) -> Address {
    Address::from_word(B256::from(operand))
}

/// Returns the precompile that an operand identifies.
#[inline]
pub(crate) fn precompile_of(operand: &U256, machine: &Machine<'_>) -> Option<&'static PrecompileEntry> {
    match machine.moved_precompiles {
        None => fixed_precompile(operand, &machine.rules),
        Some(_) => machine.precompile_at(&address_of(*operand)),
    }
}

#[inline]
fn fixed_precompile(operand: &U256, rules: &Rules) -> Option<&'static PrecompileEntry> {
    let [low, rest @ ..] = operand.as_limbs();
    // All precompiles have addresses below 2^32.
    if rest != &[0; 3] || *low > u64::from(u32::MAX) {
        return None;
    }
    precompile_at(&address_of(*operand), rules)
}

/// Returns a balance as BALANCE pushes it: a negative balance has no sign extension.
fn balance_word(balance: I256) -> U256 {
    if !balance.is_negative() {
        return balance.into_raw();
    }
    // The smallest number of bytes for the number with its sign.
    let bits = (!balance.into_raw()).bit_len() + 1;
    let width = bits.div_ceil(8) * 8;
    if width >= 256 { balance.into_raw() } else { balance.into_raw() & ((U256::ONE << width) - U256::ONE) }
}

pub(super) fn balance(context: OpcodeContext<'_, '_>) -> InstructionOutcome {
    let OpcodeContext { interpreter, host: machine } = context;
    let Some(([], top)) = interpreter.stack.popn_top() else {
        return Err(InstructionResult::StackUnderflow);
    };
    *top = balance_word(machine.state.balance(address_of(*top)).or_stop(machine)?);
    Ok(())
}

pub(super) fn selfbalance(context: OpcodeContext<'_, '_>) -> InstructionOutcome {
    let OpcodeContext { interpreter, host: machine } = context;
    let balance = machine.state.balance_at(interpreter.extend.account).or_stop(machine)?;
    push(interpreter, balance_word(balance))
}

pub(super) fn extcodesize(context: OpcodeContext<'_, '_>) -> InstructionOutcome {
    let OpcodeContext { interpreter, host: machine } = context;
    let Some(([], top)) = interpreter.stack.popn_top() else {
        return Err(InstructionResult::StackUnderflow);
    };
    let operand = *top;
    *top = U256::from(machine.state.code_length(address_of(operand)).or_stop(machine)?);
    if machine.active_rules.has_precompile_return_data && precompile_of(&operand, machine).is_some() {
        *top = U256::MAX;
    }
    Ok(())
}

pub(super) fn extcodehash(context: OpcodeContext<'_, '_>) -> InstructionOutcome {
    let OpcodeContext { interpreter, host: machine } = context;
    let Some(([], top)) = interpreter.stack.popn_top() else {
        return Err(InstructionResult::StackUnderflow);
    };
    let hash = if precompile_of(top, machine).is_some() {
        EMPTY_CODE_HASH
    } else {
        let is_standard = machine.active_rules.has_standard_code_hash;
        machine.state.code_hash(address_of(*top), is_standard).or_stop(machine)?
    };
    *top = hash.into();
    Ok(())
}

pub(super) fn extcodecopy(context: OpcodeContext<'_, '_>) -> InstructionOutcome {
    let OpcodeContext { interpreter, host: machine } = context;
    let Some([account, to, from, size]) = interpreter.stack.popn() else {
        return Err(InstructionResult::StackUnderflow);
    };
    let end = range_end(to, size)?;
    let size: usize = size.saturating_to();
    let params = machine.gas_params();
    let cost = expansion_cost(interpreter, params, end) + COPY_COST_PER_WORD * num_words(size) as u64;
    charge(interpreter, cost)?;
    expand(interpreter, params, end);
    let code = machine.state.code(address_of(account)).or_stop(machine)?.unwrap_or_default();
    if size != 0 {
        interpreter.memory.set_data(end - size, from.saturating_to(), size, &code);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn negative_balances_have_no_sign_extension() {
        for (balance, word) in [(0, 0), (5, 5), (-5, 0xfb), (-128, 0x80), (-129, 0xff7f), (-256, 0xff00), (-1, 0xff)] {
            assert_eq!(balance_word(I256::try_from(balance).unwrap()), U256::from(word), "{balance}");
        }
        assert_eq!(balance_word(I256::MIN), U256::ONE << 255);
    }

    #[test]
    fn precompiles_are_identified_by_the_whole_operand() {
        let rules = Rules::all();
        assert!(fixed_precompile(&U256::from(1), &rules).is_some());
        assert!(fixed_precompile(&U256::from(0x0100_0006), &rules).is_some());
        assert!(fixed_precompile(&(U256::from(1) + (U256::ONE << 160)), &rules).is_none());
        assert!(fixed_precompile(&U256::from(0x0a), &rules).is_none());
    }
}
