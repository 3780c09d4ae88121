//! Looking on at an execution: calls and creations, instructions, logs, and what changed in the state.
//!
//! An [`Observer`] is told what happens while it happens, in order. It can end the execution by an error, which is how
//! traces stay bounded. Nothing here knows how a trace is written.

mod changes;
mod failure;
mod inner_hash;
mod names;
mod prices;
mod watching;

use rhizome_primitives::{Address, B256, Bytes, Log, U256};

use crate::error::ExecError;
use crate::frame::End;
use crate::halt::HaltReason;
use crate::state::State;

pub use changes::{AccountChange, AccountView, CellChange};
pub(crate) use changes::{Touched, complete, view_after};
pub use names::instruction_name;
pub(crate) use watching::Watching;

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
pub trait Observer {
    /// Whether it wants to know of every instruction.
    fn wants_steps(&self) -> bool {
        false
    }

    /// Whether it wants the reference's messages for failures of inner frames too. They cost a hash of the code a call.
    fn wants_inner_messages(&self) -> bool {
        false
    }

    /// Code is about to run.
    fn frame_begins(&mut self, _start: &FrameStart<'_>, _state: &mut State) -> Result<(), ExecError> {
        Ok(())
    }

    /// Code has run.
    fn frame_ends(&mut self, _end: &FrameEnd<'_>) -> Result<(), ExecError> {
        Ok(())
    }

    /// A call ran no code.
    fn called(&mut self, _call: &LeafCall) -> Result<(), ExecError> {
        Ok(())
    }

    /// The running account was destroyed, and its balance went to the heir.
    fn self_destructed(&mut self, _account: Address, _heir: Address, _balance: U256) -> Result<(), ExecError> {
        Ok(())
    }

    /// The running code, or a built-in contract that it called, emitted a log.
    fn logged(&mut self, _log: &Log) -> Result<(), ExecError> {
        Ok(())
    }

    /// An instruction is about to execute. Asked of those who want steps only.
    fn step_begins(&mut self, _step: &Step<'_>, _state: &mut State) -> Result<(), ExecError> {
        Ok(())
    }

    /// An instruction has executed. Asked of those who want steps only.
    fn step_ends(&mut self, _end: &StepEnd<'_>) -> Result<(), ExecError> {
        Ok(())
    }
}

/// What is wanted of an execution beside its outcome.
#[derive(Default)]
pub struct Inspection<'o> {
    /// Looks on.
    pub observer: Option<&'o mut dyn Observer>,
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
pub(crate) struct Enclosing {
    pub(crate) is_creation: bool,
    pub(crate) hash: B256,
}
