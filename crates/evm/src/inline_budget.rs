//! The work budget of inline calls: each instruction is charged before it executes, in units of work instead of gas.
//!
//! An inline call runs on the worker thread that received the request, so the thread is blocked while it runs. The budget
//! bounds the call to about 150 µs whatever the code is. Instructions that can take longer, for example creations and most
//! precompiles, exceed any budget.
//!
//! Measured: a `balanceOf` (21,751 gas) takes 4.4 µs in this crate, with the budget and without it; the difference is below
//! the noise. An inline call saves a round trip to the pool, which takes about ten times as long
//! (docs/design/inline-calls.md). `npm run bench -- --without inline-calls` measures the node without inline calls.
//!
//! Fallback: a call that exceeds the budget fails with [`ExecError::DeadlineExceeded`] and the caller runs it again in the
//! pool, with a time limit only. The result is the same, because the budget is invisible to contracts.

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
use crate::tracing::InterpreterTracer;

/// Units of work of an inline call. A unit is the time of a simple instruction, at most 8 ns.
const UNITS: u64 = 20_000;
/// A price that exceeds any budget.
const UNAFFORDABLE: u64 = UNITS + 1;
/// Bytes of memory that a unit reads, writes or allocates.
const BYTES_PER_UNIT: u64 = 64;
/// Price of a byte of an exponent: eight squarings and multiplications.
const UNITS_PER_EXPONENT_BYTE: u64 = 20;
/// Price of the first read of an account or a storage slot.
const READ: u16 = 250;

/// Flag of prices with a part that depends on the operands.
const HAS_OPERAND_PRICE: u16 = 1 << 15;

/// Fixed price of each instruction.
const PRICES: [u16; 256] = prices();

const fn prices() -> [u16; 256] {
    let mut prices = [1; 256];
    let table: [(&[u8], u16); 14] = [
        (&[DIV, SDIV, MOD, SMOD], 10),
        (&[ADDMOD, MULMOD], 20),
        (&[EXP], 10 | HAS_OPERAND_PRICE),
        (&[MLOAD, MSTORE, MSTORE8], 1 | HAS_OPERAND_PRICE),
        (&[MCOPY, CALLDATACOPY, CODECOPY, RETURNDATACOPY, RETURN, REVERT], 10 | HAS_OPERAND_PRICE),
        (&[KECCAK256], 100 | HAS_OPERAND_PRICE),
        (&[LOG0, LOG1, LOG2, LOG3, LOG4], 40 | HAS_OPERAND_PRICE),
        (&[TLOAD, TSTORE], 40),
        (&[SELFBALANCE], 10),
        (&[SLOAD, BALANCE, EXTCODESIZE, EXTCODEHASH], READ | HAS_OPERAND_PRICE),
        (&[SSTORE], (READ + 50) | HAS_OPERAND_PRICE),
        (&[BLOCKHASH, EXTCODECOPY], (5 * READ) | HAS_OPERAND_PRICE),
        (&[CALL, CALLCODE, DELEGATECALL, STATICCALL], (3 * READ) | HAS_OPERAND_PRICE),
        (&[CREATE, CREATE2, SELFDESTRUCT], HAS_OPERAND_PRICE),
    ];
    let mut row = 0;
    while row < table.len() {
        let (codes, price) = table[row];
        let mut index = 0;
        while index < codes.len() {
            prices[codes[index] as usize] = price;
            index += 1;
        }
        row += 1;
    }
    prices
}

/// The units left of an inline call. The call fails with `DeadlineExceeded` if the next instruction costs more.
pub(crate) struct InlineBudget {
    left: u64,
}

impl InlineBudget {
    pub(crate) fn new() -> InlineBudget {
        InlineBudget { left: UNITS }
    }

    #[inline]
    fn charge(&mut self, units: u64) -> Result<(), ExecError> {
        self.left = self.left.checked_sub(units).ok_or(ExecError::DeadlineExceeded)?;
        Ok(())
    }

