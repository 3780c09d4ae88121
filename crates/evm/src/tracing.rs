//! Looking on at an execution: calls and creations, instructions, logs, and what changed in the state.
//!
//! An [`Inspector`] is told what happens while it happens, in order. It can end the execution by an error, which is how
//! traces stay bounded. Nothing here knows how a trace is written.

mod changes;
mod failure;
mod inner_hash;
mod inspecting;
mod instruction_names;
mod prices;
mod tracer;

use rhizome_primitives::{Address, B256, Bytes, Log, U256};

use crate::error::ExecError;
use crate::frame::End;
use crate::halt::HaltReason;
use crate::state::State;

pub use changes::{AccountChange, AccountView, SlotChange};
pub(crate) use changes::{complete, view_after};
pub(crate) use inspecting::InspectingTracer;
pub use instruction_names::instruction_name;
pub(crate) use tracer::{NoOpTracer, Tracer};

/// The instruction, or the kind of transaction, that starts a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallKind {
    /// CALL, or a transaction with a receiver.
    Call,
    /// CALLCODE.
    CallCode,
    /// DELEGATECALL.
    DelegateCall,
    /// STATICCALL.
    StaticCall,
    /// CREATE, or a transaction without a receiver.
    Create,
    /// CREATE2.
    Create2,
}

impl CallKind {
    /// Whether it makes a contract.
    pub fn is_creation(self) -> bool {
        matches!(self, CallKind::Create | CallKind::Create2)
    }
}

/// Code is about to run.
#[derive(Debug, Clone, Copy)]
pub struct FrameStart<'a> {
    /// How it came about.
    pub kind: CallKind,
    /// 0 for the code that the transaction runs.
    pub depth: usize,
    /// The account whose code asked for it; at depth 0 the sender.
    pub from: Address,
    /// The account whose code runs, or the one that is created.
    pub to: Address,
    /// The account whose storage and balance the code works on.
    pub account: Address,
    /// Wei. What CALLVALUE shows, so DELEGATECALL repeats that of the frame below.
    pub value: U256,
    /// Gas given; at depth 0 the gas limit.
    pub gas: u64,
    /// Call data, or init code.
    pub input: &'a [u8],
}

/// Code has run.
#[derive(Debug, Clone, Copy)]
pub struct FrameEnd<'a> {
    /// How it ended.
    pub end: End,
    /// Why it halted.
    pub failure: Option<&'a Failure>,
    /// Units of gas; all that was given if it halted. At depth 0 before refunds and before the code is paid for.
    pub gas_used: u64,
    /// Return data, the reason of a REVERT or, of an inner creation, the new code.
    pub output: &'a [u8],
    /// Of an inner creation whose code was not stored. Before RSKIP-453 such a creation ends well.
    pub refused_deposit: Option<&'a RefusedDeposit>,
}

/// The init code of an inner creation ran well, but its output could not be stored as code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedDeposit {
    /// Why, in the words that the reference has for it in the frame of the creator.
    pub failure: Failure,
    /// Units of gas that the init code used.
    pub gas_used: u64,
}

/// An exceptional halt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// What went wrong.
    pub reason: HaltReason,
    /// The reference's message, without the name of the class. Empty in inner frames of those who do not want it.
    pub message: String,
    /// The byte of the instruction that halted.
    pub instruction: u8,
}

/// A call or creation by which no code was run.
#[derive(Debug, Clone)]
pub struct LeafCall {
    /// The instruction.
    pub kind: CallKind,
    /// The account whose code asked for it.
    pub from: Address,
    /// Who was called. Zero for a creation, which got no address.
    pub to: Address,
    /// Wei.
    pub value: U256,
    /// Gas given.
    pub gas: u64,
    /// Gas of that which did not come back.
    pub gas_used: u64,
    /// Call data, or init code.
    pub input: Bytes,
    /// Return data of a built-in contract.
    pub output: Bytes,
    /// What came of it.
    pub end: LeafEnd,
}

