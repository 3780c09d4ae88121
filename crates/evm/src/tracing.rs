//! Inspection of an execution: calls and creations, instructions, logs, and changes of the state.
//!
//! An [`Inspector`] receives events in order while the code runs. It can stop the execution by an error, which bounds the
//! size of traces. Formats of traces are not defined here.
//!
//! [`InterpreterTracer`] is the hook of the interpreter loop, resolved at compile time: [`NoOpTracer`] costs nothing,
//! [`InspectingTracer`] passes events to an [`Inspector`].

mod changes;
mod failure;
mod inner_hash;
mod inspecting;
mod instruction;
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
pub(crate) use tracer::{InterpreterTracer, NoOpTracer};

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
    /// Whether the instruction creates a contract.
    pub fn is_creation(self) -> bool {
        matches!(self, CallKind::Create | CallKind::Create2)
    }
}

/// The start of a frame: its code is about to run.
#[derive(Debug, Clone, Copy)]
pub struct FrameStart<'a> {
    /// Origin of the frame.
    pub kind: CallKind,
    /// Depth; 0 for the first frame of the transaction.
    pub depth: usize,
    /// The account whose code has started the frame; at depth 0 the sender.
    pub from: Address,
    /// The account whose code runs, or the created account.
    pub to: Address,
    /// The account whose storage and balance the code uses.
    pub account: Address,
    /// Wei, the result of CALLVALUE: DELEGATECALL inherits the value of the parent frame.
    pub value: U256,
    /// Gas of the frame; at depth 0 the gas limit.
    pub gas: u64,
    /// Call data, or init code.
    pub input: &'a [u8],
}

/// The end of a frame.
#[derive(Debug, Clone, Copy)]
pub struct FrameEnd<'a> {
    /// How the frame ended.
    pub end: End,
    /// The failure, if the frame halted.
    pub failure: Option<&'a Failure>,
    /// Units of gas; the gas of the frame if it halted. At depth 0 without refunds and without the price of stored code.
    pub gas_used: u64,
    /// Return data, revert data or, for an inner creation, the new code.
    pub output: &'a [u8],
    /// Set for an inner creation whose code was not stored. Before RSKIP-453 such a creation succeeds.
    pub refused_deposit: Option<&'a RefusedDeposit>,
}

/// The successful init code of an inner creation whose output was not stored as code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedDeposit {
    /// The reason, with the message of the reference in the frame of the creator.
    pub failure: Failure,
    /// Units of gas that the init code used.
    pub gas_used: u64,
}

/// An exceptional halt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The reason.
    pub reason: HaltReason,
    /// Message of the reference, without the name of the class. Empty in inner frames unless the inspector requests it.
    pub message: String,
    /// The byte of the instruction that halted.
    pub instruction: u8,
}

/// A call or creation that ran no code.
#[derive(Debug, Clone)]
pub struct LeafCall {
    /// Instruction.
    pub kind: CallKind,
    /// The account whose code has executed the instruction.
    pub from: Address,
    /// The called account. Zero for a creation, which received no address.
    pub to: Address,
    /// Wei.
    pub value: U256,
    /// Gas of the call.
    pub gas: u64,
    /// Gas that was not returned.
    pub gas_used: u64,
    /// Call data, or init code.
    pub input: Bytes,
    /// Return data of a precompile.
    pub output: Bytes,
    /// The result.
    pub end: LeafEnd,
}

/// The result of a call or creation that ran no code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeafEnd {
    /// The called account has no code.
    Transferred,
    /// The precompile succeeded.
    PrecompileSucceeded,
    /// The precompile failed, or the gas did not cover its price.
    PrecompileFailed,
    /// The frame was at the depth limit.
    DepthLimit,
    /// The balance did not cover the value.
    InsufficientBalance,
    /// A contract exists at the address.
    AddressCollision,
}

/// An instruction before its execution.
#[derive(Debug, Clone, Copy)]
pub struct Step<'a> {
    /// Byte of the instruction.
    pub instruction: u8,
    /// Depth of the frame, 0 for the first.
    pub depth: usize,
    /// Position in the code.
    pub position: usize,
    /// Gas left before the instruction.
    pub gas: u64,
    /// The account whose storage the instruction uses.
    pub account: Address,
    /// Stack, bottom first.
    pub stack: &'a [U256],
    /// Memory, a multiple of 32 bytes.
    pub memory: &'a [u8],
}

/// An instruction after its execution, and after the frame that it has started.
#[derive(Debug, Clone, Copy)]
pub struct StepEnd<'a> {
    /// Price of the instruction, with gas lent to a call but not to init code. `None` if it halted.
    pub cost: Option<u64>,
    /// Gas left after the instruction.
    pub gas: u64,
    /// Stack, bottom first.
    pub stack: &'a [U256],
    /// Memory, a multiple of 32 bytes.
    pub memory: &'a [u8],
}

