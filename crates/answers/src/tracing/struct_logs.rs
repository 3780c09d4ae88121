//! Records every instruction in the shape of the reference (`rskTracer`), as JSON text while the code runs.
//!
//! Each frame shows its storage at every step, as a map that grows with its reads and writes. Steps share the map: a slot
//! that turns out to be absent is also removed from the preceding steps of the same map. So the maps are inserted into the
//! text at the end.

use super::call_tracer::reference_error;
use super::limit::Limit;
use super::options::TraceOptions;
use super::traced::Traced;
use crate::error::RpcError;
use crate::json::JsonWriter;
use crate::options::TraceShape;
use rhizome_evm::tracing::{Failure, FrameEnd, FrameStart, Inspector, Step, StepEnd, instruction_name};
use rhizome_evm::{Deadline, End, ExecError, State};
use rhizome_primitives::{Address, U256};
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;
use std::rc::Rc;

/// Maximum number of slots: the storage of larger contracts is not listed.
const MAX_LISTED_SLOTS: usize = 10_000;
/// Number of slots up to which the storage of a contract is counted. Counting further costs more than most traces.
const MAX_COUNTED_SLOTS: usize = 20_000;
/// Bytes of a slot in JSON.
const SLOT_SIZE: usize = 136;
/// Bytes of a step in JSON beside stack, memory and storage.
const STEP_SIZE: usize = 120;
/// Number of slots between two checks of the deadline.
const SLOTS_PER_CHECK: usize = 1024;

const SLOAD: u8 = 0x54;
const SSTORE: u8 = 0x55;

type Cells = BTreeMap<U256, U256>;
type Shared = Rc<RefCell<Cells>>;

/// A frame whose steps are shown.
struct FrameLog {
    account: Address,
    cells: Shared,
    /// The member `storageSize` of the result; `None` if the slots were not counted to the end.
    storage_size: Option<usize>,
    /// The slot used by the preceding instruction.
    used: Option<U256>,
    /// Init code inside a transaction, and everything that it calls, is not shown.
    is_hidden: bool,
}

/// The result of the first frame.
struct Finished {
    account: Address,
    initial: Cells,
    last: Shared,
    storage_size: Option<usize>,
    output: Vec<u8>,
    failure: Option<Failure>,
    gas_used: u64,
    gas: u64,
}

/// The recorder.
pub struct StructLogs {
    options: TraceOptions,
    /// Counts all slots, however many they are.
    counts_all: bool,
    lists_storage: bool,
    deadline: Deadline,
    limit: Limit,
    steps: JsonWriter,
    /// Offsets in `steps` at which the text of a map belongs.
    maps: Vec<(usize, Shared)>,
    frames: Vec<FrameLog>,
    /// Contracts with too many slots to be listed, until the transaction has executed that number of SSTORE instructions.
    large: HashMap<Address, usize>,
    /// SSTORE instructions so far.
    stores: usize,
    /// Cost of the last step, which waits for its end.
    last_cost: Option<u64>,
    /// The first frame ended at an SLOAD or SSTORE without a slot on the stack.
    has_top_ended_early: bool,
    first: Option<Finished>,
}

impl StructLogs {
    /// Nothing recorded. In the shape of the reference, `storageSize` is exact for contracts of any size.
    pub fn new(options: TraceOptions, shape: TraceShape, limit: Limit, deadline: Deadline) -> Self {
        let mut steps = JsonWriter::with_capacity(16 << 10);
        steps.begin_array();
        Self {
            options,
            counts_all: shape == TraceShape::Reference,
            lists_storage: true,
            deadline,
            limit,
            steps,
            maps: Vec::new(),
            frames: Vec::new(),
            large: HashMap::new(),
            stores: 0,
            last_cost: None,
            has_top_ended_early: false,
            first: None,
        }
    }

    /// Shows storage slots from their first use on, and no `storageSize`: those of a fork are in part elsewhere.
    #[must_use]
    pub fn without_lists(self) -> Self {
        Self { lists_storage: false, ..self }
    }

    /// Writes the object of the transaction.
    pub fn write(mut self, json: &mut JsonWriter, traced: &Traced) -> Result<(), RpcError> {
        let Some(first) = self.first.take() else {
            write_plain(json, traced);
            return Ok(());
        };
        let limit = self.limit;
        self.end_step();
        self.steps.end_array();
        let error = match (traced.end, &first.failure) {
            _ if self.has_top_ended_early => "class java.util.EmptyStackException: null".to_owned(),
            (End::Halt(_), Some(failure)) => reference_error(failure, true),
            (End::Halt(reason), None) => {
                let code = first.output.len();
                reference_error(&Failure::of_code(reason, code, first.gas, first.gas_used, traced.hash), true)
            }
            _ => String::new(),
        };
        json.begin_object();
        json.key("contractAddress").bare_hex(first.account.as_slice());
        json.key("initStorage");
        write_cells(json, &first.initial);
        json.key("structLogs");
        self.write_steps(json);
        // Also where the code ran well and could not be stored.
        let output: &[u8] = if matches!(traced.end, End::Halt(_)) { &[] } else { &first.output };
        json.key("result").bare_hex(output);
        json.key("error").text(&error);
        json.key("reverted").boolean(traced.end == End::Revert);
        if let Some(size) = first.storage_size {
            json.key("storageSize").number(size as i64);
        }
        json.key("currentStorage");
        write_cells(json, &first.last.borrow());
        json.end_object();
        limit.check(json.len())
    }