    /// Charges the access to a range of memory and its allocation.
    fn charge_memory(
        &mut self,
        interpreter: &Interpreter<RskInterpreter>,
        offset: U256,
        size: U256,
    ) -> Result<(), ExecError> {
        if size.is_zero() {
            return Ok(());
        }
        let size = size.saturating_to::<u64>();
        let end = offset.saturating_to::<u64>().saturating_add(size);
        let allocated = end.saturating_sub(interpreter.memory.len() as u64);
        self.charge(size.saturating_add(allocated) / BYTES_PER_UNIT)
    }

    /// Charges the part of a price that depends on the operands.
    #[inline(never)]
    fn charge_operands(
        &mut self,
        code: u8,
        interpreter: &Interpreter<RskInterpreter>,
        machine: &Machine<'_>,
    ) -> Result<(), ExecError> {
        let stack = interpreter.stack.data();
        // An instruction without enough operands fails before it does any work.
        let operand = |index: usize| stack.iter().nth_back(index).copied().unwrap_or_default();
        match code {
            EXP => self.charge(operand(1).byte_len() as u64 * UNITS_PER_EXPONENT_BYTE),
            MLOAD | MSTORE => self.charge_memory(interpreter, operand(0), U256::from(32)),
            MSTORE8 => self.charge_memory(interpreter, operand(0), U256::ONE),
            MCOPY => self.charge_memory(interpreter, operand(0).max(operand(1)), operand(2)),
            CALLDATACOPY | CODECOPY | RETURNDATACOPY => self.charge_memory(interpreter, operand(0), operand(2)),
            RETURN | REVERT | LOG0 | LOG1 | LOG2 | LOG3 | LOG4 => {
                self.charge_memory(interpreter, operand(0), operand(1))
            }
            KECCAK256 => {
                self.charge(operand(1).saturating_to::<u64>() / 2)?;
                self.charge_memory(interpreter, operand(0), operand(1))
            }
            // A read can be slow if the disk is, so the clock is checked.
            SLOAD | SSTORE | BALANCE | EXTCODESIZE | EXTCODEHASH => check_clock(machine),
            EXTCODECOPY => {
                check_clock(machine)?;
                self.charge_memory(interpreter, operand(1), operand(3))
            }
            // The hash of an ancestor can require the read of a block.
            BLOCKHASH if operand(0) < U256::from(machine.env.number) => self.charge(UNAFFORDABLE),
            BLOCKHASH => Ok(()),
            CALL | CALLCODE | DELEGATECALL | STATICCALL => {
                check_clock(machine)?;
                let ranges = if has_value(code, machine) { 3 } else { 2 };
                self.charge_memory(interpreter, operand(ranges), operand(ranges + 1))?;
                self.charge_memory(interpreter, operand(ranges + 2), operand(ranges + 3))?;
                let Some(entry) = precompile_of(&operand(1), machine) else { return Ok(()) };
                self.charge(entry.precompile.inline_work(operand(ranges + 1).saturating_to()).unwrap_or(UNAFFORDABLE))
            }
            _ => self.charge(UNAFFORDABLE),
        }
    }
}

/// Whether a call instruction takes a value from the stack.
fn has_value(code: u8, machine: &Machine<'_>) -> bool {
    match code {
        DELEGATECALL => false,
        STATICCALL => !machine.rules.is_active(Rule::Rskip103),
        _ => true,
    }
}

fn check_clock(machine: &Machine<'_>) -> Result<(), ExecError> {
    if machine.deadline.has_passed() { Err(ExecError::DeadlineExceeded) } else { Ok(()) }
}

impl InterpreterTracer for InlineBudget {
    const HAS_STEPS: bool = true;