/// A receiver of events. The default methods do nothing; an error stops the execution.
pub trait Inspector {
    /// Whether [`Inspector::step_start`] and [`Inspector::step_end`] are called.
    fn wants_steps(&self) -> bool {
        false
    }

    /// Whether failures of inner frames have the message of the reference. It costs a hash of the code per call.
    fn wants_inner_messages(&self) -> bool {
        false
    }

    /// A frame starts.
    fn frame_start(&mut self, _start: &FrameStart<'_>, _state: &mut State) -> Result<(), ExecError> {
        Ok(())
    }

    /// A frame has ended.
    fn frame_end(&mut self, _end: &FrameEnd<'_>) -> Result<(), ExecError> {
        Ok(())
    }

    /// A call or creation ran no code.
    fn leaf_call(&mut self, _call: &LeafCall) -> Result<(), ExecError> {
        Ok(())
    }

    /// The executing account was destroyed and its balance was transferred to the heir.
    fn selfdestruct(&mut self, _account: Address, _heir: Address, _balance: U256) -> Result<(), ExecError> {
        Ok(())
    }

    /// The executing code, or a precompile that it has called, emitted a log.
    fn log(&mut self, _log: &Log) -> Result<(), ExecError> {
        Ok(())
    }

    /// An instruction is about to execute. Only called if [`Inspector::wants_steps`].
    fn step_start(&mut self, _step: &Step<'_>, _state: &mut State) -> Result<(), ExecError> {
        Ok(())
    }

    /// An instruction has executed. Only called if [`Inspector::wants_steps`].
    fn step_end(&mut self, _end: &StepEnd<'_>) -> Result<(), ExecError> {
        Ok(())
    }
}

/// The requested information about an execution, beside its outcome.
#[derive(Default)]
pub struct Inspection<'o> {
    /// Receives the events.
    pub inspector: Option<&'o mut dyn Inspector>,
    /// Collects the accessed accounts and storage slots, up to this approximate size in bytes.
    pub changes_limit: Option<usize>,
}

/// An outcome with the requested information.
#[derive(Debug)]
pub struct Inspected<T> {
    /// The outcome.
    pub outcome: T,
    /// All accounts that were read or written, by address. Empty unless requested.
    pub accounts: Vec<AccountChange>,
}

/// The enclosing transaction as messages of the reference identify it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EnclosingTransaction {
    pub(crate) is_creation: bool,
    pub(crate) hash: B256,
}

#[cfg(test)]
mod tests {
    use rhizome_primitives::{ChainSpec, Rule, hex};

    use super::*;
    use crate::call::{CallOutcome, CallRequest, CallSequence};
    use crate::deadline::Deadline;
    use crate::fixtures::{NoAncestors, contract, env, world};
    use crate::overrides::StateOverrides;

    /// Calls the identity precompile with one byte, calls an account without code, writes a slot, emits a log and destroys
    /// itself.
    const BUSY: [u8; 47] = hex!(
        "60006000600160006000600461fffff150"
        "60006000600060006000609961fffff150"
        "6005600155"
        "60006000a0"
        "6077ff"
    );

    #[derive(Default)]
    struct RecordedEvents {
        lines: Vec<String>,
        wants_steps: bool,
        limit: usize,
    }

    impl RecordedEvents {
        fn record(&mut self, line: String) -> Result<(), ExecError> {
            self.lines.push(line);
            if self.lines.len() == self.limit { Err(ExecError::StoppedByInspector) } else { Ok(()) }
        }
    }

    impl Inspector for RecordedEvents {
        fn wants_steps(&self) -> bool {
            self.wants_steps
        }

        fn frame_start(&mut self, start: &FrameStart<'_>, _state: &mut State) -> Result<(), ExecError> {
            self.record(format!("{:?} at depth {} with {} bytes", start.kind, start.depth, start.input.len()))
        }

        fn frame_end(&mut self, end: &FrameEnd<'_>) -> Result<(), ExecError> {
            let reason = end.failure.map(|failure| failure.message.clone()).unwrap_or_default();
            self.record(format!("{:?} {reason}", end.end))
        }

        fn leaf_call(&mut self, call: &LeafCall) -> Result<(), ExecError> {
            let (used, end) = (call.gas_used, call.end);
            self.record(format!(
                "{:?} {end:?} {} gave {}, gas {used} of {}",
                call.kind, call.input, call.output, call.gas
            ))
        }

        fn selfdestruct(&mut self, _account: Address, heir: Address, balance: U256) -> Result<(), ExecError> {
            self.record(format!("destroyed for {} with {balance}", heir.0[19]))
        }