/// What came of a call that ran no code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeafEnd {
    /// The account has no code.
    Transferred,
    /// A built-in contract answered.
    Answered,
    /// A built-in contract failed or was not paid.
    Failed,
    /// The frames were too deep.
    TooDeep,
    /// The balance did not suffice.
    Unfunded,
    /// There is a contract at the address already.
    Collided,
}

/// An instruction is about to execute.
#[derive(Debug, Clone, Copy)]
pub struct Step<'a> {
    /// Its byte.
    pub instruction: u8,
    /// Depth of its frame, 0 for the first.
    pub depth: usize,
    /// Position in the code.
    pub position: usize,
    /// Gas left before it.
    pub gas: u64,
    /// The account whose storage it works on.
    pub account: Address,
    /// Bottom first.
    pub stack: &'a [U256],
    /// A multiple of 32 bytes.
    pub memory: &'a [u8],
}

/// An instruction has executed, and so has the frame that it asked for.
#[derive(Debug, Clone, Copy)]
pub struct StepEnd<'a> {
    /// Its price, with the gas that it lent to a call but not to init code. None if it halted.
    pub cost: Option<u64>,
    /// Gas left after it.
    pub gas: u64,
    /// Bottom first.
    pub stack: &'a [U256],
    /// A multiple of 32 bytes.
    pub memory: &'a [u8],
}

/// Is told what happens. All methods do nothing unless written; an error ends the execution.
pub trait Inspector {
    /// Whether it wants to know of every instruction.
    fn wants_steps(&self) -> bool {
        false
    }

    /// Whether it wants the reference's messages for failures of inner frames too. They cost a hash of the code a call.
    fn wants_inner_messages(&self) -> bool {
        false
    }

    /// Code is about to run.
    fn frame_start(&mut self, _start: &FrameStart<'_>, _state: &mut State) -> Result<(), ExecError> {
        Ok(())
    }

    /// Code has run.
    fn frame_end(&mut self, _end: &FrameEnd<'_>) -> Result<(), ExecError> {
        Ok(())
    }

    /// A call ran no code.
    fn leaf_call(&mut self, _call: &LeafCall) -> Result<(), ExecError> {
        Ok(())
    }

    /// The running account was destroyed, and its balance went to the heir.
    fn selfdestruct(&mut self, _account: Address, _heir: Address, _balance: U256) -> Result<(), ExecError> {
        Ok(())
    }

    /// The running code, or a built-in contract that it called, emitted a log.
    fn log(&mut self, _log: &Log) -> Result<(), ExecError> {
        Ok(())
    }

    /// An instruction is about to execute. Asked of those who want steps only.
    fn step_start(&mut self, _step: &Step<'_>, _state: &mut State) -> Result<(), ExecError> {
        Ok(())
    }

    /// An instruction has executed. Asked of those who want steps only.
    fn step_end(&mut self, _end: &StepEnd<'_>) -> Result<(), ExecError> {
        Ok(())
    }
}

/// What is wanted of an execution beside its outcome.
#[derive(Default)]
pub struct Inspection<'o> {
    /// Looks on.
    pub inspector: Option<&'o mut dyn Inspector>,
    /// Collects what the execution touched in the state, until it is about so many bytes.
    pub changes_limit: Option<usize>,
}

/// An outcome with what was asked for.
#[derive(Debug)]
pub struct Inspected<T> {
    /// The outcome.
    pub outcome: T,
    /// All accounts that were looked at or changed, by address. Empty if not asked for.
    pub accounts: Vec<AccountChange>,
}

/// What identifies the enclosing transaction in messages of the reference.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EnclosingTransaction {
    pub(crate) is_creation: bool,
    pub(crate) hash: B256,
}

#[cfg(test)]
mod tests {
    use rhizome_primitives::{ChainSpec, Rule, hex};

    use super::*;
    use crate::call::{CallOutcome, CallRequest, inspect_call};
    use crate::deadline::Deadline;
    use crate::fixtures::{NoAncestors, contract, env, world};

