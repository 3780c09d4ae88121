//! Records every instruction in the shape of OpenEthereum's `vmTrace`: `{code, ops}` with
//! `{cost, ex: {mem, push, store, used}, idx, op, pc, sub}` for each step and the same nested in `sub` for calls.

use super::limit::Limit;
use crate::json::JsonWriter;
use rhizome_evm::tracing::{FrameEnd, FrameStart, Inspector, Step, StepEnd, instruction_name};
use rhizome_evm::{ExecError, State};
use rhizome_primitives::U256;

/// Bytes of a step in JSON without its pushes and writes.
const STEP_SIZE: usize = 160;
/// Bytes of a pushed word in JSON.
const WORD_SIZE: usize = 69;

const SSTORE: u8 = 0x55;

/// The step of a frame that has begun and not ended.
#[derive(Debug, Default)]
struct OpenStep {
    instruction: u8,
    position: usize,
    stored: Option<(U256, U256)>,
    written: Option<(usize, usize)>,
    /// Index path of the step.
    index: String,
    /// The trace of the frame that it started.
    sub: Option<Vec<u8>>,
}

#[derive(Debug)]
struct FrameTrace {
    json: JsonWriter,
    /// Index path of the frame, which begins those of its steps.
    prefix: String,
    count: usize,
    step: OpenStep,
}

/// The recorder.
#[derive(Debug)]
pub struct VmTrace {
    limit: Limit,
    frames: Vec<FrameTrace>,
    /// The finished first frame.
    text: Option<Vec<u8>>,
    position: usize,
}

impl VmTrace {
    /// Creates the recorder of the transaction at a position in the traced block.
    pub fn new(limit: Limit, position: usize) -> Self {
        Self { limit, frames: Vec::new(), text: None, position }
    }

    /// The object; one without steps if no code ran.
    pub fn finish(self) -> Vec<u8> {
        self.text.unwrap_or_else(|| br#"{"code":"0x","ops":[]}"#.to_vec())
    }
}

impl Inspector for VmTrace {
    fn wants_steps(&self) -> bool {
        true
    }

    fn frame_start(&mut self, start: &FrameStart<'_>, state: &mut State) -> Result<(), ExecError> {
        let code = match start.kind.is_creation() {
            true => start.input.to_vec(),
            false => state.code(start.to)?.unwrap_or_default().to_vec(),
        };
        self.limit.take(2 * code.len() + STEP_SIZE)?;
        let prefix = match self.frames.last() {
            Some(parent) => format!("{}-", parent.step.index),
            None => format!("{}-", self.position),
        };
        let mut json = JsonWriter::with_capacity(2 * code.len() + 1024);
        json.begin_object();
        json.key("code").data(&code);
        json.key("ops").begin_array();
        self.frames.push(FrameTrace { json, prefix, count: 0, step: OpenStep::default() });
        Ok(())
    }

    fn frame_end(&mut self, _end: &FrameEnd<'_>) -> Result<(), ExecError> {
        let Some(mut frame) = self.frames.pop() else { return Ok(()) };
        frame.json.end_array();
        frame.json.end_object();
        let text = frame.json.finish();
        match self.frames.last_mut() {
            Some(parent) => parent.step.sub = Some(text),
            None => self.text = Some(text),
        }
        Ok(())
    }

    fn step_start(&mut self, step: &Step<'_>, _state: &mut State) -> Result<(), ExecError> {
        let Some(frame) = self.frames.last_mut() else { return Ok(()) };
        let operand = |index: usize| step.stack.iter().rev().nth(index).copied().unwrap_or_default();
        frame.step = OpenStep {
            instruction: step.instruction,
            position: step.position,
            stored: (step.instruction == SSTORE).then(|| (operand(0), operand(1))),
            written: written_range(step.instruction, operand),
            index: format!("{}{}", frame.prefix, frame.count),
            sub: None,
        };
        frame.count += 1;
        Ok(())
    }

    fn step_end(&mut self, end: &StepEnd<'_>) -> Result<(), ExecError> {
        let Some(frame) = self.frames.last_mut() else { return Ok(()) };
        let step = std::mem::take(&mut frame.step);
        let pushed = pushed(step.instruction).min(end.stack.len());
        let written = step.written.and_then(|(offset, size)| {
            let bytes = end.memory.get(offset..offset.checked_add(size)?)?;
            (size > 0).then_some((offset, bytes))
        });
        let size = written.map_or(0, |(_, bytes)| 2 * bytes.len());
        self.limit.take(STEP_SIZE + step.index.len() + WORD_SIZE * pushed + size)?;
        let json = &mut frame.json;
        json.begin_object();
        json.key("cost").number(end.cost.unwrap_or_default() as i64);
        json.key("ex");
        match end.cost {
            None => json.null(),
            Some(_) => {
                json.begin_object();
                json.key("mem");
                match written {
                    None => json.null(),
                    Some((offset, bytes)) => {
                        json.begin_object();
                        json.key("data").data(bytes);
                        json.key("off").number(offset as i64);
                        json.end_object();
                    }
                }
                json.key("push").begin_array();
                end.stack.iter().skip(end.stack.len() - pushed).for_each(|word| json.quantity_wide(word));
                json.end_array();
                json.key("store");
                match step.stored {
                    None => json.null(),
                    Some((slot, word)) => {
                        json.begin_object();
                        json.key("key").quantity_wide(&slot);
                        json.key("val").quantity_wide(&word);
                        json.end_object();
                    }
                }
                json.key("used").number(end.gas as i64);
                json.end_object();
            }
        }
        json.key("idx").text(&step.index);
        match instruction_name(step.instruction) {
            Some(name) => json.key("op").text(name),
            None => json.key("op").null(),
        }
        json.key("pc").number(step.position as i64);
        match step.sub {
            Some(sub) => json.key("sub").raw(&sub),
            None => json.key("sub").null(),
        }
        json.end_object();
        Ok(())
    }
}

/// Returns the number of words from the top of the stack that are shown: for DUP and SWAP all words they access.
fn pushed(instruction: u8) -> usize {
    match instruction {
        0x01..=0x0b | 0x10..=0x1d | 0x20 | 0x30..=0x36 | 0x38 | 0x3a | 0x3b | 0x3d | 0x3f..=0x48 => 1,
        0x51 | 0x54 | 0x58..=0x5a | 0x5c | 0x5f..=0x7f | 0xaa | 0xf0..=0xf2 | 0xf4 | 0xf5 | 0xfa => 1,
        0x80..=0x8f => usize::from(instruction) - 0x80 + 2,
        0x90..=0x9f => usize::from(instruction) - 0x90 + 2,
        _ => 0,
    }
}

/// The range of memory that an instruction writes to.
fn written_range(instruction: u8, operand: impl Fn(usize) -> U256) -> Option<(usize, usize)> {
    let range = |offset: usize, size: usize| (operand(offset).saturating_to(), operand(size).saturating_to());
    Some(match instruction {
        0x52 => (operand(0).saturating_to(), 32),
        0x53 => (operand(0).saturating_to(), 1),
        0x37 | 0x39 | 0x3e | 0x5e => range(0, 2),
        0x3c => range(1, 3),
        0xf1 | 0xf2 => range(5, 6),
        0xf4 | 0xfa => range(4, 5),
        _ => return None,
    })
}