        fn log(&mut self, log: &Log) -> Result<(), ExecError> {
            self.record(format!("log of {} topics", log.topics.len()))
        }

        fn step_start(&mut self, step: &Step<'_>, _state: &mut State) -> Result<(), ExecError> {
            self.record(instruction_name(step.instruction).unwrap_or("?").to_owned())
        }

        fn step_end(&mut self, end: &StepEnd<'_>) -> Result<(), ExecError> {
            self.record(format!("cost {:?}", end.cost))
        }
    }

    fn inspect(code: &[u8], gas: u64, events: &mut RecordedEvents) -> Result<Inspected<CallOutcome>, ExecError> {
        inspect_under(&ChainSpec::regtest(), code, gas, events)
    }

    fn inspect_under(
        spec: &ChainSpec,
        code: &[u8],
        gas: u64,
        events: &mut RecordedEvents,
    ) -> Result<Inspected<CallOutcome>, ExecError> {
        let to = contract(0x77);
        let request = CallRequest { to: Some(to), gas, ..CallRequest::default() };
        let inspection = Inspection { inspector: Some(events), changes_limit: Some(10_000) };
        let (none, deadline) = (StateOverrides::default(), Deadline::none());
        let call = CallSequence::new(&none, spec, env(5), world(&[(to, code)]), &NoAncestors, &deadline)?;
        call.inspect_last(&request, inspection)
    }

    #[test]
    fn reports_events_in_order() {
        let mut events = RecordedEvents::default();
        let accounts = inspect(&BUSY, 1_000_000, &mut events).unwrap().accounts;
        let expected = [
            "Call at depth 0 with 0 bytes",
            "Call PrecompileSucceeded 0x00 gave 0x00, gas 18 of 65535",
            "Call Transferred 0x gave 0x, gas 0 of 65535",
            "log of 0 topics",
            "destroyed for 119 with 0",
            "Success ",
        ];
        assert_eq!(events.lines, expected);
        let changed = accounts.iter().find(|account| account.address == contract(0x77)).unwrap();
        let slot = SlotChange { slot: U256::ONE, before: U256::ZERO, after: U256::from(5) };
        assert_eq!(changed.slots, [slot]);
        assert_eq!(changed.before.as_ref().unwrap().code.len(), BUSY.len());
    }

    #[test]
    fn an_inspector_can_stop_the_execution() {
        for limit in 1..6 {
            let mut events = RecordedEvents { limit, ..RecordedEvents::default() };
            assert!(matches!(inspect(&BUSY, 1_000_000, &mut events), Err(ExecError::StoppedByInspector)));
            assert_eq!(events.lines.len(), limit);
        }
        let mut events = RecordedEvents { limit: 100, wants_steps: true, ..RecordedEvents::default() };
        assert!(matches!(inspect(&hex!("5b600056"), u64::MAX, &mut events), Err(ExecError::StoppedByInspector)));
    }

    #[test]
    fn the_cost_of_a_step_includes_lent_gas() {
        let mut events = RecordedEvents { wants_steps: true, ..RecordedEvents::default() };
        inspect(&hex!("60006000600060006000609961fffff1"), 1_000_000, &mut events).unwrap();
        let at = events.lines.iter().position(|line| line == "CALL").unwrap();
        // 700, 25,000 for an account that does not exist, and the lent gas.
        assert_eq!(events.lines[at + 2], format!("cost Some({})", 700 + 25_000 + 0xffff));
        // The end of the code is not reported as an instruction.
        assert_eq!(events.lines[at + 3..], ["Success "]);
    }

    #[test]
    fn the_message_of_a_gas_overflow_has_the_price_of_the_call() {
        let spec = ChainSpec::regtest().with_rule_height(Rule::Rskip150, None);
        let mut events = RecordedEvents::default();
        // Lends 2^70 units to an account that does not exist, with a value.
        let code = hex!("600060006000600060016099684000000000000000" "00f1");
        inspect_under(&spec, &code, 90_000, &mut events).unwrap();
        let message = "Got invalid gas value, tried operation: 34700 + -9223372036854773509";
        assert!(events.lines.last().unwrap().ends_with(message), "{:?}", events.lines);
    }

    #[test]
    fn halts_have_the_messages_of_the_reference() {
        let zero = format!("0x{:064}", 0);
        let last_line = |code: &[u8], gas| {
            let mut events = RecordedEvents::default();
            inspect(code, gas, &mut events).unwrap();
            events.lines.pop().unwrap()
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
            // The slot is present, because the frame has written it.
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
            let line = last_line(code, gas);
            assert!(line.ends_with(&message), "{line}");
        }
    }
}
