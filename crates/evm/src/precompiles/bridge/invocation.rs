//! One invocation: what it knows of its caller, what it has read and set, and the save at its end (bridge chapter 1.6).

use super::cells::{self, Cell};
use super::constants::{Constants, constants};
use super::election::Election;
use super::federation_votes::Pending;
use super::release::Request;
use super::union::UnionCells;
use super::whitelist::Whitelist;
use super::{Failure, PrecompileContext, PrecompileFailure, Result};
use crate::error::ExecError;
use rhizome_primitives::{Address, B256, BRIDGE, Bytes, I256, Rule, U256, rlp};

/// The call in progress.
pub(super) struct Invocation<'c, 'x> {
    pub(super) ctx: &'c mut PrecompileContext<'x>,
    pub(super) constants: &'static Constants,
    pub(super) memory: Memory,
}

/// Cells that the invocation has read or set. A list that was read is written, be it empty; other cells only if set.
#[derive(Default)]
pub(super) struct Memory {
    pub(super) processed: Option<Vec<([u8; 32], u64)>>,
    pub(super) queue: Option<Vec<Request>>,
    pub(super) has_read_confirmations: bool,
    pub(super) has_read_signatures: bool,
    pub(super) has_read_active_coins: bool,
    /// Bitcoin heights and hashes of the main chain (RSKIP-199).
    pub(super) index: Vec<(i32, B256)>,
    pub(super) has_opened_headers: bool,
    pub(super) headers_timestamp: Option<u64>,
    pub(super) next_peg_out_height: Option<u64>,
    pub(super) fee_per_kb: Option<u64>,
    pub(super) fee_election: Option<Election>,
    pub(super) federation_election: Option<Election>,
    pub(super) whitelist: Option<Whitelist>,
    /// The pending federation, none inside if there is none.
    pub(super) pending: Option<Option<Pending>>,
    pub(super) is_pending_set: bool,
    pub(super) locking_cap: Option<u64>,
    pub(super) union: UnionCells,
}

impl<'c, 'x> Invocation<'c, 'x> {
    pub(super) fn new(ctx: &'c mut PrecompileContext<'x>) -> std::result::Result<Self, PrecompileFailure> {
        match constants(ctx.spec.network) {
            Some(constants) => {
                let index = std::mem::take(&mut ctx.opened_index);
                let memory = Memory { index, ..Memory::default() };
                Ok(Invocation { ctx, constants, memory })
            }
            None => Err(PrecompileFailure::Fatal(missing(ctx, "the constants of the devnet", 0))),
        }
    }

    pub(super) fn has(&self, rule: Rule) -> bool {
        self.ctx.rules.is_active(rule)
    }

    pub(super) fn sender(&self) -> Address {
        self.ctx.caller
    }

    /// The end of what is implemented: `part` is a method or a cell, `stage` the one that brings it.
    pub(super) fn missing(&self, part: &'static str, stage: u8) -> Failure {
        Failure::Fatal(missing(self.ctx, part, stage))
    }

    /// The bytes of a cell, none if it is not there.
    pub(super) fn read(&mut self, key: &U256) -> Result<Option<Bytes>> {
        Ok(self.ctx.state.storage_bytes(BRIDGE, key)?.filter(|bytes| !bytes.is_empty()))
    }

    /// Writes a cell at once.
    pub(super) fn write(&mut self, key: U256, value: Vec<u8>) -> Result<()> {
        Ok(self.ctx.state.set_storage_bytes(BRIDGE, key, Some(value.into()))?)
    }

    /// A cell that holds one RLP integer.
    pub(super) fn read_number(&mut self, cell: Cell) -> Result<Option<U256>> {
        let Some(bytes) = self.read(&cell.key)? else { return Ok(None) };
        match cells::number(&bytes) {
            Some(number) => Ok(Some(number)),
            None => Err(self.missing(cell.name, cell.stage)),
        }
    }

    pub(super) fn read_u64(&mut self, cell: Cell) -> Result<Option<u64>> {
        match self.read_number(cell)?.map(u64::try_from) {
            None => Ok(None),
            Some(Ok(number)) => Ok(Some(number)),
            Some(Err(_)) => Err(self.missing(cell.name, cell.stage)),
        }
    }

