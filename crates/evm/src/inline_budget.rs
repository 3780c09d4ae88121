//! Executions that have to stay brief: every instruction is paid for before it works, in units of work instead of gas.
//!
//! Prices are generous for what may take long, so that what the budget buys is over in about 150 µs whatever the code is. What may take long at once, such as most built-in contracts, has no price at all.

use revm::bytecode::opcode::{
    ADDMOD, BALANCE, BLOCKHASH, CALL, CALLCODE, CALLDATACOPY, CODECOPY, CREATE, CREATE2, DELEGATECALL, DIV, EXP,
    EXTCODECOPY, EXTCODEHASH, EXTCODESIZE, KECCAK256, LOG0, LOG1, LOG2, LOG3, LOG4, MCOPY, MLOAD, MOD, MSTORE, MSTORE8,
    MULMOD, RETURN, RETURNDATACOPY, REVERT, SDIV, SELFBALANCE, SELFDESTRUCT, SLOAD, SMOD, SSTORE, STATICCALL, TLOAD,
    TSTORE,
};
use revm::interpreter::Interpreter;
use revm::interpreter::interpreter_types::Jumps;
use rhizome_primitives::{Rule, U256};

use crate::error::ExecError;
use crate::instructions::{RskInterpreter, precompile_of};
use crate::machine::Machine;
use crate::tracing::Tracer;

/// What an execution may use up. A unit is the time of a simple instruction, at most 8 ns.
const UNITS: u64 = 20_000;
/// A price that no budget covers.
const TOO_LONG: u64 = UNITS + 1;
/// Memory that a unit touches or makes.
const BYTES_PER_UNIT: u64 = 64;
/// A byte of an exponent is eight rounds of squaring and multiplying.
const UNITS_PER_EXPONENT_BYTE: u64 = 20;
/// A look at an account or a cell that was not looked at before.
const READ: u16 = 250;

/// Marks prices that depend on operands.
const DEPENDS: u16 = 1 << 15;

/// Price of each instruction without what depends on its operands.
const PRICES: [u16; 256] = prices();

const fn prices() -> [u16; 256] {
    let mut prices = [1; 256];
    let table: [(&[u8], u16); 14] = [
        (&[DIV, SDIV, MOD, SMOD], 10),
        (&[ADDMOD, MULMOD], 20),
        (&[EXP], 10 | DEPENDS),
        (&[MLOAD, MSTORE, MSTORE8], 1 | DEPENDS),
        (&[MCOPY, CALLDATACOPY, CODECOPY, RETURNDATACOPY, RETURN, REVERT], 10 | DEPENDS),
        (&[KECCAK256], 100 | DEPENDS),
        (&[LOG0, LOG1, LOG2, LOG3, LOG4], 40 | DEPENDS),
        (&[TLOAD, TSTORE], 40),
        (&[SELFBALANCE], 10),
        (&[SLOAD, BALANCE, EXTCODESIZE, EXTCODEHASH], READ | DEPENDS),
        (&[SSTORE], (READ + 50) | DEPENDS),
        (&[BLOCKHASH, EXTCODECOPY], (5 * READ) | DEPENDS),
        (&[CALL, CALLCODE, DELEGATECALL, STATICCALL], (3 * READ) | DEPENDS),
        (&[CREATE, CREATE2, SELFDESTRUCT], DEPENDS),
    ];
    let mut row = 0;
    while row < table.len() {
        let (codes, price) = table[row];
        let mut place = 0;
        while place < codes.len() {
            prices[codes[place] as usize] = price;
            place += 1;
        }
        row += 1;
    }
    prices
}

/// What is left for an execution. It ends as if its time were over when the next instruction costs more.
pub(crate) struct InlineBudget {
    left: u64,
}

impl InlineBudget {
    pub(crate) fn new() -> InlineBudget {
        InlineBudget { left: UNITS }
    }

    #[inline]
    fn pay(&mut self, units: u64) -> Result<(), ExecError> {
        self.left = self.left.checked_sub(units).ok_or(ExecError::DeadlineExceeded)?;
        Ok(())
    }

    /// A range of memory that is about to be read or written, and made if it is not there.
    fn touch(&mut self, interpreter: &Interpreter<RskInterpreter>, offset: U256, size: U256) -> Result<(), ExecError> {
        if size.is_zero() {
            return Ok(());
        }
        let size = size.saturating_to::<u64>();
        let end = offset.saturating_to::<u64>().saturating_add(size);
        let made = end.saturating_sub(interpreter.memory.len() as u64);
        self.pay(size.saturating_add(made) / BYTES_PER_UNIT)
    }

