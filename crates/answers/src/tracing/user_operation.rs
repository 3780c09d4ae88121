//! Records of the `erc7562Tracer` of geth: the calls, and for each the instructions and storage slots that ERC-7562 restricts in
//! the validation of user operations.

use super::call_tracer::{self, CallTracerForm};
use super::call_tree::{CallTree, NodeEnd};
use super::limit::Limit;
use super::options::TraceOptions;
use super::traced::Traced;
use crate::error::RpcError;
use crate::json::JsonWriter;
use crate::options::TraceShape;
use rhizome_evm::tracing::{FrameEnd, FrameStart, Inspector, LeafCall, Step};
use rhizome_evm::{ExecError, HaltReason, State};
use rhizome_primitives::{Address, B256, Log, U256};
use std::collections::{BTreeMap, BTreeSet};

const ISZERO: u8 = 0x15;
const KECCAK256: u8 = 0x20;
const EXTCODESIZE: u8 = 0x3b;
const EXTCODECOPY: u8 = 0x3c;
const EXTCODEHASH: u8 = 0x3f;
const SLOAD: u8 = 0x54;
const SSTORE: u8 = 0x55;
const GAS: u8 = 0x5a;
const TLOAD: u8 = 0x5c;
const TSTORE: u8 = 0x5d;
const PUSH0: u8 = 0x5f;
const SWAP16: u8 = 0x9f;
const CALLS: [u8; 4] = [0xf1, 0xf2, 0xf4, 0xfa];
const RETURNS: [u8; 2] = [0xf3, 0xfd];
/// Arithmetic, comparisons and POP, which every code uses; PUSH0 to SWAP16 are not counted, either.
const USUAL: [u8; 16] =
    [0x50, 0x01, 0x03, 0x02, 0x04, 0x14, 0x10, 0x11, 0x12, 0x13, 0x1b, 0x1c, 0x16, 0x17, 0x19, ISZERO];
/// Size of an entry of a record, in bytes of JSON.
const ENTRY_SIZE: usize = 150;
/// Longest recorded input of KECCAK256.
const MAX_PREIMAGE: usize = 1 << 20;

/// The instructions and storage slots of one call.
#[derive(Default)]
struct Conduct {
    reads: BTreeMap<U256, U256>,
    writes: BTreeMap<U256, u64>,
    transient_reads: BTreeMap<U256, u64>,
    transient_writes: BTreeMap<U256, u64>,
    code_accesses: Vec<Address>,
    instructions: BTreeMap<u8, u64>,
    /// Length of the code, and the first instruction that named the contract.
    contract_sizes: BTreeMap<Address, (usize, u8)>,
}

/// The calls of a transaction with the conduct of each.
pub(crate) struct UserOperation {
    tree: CallTree,
    /// One for each node of the tree.
    conducts: Vec<Conduct>,
    open: Vec<usize>,
    /// Instruction before the current one, and the top of its stack.
    last: Option<(u8, Option<U256>)>,
    preimages: BTreeSet<Vec<u8>>,
    ignored: [bool; 256],
    limit: Limit,
}

impl UserOperation {
    pub(crate) fn new(limit: Limit, options: &TraceOptions) -> Self {
        let is_ignored = |byte: u8| match &options.ignored_instructions {
            Some(list) => list.contains(&byte),
            None => (PUSH0..=SWAP16).contains(&byte) || USUAL.contains(&byte),
        };
        let mut ignored = [false; 256];
        ignored.iter_mut().zip(0..=u8::MAX).for_each(|(flag, byte)| *flag = is_ignored(byte));
        Self {
            tree: CallTree::new(limit, options.has_logs, false),
            conducts: Vec::new(),
            open: Vec::new(),
            last: None,
            preimages: BTreeSet::new(),
            ignored,
            limit,
        }
    }

    /// Writes the calls in the form of the callTracer, each with its conduct.
    pub(crate) fn write(
        &self,
        json: &mut JsonWriter,
        traced: &Traced,
        form: CallTracerForm,
        limit: &Limit,
    ) -> Result<(), RpcError> {
        let form = CallTracerForm { shape: TraceShape::Standard, has_only_top: false, has_console: false, ..form };
        let nothing = Conduct::default();
        call_tracer::write_with(json, traced, &self.tree, form, limit, &|json, index| {
            let conduct = self.conducts.get(index).unwrap_or(&nothing);
            let end = self.tree.nodes.get(index).map(|node| &node.end);
            let is_out_of_gas = matches!(end, Some(NodeEnd::Halted(failure)) if failure.reason == HaltReason::OutOfGas);
            conduct.write(json, is_out_of_gas);
            if index == 0 && !self.preimages.is_empty() {
                json.key("keccak").begin_array();
                self.preimages.iter().for_each(|preimage| json.data(preimage));
                json.end_array();
            }
        })
    }

    /// Adds the conducts of new nodes.
    fn grow(&mut self) -> Result<(), ExecError> {
        while self.conducts.len() < self.tree.nodes.len() {
            self.limit.take(2 * ENTRY_SIZE)?;
            self.conducts.push(Conduct::default());
        }
        Ok(())
    }
}

fn is_code_access(instruction: u8) -> bool {
    matches!(instruction, EXTCODESIZE | EXTCODECOPY | EXTCODEHASH)
}

fn address_of(word: &U256) -> Address {
    Address::from_word(B256::from(word.to_be_bytes::<32>()))
}

impl Inspector for UserOperation {
    fn wants_steps(&self) -> bool {
        true
    }

    fn frame_start(&mut self, start: &FrameStart<'_>, state: &mut State) -> Result<(), ExecError> {
        self.open.push(self.tree.nodes.len());
        self.tree.frame_start(start, state)?;
        self.grow()
    }

