//! The approximate memory of a state.

use std::mem::size_of;

use rhizome_primitives::{Address, U256};

use super::account::{AccountIndex, AccountParts, AccountRecord, SlotContent, SlotIndex, SlotRecord};
use super::code::Code;
use super::undo::Undo;
use crate::hash_maps::HashMap;

/// Returns the memory of the parts of a state in bytes, including the heap.
pub(super) fn of(
    accounts: &Vec<AccountRecord>,
    index: &HashMap<Address, AccountIndex>,
    slots: &Vec<SlotRecord>,
    undo_log: &Vec<Undo>,
) -> usize {
    accounts.capacity() * size_of::<AccountRecord>()
        + index.capacity() * size_of::<(Address, AccountIndex)>()
        + slots.capacity() * size_of::<SlotRecord>()
        + undo_log.capacity() * size_of::<Undo>()
        + accounts.iter().map(AccountRecord::heap_size).sum::<usize>()
        + slots.iter().map(SlotRecord::heap_size).sum::<usize>()
        + undo_log.iter().map(Undo::heap_size).sum::<usize>()
}

impl AccountRecord {
    fn heap_size(&self) -> usize {
        self.key_capacity() + self.parts.heap_size()
    }
}

impl AccountParts {
    fn heap_size(&self) -> usize {
        self.slots.capacity() * size_of::<(U256, SlotIndex)>()
            + self.code.base.heap_size()
            + self.code.current.heap_size()
    }
}

impl SlotRecord {
    fn heap_size(&self) -> usize {
        self.key.capacity() + self.base.heap_size() + self.current.heap_size()
    }
}

impl SlotContent {
    fn heap_size(&self) -> usize {
        match self {
            SlotContent::Word(_) => 0,
            SlotContent::Raw(bytes) => bytes.len(),
        }
    }
}

impl Code {
    /// Counts bytes that are shared with other owners as well.
    fn heap_size(&self) -> usize {
        match self {
            Code::Present { bytes: None, executable: None, .. } | Code::Absent => 0,
            // With the table of jump destinations.
            Code::Present { length, .. } => length + length / 8,
        }
    }
}

impl Undo {
    fn heap_size(&self) -> usize {
        match self {
            Undo::Value { .. } | Undo::Mark { .. } | Undo::Transient { .. } => 0,
            Undo::Code { previous, .. } => previous.heap_size(),
            Undo::Slot { previous, .. } => previous.heap_size(),
            Undo::Deletion { previous, .. } => size_of::<AccountParts>() + previous.heap_size(),
        }
    }
}