    /// What an instruction costs beside its fixed price.
    #[inline(never)]
    fn pay_operands(
        &mut self,
        code: u8,
        interpreter: &Interpreter<RskInterpreter>,
        machine: &Machine<'_>,
    ) -> Result<(), ExecError> {
        let stack = interpreter.stack.data();
        // Instructions without enough operands fail before they work.
        let operand = |place: usize| stack.iter().nth_back(place).copied().unwrap_or_default();
        match code {
            EXP => self.pay(operand(1).byte_len() as u64 * UNITS_PER_EXPONENT_BYTE),
            MLOAD | MSTORE => self.touch(interpreter, operand(0), U256::from(32)),
            MSTORE8 => self.touch(interpreter, operand(0), U256::ONE),
            MCOPY => self.touch(interpreter, operand(0).max(operand(1)), operand(2)),
            CALLDATACOPY | CODECOPY | RETURNDATACOPY => self.touch(interpreter, operand(0), operand(2)),
            RETURN | REVERT | LOG0 | LOG1 | LOG2 | LOG3 | LOG4 => self.touch(interpreter, operand(0), operand(1)),
            KECCAK256 => {
                self.pay(operand(1).saturating_to::<u64>() / 2)?;
                self.touch(interpreter, operand(0), operand(1))
            }
            // What lies on a slow disk has no price: the clock is asked.
            SLOAD | SSTORE | BALANCE | EXTCODESIZE | EXTCODEHASH => look_at_clock(machine),
            EXTCODECOPY => {
                look_at_clock(machine)?;
                self.touch(interpreter, operand(1), operand(3))
            }
            // Hashes of ancestors may have to be read with their blocks.
            BLOCKHASH if operand(0) < U256::from(machine.env.number) => self.pay(TOO_LONG),
            BLOCKHASH => Ok(()),
            CALL | CALLCODE | DELEGATECALL | STATICCALL => {
                look_at_clock(machine)?;
                let ranges = if has_value(code, machine) { 3 } else { 2 };
                self.touch(interpreter, operand(ranges), operand(ranges + 1))?;
                self.touch(interpreter, operand(ranges + 2), operand(ranges + 3))?;
                let Some(entry) = precompile_of(&operand(1), machine) else { return Ok(()) };
                self.pay(entry.precompile.inline_work(operand(ranges + 1).saturating_to()).unwrap_or(TOO_LONG))
            }
            _ => self.pay(TOO_LONG),
        }
    }
}

/// Whether a call takes a value from the stack.
fn has_value(code: u8, machine: &Machine<'_>) -> bool {
    match code {
        DELEGATECALL => false,
        STATICCALL => !machine.rules.is_active(Rule::Rskip103),
        _ => true,
    }
}

fn look_at_clock(machine: &Machine<'_>) -> Result<(), ExecError> {
    if machine.deadline.has_passed() { Err(ExecError::DeadlineExceeded) } else { Ok(()) }
}

impl Tracer for InlineBudget {
    const SEES_STEPS: bool = true;

