//! The records of the state: what the base holds, what is visible now, and what was written.

use std::mem;

use crate::hash_maps::HashMap;
use rhizome_primitives::{Address, B256, Bytes, U256};
use rhizome_trie::account::AccountState;
use rhizome_trie::keys;
use rhizome_trie::{StateError, StateReader};

use super::account_id::AccountId;
use super::code::Code;

/// Position of an account in its state; never changes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct AccountIndex(u32);

/// Position of a cell in its state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CellIndex(u32);

impl CellIndex {
    pub(super) fn of(self, cells: &mut [Cell]) -> Option<&mut Cell> {
        cells.get_mut(self.0 as usize)
    }
}

impl AccountIndex {
    pub(super) fn after(accounts: &[Account]) -> AccountIndex {
        AccountIndex(accounts.len() as u32)
    }
}

/// One value of the trie.
#[derive(Debug, Clone, Default)]
pub(super) struct Slot<T> {
    /// False until `base` and `current` mean something.
    pub(super) is_loaded: bool,
    pub(super) base: T,
    pub(super) current: T,
    /// Written since the base or since the last deletion of the account.
    pub(super) is_written: bool,
}

impl<T: Clone + Default> Slot<T> {
    pub(super) fn load(&mut self, value: T) {
        self.base = value.clone();
        self.current = value;
        self.is_loaded = true;
    }

    /// A slot of a deleted account: absent, and the reader has nothing to say about it.
    fn hidden() -> Slot<T> {
        Slot { is_loaded: true, ..Slot::default() }
    }
}

/// Whether an account was deleted since the base.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Deletion {
    None,
    /// The base has an account value: everything below it goes.
    Whole,
    /// The base has none: what it holds below the account key (a mark) is hidden now but stays in the trie.
    Hiding,
}

#[derive(Clone)]
pub(super) struct Account {
    pub(super) id: AccountId,
    /// Empty until first needed.
    key: Vec<u8>,
    pub(super) parts: Parts,
}

/// All that deleting an account replaces.
#[derive(Clone)]
pub(super) struct Parts {
    pub(super) value: Slot<Option<AccountState>>,
    pub(super) is_marked: Slot<bool>,
    pub(super) code: Slot<Code>,
    pub(super) cells: HashMap<U256, CellIndex>,
    pub(super) deletion: Deletion,
}

impl Account {
    pub(super) fn new(id: AccountId) -> Account {
        let parts = Parts {
            value: Slot::default(),
            is_marked: Slot::default(),
            code: Slot::default(),
            cells: HashMap::default(),
            deletion: Deletion::None,
        };
        Account { id, key: Vec::new(), parts }
    }

    pub(super) fn key(&mut self) -> &[u8] {
        if self.key.is_empty() {
            self.key = keys::account_key(self.id.as_bytes());
        }
        &self.key
    }

    /// The key, which the account does without from here on.
    pub(super) fn take_key(&mut self) -> Vec<u8> {
        self.key();
        mem::take(&mut self.key)
    }

    pub(super) fn key_bytes(&self) -> usize {
        self.key.capacity()
    }

    pub(super) fn load_value(
        &mut self,
        reader: &dyn StateReader,
    ) -> Result<&mut Slot<Option<AccountState>>, StateError> {
        if !self.parts.value.is_loaded {
            let key = self.key();
            let value = match reader.get(key)? {
                Some(bytes) if !bytes.is_empty() => Some(
                    AccountState::decode(&bytes).map_err(|reason| StateError::Account { key: key.to_vec(), reason })?,
                ),
                _ => None,
            };
            self.parts.value.load(value);
        }
        Ok(&mut self.parts.value)
    }

    pub(super) fn load_mark(&mut self, reader: &dyn StateReader) -> Result<&mut Slot<bool>, StateError> {
        if !self.parts.is_marked.is_loaded {
            let is_marked = reader.get(&keys::mark_key_of(self.key()))?.is_some();
            self.parts.is_marked.load(is_marked);
        }
        Ok(&mut self.parts.is_marked)
    }

    pub(super) fn load_code(&mut self, reader: &dyn StateReader) -> Result<&mut Slot<Code>, StateError> {
        if !self.parts.code.is_loaded {
            let found = reader.length_and_hash(&keys::code_key_of(self.key()))?;
            self.parts.code.load(found.map_or(Code::Absent, |(length, hash)| Code::unread(length, hash)));
        }
        Ok(&mut self.parts.code)
    }

    pub(super) fn read_code(&mut self, reader: &dyn StateReader) -> Result<Bytes, StateError> {
        Ok(reader.get(&keys::code_key_of(self.key()))?.unwrap_or_default())
    }

    fn read_cell(&mut self, slot: &U256, reader: &dyn StateReader) -> Result<Cell, StateError> {
        let key = keys::storage_key_of(self.key(), &B256::from(*slot));
        let value = reader.get(&key)?.map_or(CellValue::ABSENT, CellValue::of_bytes);
        Ok(Cell { key, base: value.clone(), current: value, is_written: false })
    }
}

