//! The place where tracers look on.

use revm::interpreter::{InstructionResult, Interpreter};

use crate::error::ExecError;
use crate::frame::{FinishedFrame, Frame};
use crate::instructions::RskInterpreter;
use crate::machine::Machine;

/// What watches an execution. The plain path is that of [`NoOpTracer`], from which the compiler removes every call. An error
/// ends the execution.
pub(crate) trait Tracer {
    /// Whether the step hooks do anything.
    const SEES_STEPS: bool;

    /// A frame is about to execute its first instruction.
    fn frame_start(&mut self, _frame: &Frame, _machine: &mut Machine<'_>) -> Result<(), ExecError> {
        Ok(())
    }

    /// The instruction at the program counter is about to execute.
    fn step_start(
        &mut self,
        _interpreter: &Interpreter<RskInterpreter>,
        _machine: &mut Machine<'_>,
    ) -> Result<(), ExecError> {
        Ok(())
    }

    /// The instruction has executed. Frames that it asked for have not yet begun.
    fn step_end(
        &mut self,
        _interpreter: &Interpreter<RskInterpreter>,
        _machine: &mut Machine<'_>,
        _result: Result<(), InstructionResult>,
    ) -> Result<(), ExecError> {
        Ok(())
    }

    /// A frame has ended and its changes were kept or taken back.
    fn frame_end(
        &mut self,
        _frame: &Frame,
        _finished: &FinishedFrame,
        _machine: &mut Machine<'_>,
    ) -> Result<(), ExecError> {
        Ok(())
    }

    /// A frame goes on after the one that it asked for.
    fn frame_resume(&mut self, _frame: &Frame, _machine: &mut Machine<'_>) -> Result<(), ExecError> {
        Ok(())
    }
}

/// Sees nothing.
pub(crate) struct NoOpTracer;

impl Tracer for NoOpTracer {
    const SEES_STEPS: bool = false;
}