    #[inline]
    fn step_start(
        &mut self,
        interpreter: &Interpreter<RskInterpreter>,
        machine: &mut Machine<'_>,
    ) -> Result<(), ExecError> {
        let code = interpreter.bytecode.opcode();
        let price = PRICES[usize::from(code)];
        self.pay(u64::from(price & !DEPENDS))?;
        if price & DEPENDS == 0 { Ok(()) } else { self.pay_operands(code, interpreter, machine) }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rhizome_primitives::{Address, ChainSpec, hex};

    use crate::call::{CallOutcome, CallRequest, call};
    use crate::deadline::Deadline;
    use crate::error::ExecError;
    use crate::fixtures::{NoAncestors, contract, env, world};

    const GAS: u64 = 1 << 40;

    fn run(to: Address, contracts: &[(Address, &[u8])], deadline: &Deadline) -> Result<CallOutcome, ExecError> {
        let request = CallRequest { to: Some(to), gas: GAS, ..CallRequest::default() };
        call(&ChainSpec::regtest(), env(5), world(contracts), &NoAncestors, &request, deadline)
    }

    /// So long that these tests judge the budget and not the speed of the machine.
    fn inline() -> Deadline {
        Deadline::inline(Duration::from_secs(3600))
    }

    fn is_inline(code: &[u8]) -> bool {
        let to = contract(0x51);
        match run(to, &[(to, code)], &inline()) {
            Ok(outcome) => {
                let full = run(to, &[(to, code)], &Deadline::none()).unwrap();
                assert_eq!(format!("{outcome:?}"), format!("{full:?}"));
                true
            }
            Err(ExecError::DeadlineExceeded) => false,
            Err(error) => panic!("{error}"),
        }
    }

    #[test]
    fn what_is_brief_ends_as_it_would_without_a_budget() {
        // Returns 32 bytes; reverts with a word; halts; runs out of the stack.
        for code in [&hex!("602a60005260206000f3")[..], &hex!("602a60005260206000fd"), &hex!("fe"), &hex!("01"), &[]] {
            assert!(is_inline(code), "{code:x?}");
        }
        // GAS tells contracts nothing of the budget.
        assert!(is_inline(&hex!("5a60005260206000f3")));
        // A SLOAD, a LOG, an SSTORE, a hash of 64 bytes, a call of an account without code.
        assert!(is_inline(&hex!("600054600160005560406000a060406000206000600060006000600060995af1")));
    }

    #[test]
    fn loops_and_many_expensive_instructions_are_not_brief() {
        assert!(!is_inline(&hex!("5b600056")));
        // DIV, MULMOD, EXP with 32 bytes, SLOAD, BALANCE, hashes, copies of other code, calls.
        for (code, few, many) in [
            (&hex!("600160010450")[..], 100, 2000),
            (&hex!("6001600160010950"), 100, 2000),
            (&hex!("600019600a0a50"), 5, 50),
            (&hex!("60005450"), 10, 100),
            (&hex!("60993150"), 10, 100),
            (&hex!("602060002050"), 10, 300),
            (&hex!("60206000600060993c"), 3, 50),
            (&hex!("6000600060006000600060995af150"), 5, 100),
        ] {
            assert!(is_inline(&code.repeat(few)), "{code:x?}");
            assert!(!is_inline(&code.repeat(many)), "{code:x?}");
        }
    }

    #[test]
    fn much_memory_is_not_brief() {
        // A store at 4 KiB and at 16 MiB, and the same range by KECCAK256, CALLDATACOPY, CODECOPY, MCOPY, LOG0, RETURN, REVERT
        // and as the output of a call.
        let codes = [
            ("6000611000", "60006301000000", "52"),
            ("6110006000", "63010000006000", "20"),
            ("61100060006000", "630100000060006000", "37"),
            ("61100060006000", "630100000060006000", "39"),
            ("61100060006000", "630100000060006000", "5e"),
            ("6110006000", "63010000006000", "a0"),
            ("6110006000", "63010000006000", "f3"),
            ("6110006000", "63010000006000", "fd"),
            ("611000600060006000609960ff", "6301000000600060006000609960ff", "fa"),
            ("60006000611000600060996000", "600060006301000000600060996000", "f4"),
        ];
        for (small, large, instruction) in codes {
            let code = |operands: &str| hex::decode(format!("{operands}{instruction}")).unwrap();
            assert!(is_inline(&code(small)), "{small} {instruction}");
            assert!(!is_inline(&code(large)), "{large} {instruction}");
        }
    }

    #[test]
    fn creations_and_most_built_in_contracts_are_not_brief() {
        // CREATE, CREATE2, SELFDESTRUCT; the hash of the parent.
        for code in [&hex!("600060006000f0")[..], &hex!("6000600060006000f5"), &hex!("6000ff"), &hex!("600440")] {
            assert!(!is_inline(code), "{code:x?}");
        }
        assert!(is_inline(&hex!("4340")));
        for entry in &crate::precompiles::table::TABLE {
            let code = [&hex!("6000600060806000600073")[..], entry.address.as_slice(), &hex!("5af1")].concat();
            let has_price = entry.precompile.inline_work(128).is_some();
            assert_eq!(is_inline(&code), has_price, "{}", entry.address);
            // Nor is any of them when a call begins there, nor any creation.
            assert!(matches!(run(entry.address, &[], &inline()), Err(ExecError::DeadlineExceeded)));
        }
        let creation = CallRequest { gas: GAS, ..CallRequest::default() };
        let result = call(&ChainSpec::regtest(), env(5), world(&[]), &NoAncestors, &creation, &inline());
        assert!(matches!(result, Err(ExecError::DeadlineExceeded)));
    }

    #[test]
    fn frames_below_share_the_budget() {
        // Calls itself until it may not.
        assert!(!is_inline(&hex!("60006000600060006000305af1")));
    }

    #[test]
    fn the_clock_is_looked_at_before_the_state_is() {
        let late = Deadline::inline(Duration::ZERO);
        let to = contract(0x52);
        assert!(matches!(run(to, &[(to, &hex!("00"))], &late), Err(ExecError::DeadlineExceeded)));
    }
}