    /// Calls the identity contract with one byte and an account without code, writes a cell, logs, destroys itself.
    const BUSY: [u8; 47] = hex!(
        "60006000600160006000600461fffff150"
        "60006000600060006000609961fffff150"
        "6005600155"
        "60006000a0"
        "6077ff"
    );

    #[derive(Default)]
    struct Notes {
        lines: Vec<String>,
        wants_steps: bool,
        most: usize,
    }

    impl Notes {
        fn note(&mut self, line: String) -> Result<(), ExecError> {
            self.lines.push(line);
            if self.lines.len() == self.most { Err(ExecError::StoppedByInspector) } else { Ok(()) }
        }
    }

    impl Inspector for Notes {
        fn wants_steps(&self) -> bool {
            self.wants_steps
        }

        fn frame_start(&mut self, start: &FrameStart<'_>, _state: &mut State) -> Result<(), ExecError> {
            self.note(format!("{:?} at depth {} with {} bytes", start.kind, start.depth, start.input.len()))
        }

        fn frame_end(&mut self, end: &FrameEnd<'_>) -> Result<(), ExecError> {
            let reason = end.failure.map(|failure| failure.message.clone()).unwrap_or_default();
            self.note(format!("{:?} {reason}", end.end))
        }

        fn leaf_call(&mut self, call: &LeafCall) -> Result<(), ExecError> {
            let (used, end) = (call.gas_used, call.end);
            self.note(format!(
                "{:?} {end:?} {} gave {}, gas {used} of {}",
                call.kind, call.input, call.output, call.gas
            ))
        }

        fn selfdestruct(&mut self, _account: Address, heir: Address, balance: U256) -> Result<(), ExecError> {
            self.note(format!("destroyed for {} with {balance}", heir.0[19]))
        }

        fn log(&mut self, log: &Log) -> Result<(), ExecError> {
            self.note(format!("log of {} topics", log.topics.len()))
        }

        fn step_start(&mut self, step: &Step<'_>, _state: &mut State) -> Result<(), ExecError> {
            self.note(instruction_name(step.instruction).unwrap_or("?").to_owned())
        }

        fn step_end(&mut self, end: &StepEnd<'_>) -> Result<(), ExecError> {
            self.note(format!("cost {:?}", end.cost))
        }
    }

    fn look_on(code: &[u8], gas: u64, notes: &mut Notes) -> Result<Inspected<CallOutcome>, ExecError> {
        look_on_under(&ChainSpec::regtest(), code, gas, notes)
    }

    fn look_on_under(
        spec: &ChainSpec,
        code: &[u8],
        gas: u64,
        notes: &mut Notes,
    ) -> Result<Inspected<CallOutcome>, ExecError> {
        let to = contract(0x77);
        let request = CallRequest { to: Some(to), gas, ..CallRequest::default() };
        let inspection = Inspection { inspector: Some(notes), changes_limit: Some(10_000) };
        inspect_call(spec, env(5), world(&[(to, code)]), &NoAncestors, &request, &Deadline::none(), inspection)
    }

    #[test]
    fn what_happens_is_told_in_order() {
        let mut notes = Notes::default();
        let accounts = look_on(&BUSY, 1_000_000, &mut notes).unwrap().accounts;
        let told = [
            "Call at depth 0 with 0 bytes",
            "Call Answered 0x00 gave 0x00, gas 18 of 65535",
            "Call Transferred 0x gave 0x, gas 0 of 65535",
            "log of 0 topics",
            "destroyed for 119 with 0",
            "Success ",
        ];
        assert_eq!(notes.lines, told);
        let changed = accounts.iter().find(|account| account.address == contract(0x77)).unwrap();
        let cell = SlotChange { slot: U256::ONE, before: U256::ZERO, after: U256::from(5) };
        assert_eq!(changed.slots, [cell]);
        assert_eq!(changed.before.as_ref().unwrap().code.len(), BUSY.len());
    }

