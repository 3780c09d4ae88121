//! The place where tracers look on.

use revm::interpreter::{InstructionResult, Interpreter};

use crate::frame::{Finished, Frame};
use crate::instructions::Wire;
use crate::machine::Machine;

/// What watches an execution. The plain path is that of [`Blind`], from which the compiler removes every call.
pub(crate) trait Tracer {
    /// Whether the step hooks do anything.
    const SEES_STEPS: bool;

    /// A frame is about to execute its first instruction.
    fn frame_begins(&mut self, _frame: &Frame, _machine: &Machine<'_>) {}

    /// The instruction at the program counter is about to execute.
    fn step_begins(&mut self, _interpreter: &Interpreter<Wire>, _machine: &Machine<'_>) {}

    /// The instruction has executed. Frames that it asked for have not yet begun.
    fn step_ends(
        &mut self,
        _interpreter: &Interpreter<Wire>,
        _machine: &Machine<'_>,
        _result: Result<(), InstructionResult>,
    ) {
    }

    /// A frame has ended and its changes were kept or taken back.
    fn frame_ends(&mut self, _frame: &Frame, _finished: &Finished, _machine: &Machine<'_>) {}
}

/// Sees nothing.
pub(crate) struct Blind;

impl Tracer for Blind {
    const SEES_STEPS: bool = false;
}
