//! The loop over frames.

use revm::interpreter::{InstructionResult, Interpreter, SharedMemory};

use crate::error::ExecError;
use crate::frame::{FinishedFrame, Frame, TopFrame};
use crate::frame_request::FrameRequest;
use crate::halt::HaltReason;
use crate::instructions::{GAS, Instructions, RskInterpreter, UNBOUNDED_MEMORY_GAS, instructions};
use crate::machine::Machine;
use crate::tracing::InterpreterTracer;

/// Instructions between two checks of the deadline.
const STEPS_PER_CHECK: u32 = 512;

/// The machine with frames and instruction table, for all transactions of a block or for one local call.
pub(crate) struct Evm<'e> {
    pub(crate) machine: Machine<'e>,
    instructions: Box<Instructions<'e>>,
    /// Parent context of the memory of each first frame.
    memory: SharedMemory,
    /// Unused frames, kept to save their allocation.
    #[expect(clippy::vec_box, reason = "frames are large and move at each call")]
    idle: Vec<Box<Frame>>,
}

impl<'e> Evm<'e> {
    pub(crate) fn new(machine: Machine<'e>) -> Evm<'e> {
        let instructions = Box::new(instructions(&machine.rules, false));
        Evm { machine, instructions, memory: SharedMemory::new(), idle: Vec::new() }
    }

    /// Runs a first frame and all frames that it starts.
    pub(crate) fn run(
        &mut self,
        top: TopFrame,
        tracer: &mut impl InterpreterTracer,
    ) -> Result<FinishedFrame, ExecError> {
        let limited;
        let table = if top.gas < UNBOUNDED_MEMORY_GAS {
            &*self.instructions
        } else {
            limited = Box::new(instructions(&self.machine.rules, true));
            &*limited
        };
        self.memory.free_child_context();
        let machine = &mut self.machine;
        let mut waiting: Vec<Box<Frame>> = Vec::new();
        let mut steps_left = STEPS_PER_CHECK;
        let mut frame = self.idle.pop().unwrap_or_else(|| Box::new(Frame::idle()));
        frame.begin_top(top, self.memory.new_child_context(), machine);
        tracer.frame_start(&frame, machine)?;
        loop {
            let result = if frame.can_start() {
                Ok(interpret(&mut frame.interpreter, machine, table, tracer, &mut steps_left))
            } else {
                Err(HaltReason::CodeHeader)
            };
            match result {
                Ok(InstructionResult::Suspend) => {
                    let mut child = self.idle.pop().unwrap_or_else(|| Box::new(Frame::idle()));
                    match machine.frame_request.take() {
                        Some(FrameRequest::Call(call)) => child.begin_call(call, &mut frame, machine),
                        Some(FrameRequest::Create(create)) => child.begin_create(create, &mut frame, machine),
                        // Only instructions of this crate suspend, and they set the request.
                        None => return Err(machine.take_fatal()),
                    }
                    tracer.frame_start(&child, machine)?;
                    waiting.push(std::mem::replace(&mut frame, child));
                }
                Ok(InstructionResult::FatalExternalError) => return Err(machine.take_fatal()),
                ended => {
                    let finished = frame.finish(ended, machine)?;
                    tracer.frame_end(&frame, &finished, machine)?;
                    let Some(parent) = waiting.pop() else {
                        self.idle.push(frame);
                        return Ok(finished);
                    };
                    let child = std::mem::replace(&mut frame, parent);
                    frame.resume(&child.kind, finished);
                    tracer.frame_resume(&frame, machine)?;
                    self.idle.push(child);
                }
            }
        }
    }
}

/// Runs instructions until the frame ends or requests another frame.
fn interpret<'e, T: InterpreterTracer>(
    interpreter: &mut Interpreter<RskInterpreter>,
    machine: &mut Machine<'e>,
    table: &Instructions<'e>,
    tracer: &mut T,
    steps_left: &mut u32,
) -> InstructionResult {
    let mut left = *steps_left;
    let result = loop {
        if left == 0 {
            left = STEPS_PER_CHECK;
            if machine.deadline.has_passed() {
                break machine.stop(ExecError::DeadlineExceeded);
            }
        }
        left -= 1;
        if T::HAS_STEPS
            && let Err(error) = tracer.step_start(interpreter, machine)
        {
            break machine.stop(error);
        }
        let outcome = interpreter.step(table, &GAS, machine);
        if T::HAS_STEPS
            && outcome != Err(InstructionResult::FatalExternalError)
            && let Err(error) = tracer.step_end(interpreter, machine, outcome)
        {
            break machine.stop(error);
        }
        if let Err(result) = outcome {
            break result;
        }
    };
    *steps_left = left;
    result
}