    #[test]
    fn an_observer_can_end_the_execution() {
        for most in 1..6 {
            let mut notes = Notes { most, ..Notes::default() };
            assert!(matches!(look_on(&BUSY, 1_000_000, &mut notes), Err(ExecError::StoppedByInspector)));
            assert_eq!(notes.lines.len(), most);
        }
        let mut notes = Notes { most: 100, wants_steps: true, ..Notes::default() };
        assert!(matches!(look_on(&hex!("5b600056"), u64::MAX, &mut notes), Err(ExecError::StoppedByInspector)));
    }

    #[test]
    fn steps_cost_what_they_lend() {
        let mut notes = Notes { wants_steps: true, ..Notes::default() };
        look_on(&hex!("60006000600060006000609961fffff1"), 1_000_000, &mut notes).unwrap();
        let at = notes.lines.iter().position(|line| line == "CALL").unwrap();
        // 700, 25,000 for an account that does not exist, and what is lent.
        assert_eq!(notes.lines[at + 2], format!("cost Some({})", 700 + 25_000 + 0xffff));
        // The end of the code is no instruction.
        assert_eq!(notes.lines[at + 3..], ["Success "]);
    }

    #[test]
    fn gas_that_overflows_is_told_with_the_price_of_the_call() {
        let spec = ChainSpec::regtest().with_rule_height(Rule::Rskip150, None);
        let mut notes = Notes::default();
        // Lends 2^70 units to an account that does not exist, with a value.
        let code = hex!("600060006000600060016099684000000000000000" "00f1");
        look_on_under(&spec, &code, 90_000, &mut notes).unwrap();
        let message = "Got invalid gas value, tried operation: 34700 + -9223372036854773509";
        assert!(notes.lines.last().unwrap().ends_with(message), "{:?}", notes.lines);
    }

    #[test]
    fn halts_are_told_in_the_words_of_the_reference() {
        let zero = format!("0x{:064}", 0);
        let told = |code: &[u8], gas| {
            let mut notes = Notes::default();
            look_on(code, gas, &mut notes).unwrap();
            notes.lines.pop().unwrap()
        };
        let halts: [(&[u8], u64, String); 9] = [
            (&hex!("01"), 50_000, format!("Expected stack size 2 but actual 0, tx: {zero}")),
            (&hex!("fe"), 50_000, format!("Invalid operation code: opcode[fe], tx[{zero}]")),
            (&hex!("600356"), 50_000, format!("Operation with pc isn't 'JUMPDEST': PC[3], tx[{zero}]")),
            (&hex!("6410000000005600"), 50_000, format!("Operation with pc isn't 'JUMPDEST': PC[-1], tx[{zero}]")),
            (
                &hex!("6001612000526000"),
                21_100,
                format!(
                    "Not enough gas for 'MSTORE' cause spending: invokeGas[21100], gas[903], usedGas[21006], tx[{zero}]"
                ),
            ),
            (
                &hex!("600163ffffffff52"),
                50_000,
                format!(
                    "Not enough gas for 'MSTORE' operation executing: opGas[9223372036854775807], programGas[28994], tx[{zero}]"
                ),
            ),
            (
                &hex!("600160015560016002556001600355"),
                50_000,
                format!(
                    "Not enough gas for 'SSTORE' cause spending: invokeGas[50000], gas[20000], usedGas[41012], tx[{zero}]"
                ),
            ),
            // The cell is there: the frame has written it.
            (
                &hex!("60016001556002600155"),
                41_112,
                format!(
                    "Not enough gas for 'SSTORE' cause spending: invokeGas[41112], gas[5000], usedGas[41012], tx[{zero}]"
                ),
            ),
            (
                &hex!("60006000600060006000609960fff1"),
                21_100,
                format!("Gas value overflow: actualGas[79], gasLimit[25700], tx[{zero}]"),
            ),
        ];
        for (code, gas, message) in halts {
            let line = told(code, gas);
            assert!(line.ends_with(&message), "{line}");
        }
    }
}