    fn frame_end(&mut self, end: &FrameEnd<'_>) -> Result<(), ExecError> {
        self.open.pop();
        self.tree.frame_end(end)
    }

    fn leaf_call(&mut self, call: &LeafCall) -> Result<(), ExecError> {
        self.tree.leaf_call(call)?;
        self.grow()
    }

    fn selfdestruct(&mut self, account: Address, heir: Address, balance: U256) -> Result<(), ExecError> {
        self.tree.selfdestruct(account, heir, balance)?;
        self.grow()
    }

    fn log(&mut self, log: &Log) -> Result<(), ExecError> {
        self.tree.log(log)
    }

    fn step_start(&mut self, step: &Step<'_>, state: &mut State) -> Result<(), ExecError> {
        let Self { conducts, open, last, preimages, ignored, limit, .. } = self;
        let Some(conduct) = open.last().and_then(|index| conducts.get_mut(*index)) else { return Ok(()) };
        let instruction = step.instruction;
        let operand = |depth: usize| step.stack.len().checked_sub(depth + 1).and_then(|at| step.stack.get(at)).copied();
        if RETURNS.contains(&instruction) {
            *last = None;
        }
        if let Some((before, Some(word))) = *last
            && is_code_access(before)
            && !(before == EXTCODESIZE && instruction == ISZERO)
        {
            limit.take(ENTRY_SIZE)?;
            conduct.code_accesses.push(address_of(&word));
        }
        let is_call = CALLS.contains(&instruction);
        if (is_call || is_code_access(instruction))
            && let Some(word) = operand(usize::from(is_call))
            && !conduct.contract_sizes.contains_key(&address_of(&word))
        {
            limit.take(ENTRY_SIZE)?;
            let address = address_of(&word);
            conduct.contract_sizes.insert(address, (state.code_length(address)?, instruction));
        }
        if last.is_some_and(|(before, _)| before == GAS) && !is_call {
            *conduct.instructions.entry(GAS).or_default() += 1;
        }
        if instruction != GAS && !ignored.get(usize::from(instruction)).is_some_and(|is_ignored| *is_ignored) {
            *conduct.instructions.entry(instruction).or_default() += 1;
        }
        if let (SLOAD | SSTORE | TLOAD | TSTORE, Some(slot)) = (instruction, operand(0)) {
            conduct.note_slot(instruction, slot, step.account, state, limit)?;
        }
        if let (KECCAK256, Some(start), Some(length)) = (instruction, operand(0), operand(1))
            && let Some(preimage) = preimage(step.memory, start, length)
        {
            limit.take(2 * preimage.len() + 4)?;
            preimages.insert(preimage);
        }
        *last = Some((instruction, operand(0)));
        Ok(())
    }
}

/// Returns a part of the memory, which may end before it; `None` if it is too long to be kept.
fn preimage(memory: &[u8], start: U256, length: U256) -> Option<Vec<u8>> {
    let length = usize::try_from(length).ok().filter(|length| *length <= MAX_PREIMAGE)?;
    let start = usize::try_from(start).unwrap_or(usize::MAX);
    let mut bytes: Vec<u8> = memory.get(start..).unwrap_or_default().iter().take(length).copied().collect();
    bytes.resize(length, 0);
    Some(bytes)
}

impl Conduct {
    fn note_slot(
        &mut self,
        instruction: u8,
        slot: U256,
        account: Address,
        state: &mut State,
        limit: &mut Limit,
    ) -> Result<(), ExecError> {
        let counts = match instruction {
            SLOAD => {
                // The value before the call, so not after a write.
                if !self.reads.contains_key(&slot) && !self.writes.contains_key(&slot) {
                    limit.take(ENTRY_SIZE)?;
                    self.reads.insert(slot, state.storage_word(account, &slot)?.unwrap_or_default());
                }
                return Ok(());
            }
            SSTORE => &mut self.writes,
            TLOAD => &mut self.transient_reads,
            _ => &mut self.transient_writes,
        };
        if !counts.contains_key(&slot) {
            limit.take(ENTRY_SIZE)?;
        }
        *counts.entry(slot).or_default() += 1;
        Ok(())
    }

    /// Writes the members of the call.
    fn write(&self, json: &mut JsonWriter, is_out_of_gas: bool) {
        json.key("accessedSlots").begin_object();
        json.key("reads").begin_object();
        for (slot, word) in &self.reads {
            json.data_key(&slot.to_be_bytes::<32>()).begin_array();
            json.word(word);
            json.end_array();
        }
        json.end_object();
        let counted = [
            ("writes", &self.writes),
            ("transientReads", &self.transient_reads),
            ("transientWrites", &self.transient_writes),
        ];
        for (name, counts) in counted {
            json.key(name).begin_object();
            for (slot, count) in counts {
                json.data_key(&slot.to_be_bytes::<32>()).number(count.cast_signed());
            }
            json.end_object();
        }
        json.end_object();
        json.key("extCodeAccessInfo").begin_array();
        self.code_accesses.iter().for_each(|address| json.data(address.as_slice()));
        json.end_array();
        json.key("usedOpcodes").begin_object();
        for (instruction, count) in &self.instructions {
            json.key(&format!("{instruction:#x}")).number(count.cast_signed());
        }
        json.end_object();
        json.key("contractSize").begin_object();
        for (address, (size, instruction)) in &self.contract_sizes {
            json.data_key(address.as_slice()).begin_object();
            json.key("contractSize").raw(size.to_string().as_bytes());
            json.key("opcode").number((*instruction).into());
            json.end_object();
        }
        json.end_object();
        json.key("outOfGas").boolean(is_out_of_gas);
    }
}
