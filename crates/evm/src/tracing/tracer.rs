//! Hooks of the interpreter loop.

use revm::interpreter::{InstructionResult, Interpreter};

use crate::error::ExecError;
use crate::frame::{FinishedFrame, Frame};
use crate::instructions::RskInterpreter;
use crate::machine::Machine;

/// Hooks of the interpreter loop, resolved at compile time. An error stops the execution.
pub(crate) trait InterpreterTracer {
    /// Whether the step hooks are called.
    const HAS_STEPS: bool;

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

    /// The instruction has executed. A frame that it has requested has not started yet.
    fn step_end(
        &mut self,
        _interpreter: &Interpreter<RskInterpreter>,
        _machine: &mut Machine<'_>,
        _result: Result<(), InstructionResult>,
    ) -> Result<(), ExecError> {
        Ok(())
    }

    /// A frame has ended. Its changes are final in the parent frame, or reverted.
    fn frame_end(
        &mut self,
        _frame: &Frame,
        _finished: &FinishedFrame,
        _machine: &mut Machine<'_>,
    ) -> Result<(), ExecError> {
        Ok(())
    }

    /// A frame resumes after a child frame.
    fn frame_resume(&mut self, _frame: &Frame, _machine: &mut Machine<'_>) -> Result<(), ExecError> {
        Ok(())
    }
}

/// A tracer without hooks, from which the compiler removes all calls.
pub(crate) struct NoOpTracer;

impl InterpreterTracer for NoOpTracer {
    const HAS_STEPS: bool = false;
}