    /// Stops unless a cell is absent: values of later stages.
    pub(super) fn require_absent(&mut self, cell: Cell) -> Result<()> {
        match self.read(&cell.key)? {
            None => Ok(()),
            Some(_) => Err(self.missing(cell.name, cell.stage)),
        }
    }

    /// Stops unless a cell is absent or the empty list: values of later stages.
    pub(super) fn require_empty(&mut self, cell: Cell) -> Result<()> {
        match self.read(&cell.key)?.as_ref().map(AsRef::as_ref) {
            None | Some([0xc0]) => Ok(()),
            Some(_) => Err(self.missing(cell.name, cell.stage)),
        }
    }

    /// Takes money from the treasury, whether it is there or not.
    pub(super) fn pay(&mut self, to: Address, wei: U256) -> Result<()> {
        Ok(self.ctx.state.transfer(BRIDGE, to, I256::from_raw(wei))?)
    }

    /// Leaves the index for the run that follows the computation of the price.
    pub(super) fn keep_index(self) {
        self.ctx.opened_index = self.memory.index;
    }

    /// Writes everything that was read as a list, or set.
    pub(super) fn save(&mut self) -> Result<()> {
        let memory = std::mem::take(&mut self.memory);
        if let Some(processed) = &memory.processed {
            self.write(cells::PROCESSED.key, cells::processed_map(processed))?;
        }
        if let Some(queue) = &memory.queue {
            self.save_queue(queue)?;
        }
        self.save_empty(memory.has_read_confirmations, cells::CONFIRMATIONS)?;
        if self.has(Rule::Rskip146) {
            self.save_empty(memory.has_read_confirmations, cells::CONFIRMATIONS_WITH_HASH)?;
        }
        self.save_empty(memory.has_read_signatures, cells::SIGNATURES)?;
        if self.has(Rule::Rskip199) {
            for (height, hash) in &memory.index {
                self.write(cells::height_key(*height), cells::string(hash.as_slice()))?;
            }
        }
        self.save_numbers(&memory)?;
        if let Some(election) = &memory.fee_election {
            self.write(cells::FEE_ELECTION.key, election.encode())?;
        }
        if let Some(whitelist) = &memory.whitelist {
            self.write(cells::WHITELIST.key, whitelist.encode_one_off())?;
            if self.has(Rule::Rskip87) {
                self.write(cells::UNLIMITED_WHITELIST.key, whitelist.encode_unlimited())?;
            }
        }
        let coins = self.active_coins_cell();
        self.save_empty(memory.has_read_active_coins, coins)?;
        if memory.is_pending_set {
            self.save_pending(memory.pending.flatten().as_ref())?;
        }
        if let Some(election) = &memory.federation_election {
            self.write(cells::FEDERATION_ELECTION.key, election.encode())?;
        }
        self.save_union(memory.union)
    }

    fn save_numbers(&mut self, memory: &Memory) -> Result<()> {
        let numbers = [
            (cells::HEADERS_TIMESTAMP, memory.headers_timestamp.filter(|time| *time > 0), Some(Rule::Rskip200)),
            (cells::NEXT_PEG_OUT_HEIGHT, memory.next_peg_out_height, Some(Rule::Rskip271)),
            (cells::FEE_PER_KB, memory.fee_per_kb, None),
            (cells::LOCKING_CAP, memory.locking_cap, Some(Rule::Rskip134)),
        ];
        for (cell, number, rule) in numbers {
            if let Some(number) = number.filter(|_| rule.is_none_or(|rule| self.has(rule))) {
                let mut value = Vec::new();
                rlp::put_u64(&mut value, number);
                self.write(cell.key, value)?;
            }
        }
        Ok(())
    }

    fn save_empty(&mut self, was_read: bool, cell: Cell) -> Result<()> {
        if was_read { self.write(cell.key, vec![0xc0]) } else { Ok(()) }
    }
}

fn missing(ctx: &PrecompileContext<'_>, part: &'static str, stage: u8) -> ExecError {
    ExecError::BridgePart {
        part,
        stage,
        number: ctx.env.number,
        index: ctx.transaction_index,
        hash: ctx.transaction_hash,
    }
}