    /// The steps with the members of their maps.
    fn write_steps(self, json: &mut JsonWriter) {
        let text = self.steps.finish();
        let mut at = 0;
        for (offset, cells) in self.maps {
            json.append(text.get(at..offset).unwrap_or_default());
            write_members(json, &cells.borrow());
            at = offset;
        }
        json.append(text.get(at..).unwrap_or_default());
    }

    fn end_step(&mut self) {
        if let Some(cost) = self.last_cost.take() {
            self.steps.key("gasCost").number(cost as i64);
            self.steps.end_object();
        }
    }

    /// Returns the storage of an account before its frame: the slots, unless there are too many, and their number, unless there
    /// are more than `most`.
    fn storage(
        &mut self,
        account: Address,
        most: usize,
        state: &mut State,
    ) -> Result<(Cells, Option<usize>), ExecError> {
        let mut cells = Cells::new();
        if !state.is_contract(account)? {
            return Ok((cells, Some(0)));
        }
        if !self.lists_storage {
            return Ok((cells, None));
        }
        if most <= MAX_COUNTED_SLOTS && self.large.get(&account).is_some_and(|stores| self.stores < *stores) {
            return Ok((cells, None));
        }
        let (mut slots, mut count, mut is_late) = (Vec::new(), 0, false);
        state.visit_slots(account, &mut |slot| {
            count += 1;
            if count <= MAX_LISTED_SLOTS {
                slots.push(slot);
            }
            is_late = count % SLOTS_PER_CHECK == 0 && self.deadline.has_passed();
            if is_late || count > most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        if is_late {
            return Err(ExecError::DeadlineExceeded);
        }
        match count.checked_sub(MAX_LISTED_SLOTS).filter(|surplus| *surplus > 0) {
            Some(surplus) => {
                // One instruction removes at most one slot.
                self.large.insert(account, self.stores + surplus);
            }
            None => {
                for slot in slots {
                    if let Some(word) = state.storage_word(account, &slot)? {
                        cells.insert(slot, word);
                    }
                }
            }
        }
        Ok((cells, Some(count).filter(|count| *count <= most)))
    }
}

impl FrameLog {
    /// Adds the slot used by the preceding instruction.
    fn refresh(&mut self, state: &mut State) -> Result<(), ExecError> {
        let Some(slot) = self.used.take() else { return Ok(()) };
        match state.storage_word(self.account, &slot)? {
            Some(word) => {
                // Steps that show the map keep it as it is.
                if Rc::strong_count(&self.cells) > 1 {
                    let copy = self.cells.borrow().clone();
                    self.cells = Rc::new(RefCell::new(copy));
                }
                self.cells.borrow_mut().insert(slot, word);
            }
            None => {
                self.cells.borrow_mut().remove(&slot);
            }
        }
        self.storage_size = Some(self.cells.borrow().len());
        Ok(())
    }
}

impl Inspector for StructLogs {
    fn wants_steps(&self) -> bool {
        true
    }

    fn frame_start(&mut self, start: &FrameStart<'_>, state: &mut State) -> Result<(), ExecError> {
        let is_inner = start.depth > 0;
        let is_creation = start.kind.is_creation();
        let is_hidden = self.frames.last().is_some_and(|frame| frame.is_hidden) || is_inner && is_creation;
        // The storage of an inner frame is shown in its steps only.
        let (cells, storage_size) = match (is_inner, is_hidden || self.options.hides_storage) {
            (true, true) => (Cells::new(), None),
            (true, false) => self.storage(start.account, MAX_COUNTED_SLOTS, state)?,
            (false, _) => {
                let most = if self.counts_all { usize::MAX } else { MAX_COUNTED_SLOTS };
                self.storage(start.account, most, state)?
            }
        };
        self.limit.take(SLOT_SIZE * cells.len())?;
        if !is_inner {
            self.first = Some(Finished {
                account: start.account,
                initial: cells.clone(),
                last: Shared::default(),
                storage_size,
                output: Vec::new(),
                failure: None,
                gas_used: 0,
                gas: start.gas,
            });
        }
        let cells = Rc::new(RefCell::new(cells));
        self.frames.push(FrameLog { account: start.account, cells, storage_size, used: None, is_hidden });
        Ok(())
    }

    fn frame_end(&mut self, end: &FrameEnd<'_>) -> Result<(), ExecError> {
        let Some(frame) = self.frames.pop() else { return Ok(()) };
        if let (true, Some(first)) = (self.frames.is_empty(), &mut self.first) {
            self.limit.take(2 * end.output.len() + SLOT_SIZE * frame.cells.borrow().len())?;
            first.last = frame.cells;
            first.storage_size = frame.storage_size;
            first.output = end.output.to_vec();
            first.failure = end.failure.cloned();
            first.gas_used = end.gas_used;
        }
        Ok(())
    }

    fn step_start(&mut self, step: &Step<'_>, state: &mut State) -> Result<(), ExecError> {
        self.stores += usize::from(step.instruction == SSTORE);
        let Some(frame) = self.frames.last_mut().filter(|frame| !frame.is_hidden) else { return Ok(()) };
        frame.refresh(state)?;
        if matches!(step.instruction, SLOAD | SSTORE) {
            // The reference takes the slot from the stack before it records the step, and fails there.
            let Some(slot) = step.stack.last() else {
                self.has_top_ended_early = self.frames.len() == 1;
                return Ok(());
            };
            frame.used = Some(*slot);
        }
        let cells = Rc::clone(&frame.cells);
        let count = cells.borrow().len();
        let TraceOptions { hides_memory, hides_stack, hides_storage, .. } = self.options;
        let shown = [(hides_stack, 67 * step.stack.len()), (hides_memory, step.memory.len() / 32 * 67)];
        let storage = if hides_storage { 0 } else { SLOT_SIZE * count };
        let columns: usize = shown.iter().filter(|(is_hidden, _)| !is_hidden).map(|(_, size)| size).sum();
        self.limit.take(STEP_SIZE + columns + storage)?;

        self.end_step();
        self.last_cost = Some(0);
        let json = &mut self.steps;
        json.begin_object();
        match instruction_name(step.instruction) {
            Some(name) => json.key("op").text(name),
            None => json.key("op").null(),
        }
        json.key("depth").number(step.depth as i64);
        json.key("pc").number(step.position as i64);
        json.key("gas").number(step.gas as i64);
        if !hides_memory {
            json.key("memory").begin_array();
            step.memory.chunks(32).for_each(|word| json.bare_hex(word));
            json.end_array();
        }
        if !hides_stack {
            json.key("stack").begin_array();
            step.stack.iter().for_each(|word| json.bare_word(word));
            json.end_array();
        }
        if !hides_storage {
            json.key("storage").begin_object();
            if count > 0 {
                self.maps.push((json.len(), cells));
            }
            json.end_object();
        }
        Ok(())
    }

    fn step_end(&mut self, end: &StepEnd<'_>) -> Result<(), ExecError> {
        let is_hidden = self.frames.last().is_none_or(|frame| frame.is_hidden);
        if let (false, Some(last), Some(cost)) = (is_hidden, &mut self.last_cost, end.cost) {
            *last = cost;
        }
        Ok(())
    }
}

fn write_cells(json: &mut JsonWriter, cells: &Cells) {
    json.begin_object();
    write_members(json, cells);
    json.end_object();
}

fn write_members(json: &mut JsonWriter, cells: &Cells) {
    for (slot, word) in cells {
        json.bare_word_key(slot).bare_word(word);
    }
}

/// The object of a transaction that ran no code.
fn write_plain(json: &mut JsonWriter, traced: &Traced) {
    json.begin_object();
    json.key("programInvoke").null();
    json.key("transferInvoke");
    write_transfer(json, traced.to.unwrap_or_default(), traced.sender, &traced.value);
    // The reference has empty data in a REMASC transaction that it builds and null in a decoded one.
    match traced.input.is_empty() && !(traced.is_remasc && traced.is_pending) {
        true => json.key("msgData").null(),
        false => json.key("msgData").base64(&traced.input),
    }
    json.end_object();
    json.key("subtraces").begin_array();
    for (receiver, amount) in traced.payments() {
        write_payment(json, traced.to.unwrap_or_default(), receiver, &amount);
    }
    json.end_array();
    json.key("result").null();
    json.key("error").null();
    json.key("reverted").boolean(false);
    json.end_object();
}

/// Opens an object.
fn write_transfer(json: &mut JsonWriter, owner: Address, caller: Address, value: &U256) {
    json.begin_object();
    json.key("ownerAddress").bare_hex(owner.into_word().as_slice());
    json.key("callerAddress").bare_hex(caller.into_word().as_slice());
    json.key("gas").number(0);
    json.key("callValue").bare_word(value);
}

fn write_payment(json: &mut JsonWriter, payer: Address, receiver: Address, amount: &U256) {
    json.begin_object();
    json.key("traceType").text("CALL");
    json.key("callType").text("CALL");
    json.key("creationData").null();
    json.key("creationMethod").null();
    json.key("invokeData");
    write_transfer(json, receiver, payer, amount);
    json.key("msgData").text("");
    json.end_object();
    json.key("programResult").begin_object();
    json.key("hReturn").text("");
    for absent in
        ["exception", "codeChanges", "deleteAccounts", "internalTransactions", "logInfoList", "callCreateList"]
    {
        json.key(absent).null();
    }
    for no in ["revert", "movedRemainingGasToChild", "callWithValuePerformed"] {
        json.key(no).boolean(false);
    }
    for zero in ["gasUsed", "futureRefund", "deductedRefund", "maxGasUsed", "gasUsedBeforeRefunds"] {
        json.key(zero).number(0);
    }
    json.end_object();
    json.key("codeAddress").null();
    json.key("subtraces").begin_array();
    json.end_array();
    json.end_object();
}