    #[inline]
    fn step_start(
        &mut self,
        interpreter: &Interpreter<RskInterpreter>,
        machine: &mut Machine<'_>,
    ) -> Result<(), ExecError> {
        let code = interpreter.bytecode.opcode();
        let price = PRICES[usize::from(code)];
        self.charge(u64::from(price & !HAS_OPERAND_PRICE))?;
        if price & HAS_OPERAND_PRICE == 0 { Ok(()) } else { self.charge_operands(code, interpreter, machine) }
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
    use crate::precompiles::PrecompileEntry;
    use crate::precompiles::table::TABLE;

    const GAS: u64 = 1 << 40;

    fn run(to: Address, contracts: &[(Address, &[u8])], deadline: &Deadline) -> Result<CallOutcome, ExecError> {
        let request = CallRequest { to: Some(to), gas: GAS, ..CallRequest::default() };
        call(&ChainSpec::regtest(), env(5), world(contracts), &NoAncestors, &request, deadline)
    }

    /// A time limit that no test reaches, so that only the budget counts.
    fn inline() -> Deadline {
        Deadline::inline(Duration::from_secs(3600))
    }

    fn fits(code: &[u8]) -> bool {
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
    fn results_equal_those_without_a_budget() {
        // Returns 32 bytes; reverts with a word; halts; underflows the stack.
        for code in [&hex!("602a60005260206000f3")[..], &hex!("602a60005260206000fd"), &hex!("fe"), &hex!("01"), &[]] {
            assert!(fits(code), "{code:x?}");
        }
        // GAS is not affected by the budget.
        assert!(fits(&hex!("5a60005260206000f3")));
        // A SLOAD, a LOG, an SSTORE, a hash of 64 bytes, a call of an account without code.
        assert!(fits(&hex!("600054600160005560406000a060406000206000600060006000600060995af1")));
    }

    #[test]
    fn loops_and_many_expensive_instructions_exceed_the_budget() {
        assert!(!fits(&hex!("5b600056")));
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
            assert!(fits(&code.repeat(few)), "{code:x?}");
            assert!(!fits(&code.repeat(many)), "{code:x?}");
        }
    }

    #[test]
    fn large_memory_exceeds_the_budget() {
        // MSTORE at 4 KiB and at 16 MiB, and the same range for KECCAK256, CALLDATACOPY, CODECOPY, MCOPY, LOG0, RETURN, REVERT
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
            assert!(fits(&code(small)), "{small} {instruction}");
            assert!(!fits(&code(large)), "{large} {instruction}");
        }
    }

    #[test]
    fn creations_and_most_precompiles_exceed_the_budget() {
        // CREATE, CREATE2, SELFDESTRUCT; the hash of the parent.
        for code in [&hex!("600060006000f0")[..], &hex!("6000600060006000f5"), &hex!("6000ff"), &hex!("600440")] {
            assert!(!fits(code), "{code:x?}");
        }
        assert!(fits(&hex!("4340")));
        let rules = ChainSpec::regtest().rules(5);
        let is_active = |entry: &&PrecompileEntry| entry.since.is_none_or(|rule| rules.is_active(rule));
        for entry in TABLE.iter().filter(is_active) {
            let code = [&hex!("6000600060806000600073")[..], entry.address.as_slice(), &hex!("5af1")].concat();
            let has_price = entry.precompile.inline_work(128).is_some();
            assert_eq!(fits(&code), has_price, "{}", entry.address);
            // A direct call of a precompile is not charged by instructions, so it exceeds the budget.
            assert!(matches!(run(entry.address, &[], &inline()), Err(ExecError::DeadlineExceeded)));
        }
        let creation = CallRequest { gas: GAS, ..CallRequest::default() };
        let result = call(&ChainSpec::regtest(), env(5), world(&[]), &NoAncestors, &creation, &inline());
        assert!(matches!(result, Err(ExecError::DeadlineExceeded)));
    }

    #[test]
    fn inner_frames_share_the_budget() {
        // Calls itself until the depth limit.
        assert!(!fits(&hex!("60006000600060006000305af1")));
    }

    #[test]
    fn checks_the_clock_before_it_reads_the_state() {
        let late = Deadline::inline(Duration::ZERO);
        let to = contract(0x52);
        assert!(matches!(run(to, &[(to, &hex!("00"))], &late), Err(ExecError::DeadlineExceeded)));
    }
}