impl Parts {
    /// The parts of an account right after its deletion.
    pub(super) fn deleted(deletion: Deletion) -> Parts {
        Parts {
            value: Slot::hidden(),
            is_marked: Slot::hidden(),
            code: Slot::hidden(),
            cells: HashMap::default(),
            deletion,
        }
    }
}

/// A storage cell.
#[derive(Clone)]
pub(super) struct Cell {
    /// Its trie key; empty until first needed.
    pub(super) key: Vec<u8>,
    pub(super) base: CellValue,
    pub(super) current: CellValue,
    pub(super) is_written: bool,
}

impl Cell {
    /// A cell that the reader does not have.
    fn absent() -> Cell {
        Cell { key: Vec::new(), base: CellValue::ABSENT, current: CellValue::ABSENT, is_written: false }
    }
}

/// What stands in a storage cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CellValue {
    /// A word, kept without its leading zero bytes. Zero: there is no cell.
    Word(U256),
    /// Bytes that are not what a word is kept as. Never empty.
    Raw(Bytes),
}

impl CellValue {
    pub(super) const ABSENT: CellValue = CellValue::Word(U256::ZERO);

    pub(super) fn of_bytes(bytes: Bytes) -> CellValue {
        match bytes.first() {
            None => CellValue::ABSENT,
            Some(first) if *first != 0 && bytes.len() <= 32 => CellValue::Word(U256::from_be_slice(&bytes)),
            Some(_) => CellValue::Raw(bytes),
        }
    }

    pub(super) fn is_absent(&self) -> bool {
        *self == CellValue::ABSENT
    }

    /// As 32 bytes; none for an absent cell or one that is longer than a word.
    #[inline]
    pub(super) fn word(&self) -> Option<U256> {
        match self {
            CellValue::Word(word) => (!word.is_zero()).then_some(*word),
            CellValue::Raw(bytes) => keys::decode_slot_value(bytes),
        }
    }

    pub(super) fn bytes(&self) -> Option<Bytes> {
        match self {
            CellValue::Word(word) => keys::encode_slot_value(*word),
            CellValue::Raw(bytes) => Some(bytes.clone()),
        }
    }
}

impl super::State {
    /// Indexes are only made by this state, which never drops a record.
    #[inline]
    pub(super) fn account_at(&mut self, index: AccountIndex) -> &mut Account {
        &mut self.accounts[index.0 as usize]
    }

    pub(super) fn id_at(&self, index: AccountIndex) -> AccountId {
        self.accounts[index.0 as usize].id
    }

    #[inline]
    pub(super) fn cell_at(&mut self, index: CellIndex) -> &mut Cell {
        &mut self.cells[index.0 as usize]
    }

    /// Makes the keys of accounts that will be needed: all at once they are cheaper than one by one.
    pub(crate) fn expect(&mut self, addresses: impl Iterator<Item = Address>) {
        self.accounts.reserve(addresses.size_hint().0);
        self.index.reserve(addresses.size_hint().0);
        let mut indexes: Vec<AccountIndex> = addresses.map(|address| self.locate(address.into())).collect();
        indexes.sort_unstable();
        indexes.dedup();
        indexes.retain(|index| self.account_at(*index).key.is_empty());
        let ids: Vec<AccountId> = indexes.iter().map(|index| self.id_at(*index)).collect();
        let addresses: Vec<&[u8]> = ids.iter().map(AccountId::as_bytes).collect();
        for (index, key) in indexes.into_iter().zip(keys::account_keys(&addresses)) {
            self.account_at(index).key = key;
        }
    }

    #[inline]
    pub(super) fn load_value(&mut self, index: AccountIndex) -> super::Read<&mut Slot<Option<AccountState>>> {
        let reader = &*self.reader;
        self.accounts[index.0 as usize].load_value(reader)
    }

    #[inline]
    pub(super) fn load_mark(&mut self, index: AccountIndex) -> super::Read<&mut Slot<bool>> {
        let reader = &*self.reader;
        self.accounts[index.0 as usize].load_mark(reader)
    }

    #[inline]
    pub(super) fn load_code(&mut self, index: AccountIndex) -> super::Read<&mut Slot<Code>> {
        let reader = &*self.reader;
        self.accounts[index.0 as usize].load_code(reader)
    }

    /// The cell, read from the base at its first use.
    #[inline]
    pub(super) fn load_cell(&mut self, index: AccountIndex, slot: U256) -> super::Read<CellIndex> {
        let account = &mut self.accounts[index.0 as usize];
        if let Some(found) = account.parts.cells.get(&slot) {
            return Ok(*found);
        }
        let cell = match account.parts.deletion {
            Deletion::None => account.read_cell(&slot, &*self.reader)?,
            Deletion::Whole | Deletion::Hiding => Cell::absent(),
        };
        let place = CellIndex(self.cells.len() as u32);
        account.parts.cells.insert(slot, place);
        self.cells.push(cell);
        Ok(place)
    }
}
