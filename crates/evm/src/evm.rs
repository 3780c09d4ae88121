//! The loop over frames.

use revm::interpreter::{InstructionResult, Interpreter, SharedMemory};

use crate::error::ExecError;
use crate::frame::{FinishedFrame, Frame, TopFrame};
use crate::frame_request::FrameRequest;
use crate::halt::HaltReason;
use crate::instructions::{GAS, Instructions, RskInterpreter, UNBOUNDED_MEMORY_GAS, instructions};
use crate::machine::Machine;
use crate::tracing::Tracer;

/// Instructions between two looks at the deadline.
const STEPS_PER_LOOK: u32 = 512;

/// The machine with its frames and its instructions, for all transactions of a block or for one local call.
pub(crate) struct Evm<'e> {
    pub(crate) machine: Machine<'e>,
    instructions: Box<Instructions<'e>>,
    /// Below the memory of every first frame.
    memory: SharedMemory,
    /// Frames that wait for their next use.
    #[expect(clippy::vec_box, reason = "frames are large and moved at every call")]
    idle: Vec<Box<Frame>>,
}

impl<'e> Evm<'e> {
    pub(crate) fn new(machine: Machine<'e>) -> Evm<'e> {
        let instructions = Box::new(instructions(&machine.rules, false));
        Evm { machine, instructions, memory: SharedMemory::new(), idle: Vec::new() }
    }

    /// Runs code and everything that it calls.
    pub(crate) fn run(&mut self, top: TopFrame, tracer: &mut impl Tracer) -> Result<FinishedFrame, ExecError> {
        let wide;
        let table = if top.gas < UNBOUNDED_MEMORY_GAS {
            &*self.instructions
        } else {
            wide = Box::new(instructions(&self.machine.rules, true));
            &*wide
        };
        self.memory.free_child_context();
        let machine = &mut self.machine;
        let mut waiting: Vec<Box<Frame>> = Vec::new();
        let mut steps_left = STEPS_PER_LOOK;
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
                        // Only our instructions suspend, and they leave what they want.
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

/// Runs instructions until the frame ends or asks for another one.
fn interpret<'e, T: Tracer>(
    interpreter: &mut Interpreter<RskInterpreter>,
    machine: &mut Machine<'e>,
    table: &Instructions<'e>,
    tracer: &mut T,
    steps_left: &mut u32,
) -> InstructionResult {
    let mut left = *steps_left;
    let result = loop {
        if left == 0 {
            left = STEPS_PER_LOOK;
            if machine.deadline.has_passed() {
                break machine.stop(ExecError::DeadlineExceeded);
            }
        }
        left -= 1;
        if T::SEES_STEPS
            && let Err(error) = tracer.step_start(interpreter, machine)
        {
            break machine.stop(error);
        }
        let outcome = interpreter.step(table, &GAS, machine);
        if T::SEES_STEPS
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
