//! LOG0 to LOG4: the check for a static frame precedes the charge.

use revm::interpreter::{Host, InstructionResult};
use rhizome_primitives::{B256, Bytes, Log};

use super::context::{InstructionOutcome, OpcodeContext, charge};
use super::memory::{expand, expansion_cost, range_end};

const BASE_COST: u64 = 375;
const TOPIC_COST: u64 = 375;
const BYTE_COST: u64 = 8;

pub(super) fn log<const TOPICS: usize>(context: OpcodeContext<'_, '_>) -> InstructionOutcome {
    let OpcodeContext { interpreter, host: machine } = context;
    if interpreter.runtime_flag.is_static {
        return Err(InstructionResult::StateChangeDuringStaticCall);
    }
    if interpreter.stack.len() < 2 + TOPICS {
        return Err(InstructionResult::StackUnderflow);
    }
    let [offset, size] = interpreter.stack.popn().ok_or(InstructionResult::StackUnderflow)?;
    let topics: [_; TOPICS] = interpreter.stack.popn().ok_or(InstructionResult::StackUnderflow)?;
    let end = range_end(offset, size)?;
    let size: usize = size.saturating_to();
    let params = machine.gas_params();
    let cost = BASE_COST + TOPIC_COST * TOPICS as u64 + BYTE_COST * size as u64;
    charge(interpreter, cost + expansion_cost(interpreter, params, end))?;
    expand(interpreter, params, end);
    let data = match size {
        0 => Bytes::new(),
        _ => Bytes::copy_from_slice(&interpreter.memory.slice_range(end - size..end)),
    };
    let topics = topics.into_iter().map(B256::from).collect();
    machine.logs.push(Log { address: interpreter.input.target_address, topics, data });
    Ok(())
}
