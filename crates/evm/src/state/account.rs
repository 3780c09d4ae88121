//! The records of the state: the value in the base, the current value, and whether it was written.

use std::mem;

use crate::hash_maps::HashMap;
use rhizome_primitives::{B256, Bytes, U256, rlp};
use rhizome_trie::account::AccountState;
use rhizome_trie::keys;
use rhizome_trie::{StateError, StateReader};

use super::account_id::AccountId;
use super::code::Code;

/// The position of an account in its state. It never changes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct AccountIndex(u32);

/// The position of a storage slot in its state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SlotIndex(u32);

impl SlotIndex {
    pub(super) fn after(slots: &[SlotRecord]) -> SlotIndex {
        SlotIndex(slots.len() as u32)
    }

    pub(super) fn position(self) -> usize {
        self.0 as usize
    }
}

impl AccountIndex {
    pub(super) fn after(accounts: &[AccountRecord]) -> AccountIndex {
        AccountIndex(accounts.len() as u32)
    }

    pub(super) fn position(self) -> usize {
        self.0 as usize
    }
}

/// A value of the trie with its value in the base.
#[derive(Debug, Clone, Default)]
pub(super) struct Tracked<T> {
    /// False until the value was read: `base` and `current` are not valid yet.
    pub(super) is_loaded: bool,
    pub(super) base: T,
    pub(super) current: T,
    /// Written since the base, or since the last deletion of the account.
    pub(super) is_written: bool,
}

impl<T: Clone + Default> Tracked<T> {
    pub(super) fn load(&mut self, value: T) {
        self.base = value.clone();
        self.current = value;
        self.is_loaded = true;
    }

    /// A value of a deleted account: absent, whatever the reader has.
    fn hidden() -> Tracked<T> {
        Tracked { is_loaded: true, ..Tracked::default() }
    }
}

/// The deletion of an account since the base.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Deletion {
    None,
    /// The base has an account value: everything below its key is deleted.
    Whole,
    /// The base has no account value: a value below the account key (a mark) is hidden, but stays in the trie.
    Hiding,
}

#[derive(Clone)]
pub(super) struct AccountRecord {
    pub(super) id: AccountId,
    /// The trie key; empty until first needed.
    key: Vec<u8>,
    pub(super) parts: AccountParts,
}

/// The values of an account, replaced as a whole when the account is deleted.
#[derive(Clone)]
pub(super) struct AccountParts {
    pub(super) value: Tracked<Option<AccountState>>,
    pub(super) is_marked: Tracked<bool>,
    pub(super) code: Tracked<Code>,
    pub(super) slots: HashMap<U256, SlotIndex>,
    pub(super) deletion: Deletion,
}

impl AccountRecord {
    pub(super) fn new(id: AccountId) -> AccountRecord {
        let parts = AccountParts {
            value: Tracked::default(),
            is_marked: Tracked::default(),
            code: Tracked::default(),
            slots: HashMap::default(),
            deletion: Deletion::None,
        };
        AccountRecord { id, key: Vec::new(), parts }
    }

    pub(super) fn key(&mut self) -> &[u8] {
        if self.key.is_empty() {
            self.key = keys::account_key(self.id.as_bytes());
        }
        &self.key
    }

    /// Takes the key out of the account.
    pub(super) fn take_key(&mut self) -> Vec<u8> {
        self.key();
        mem::take(&mut self.key)
    }

    pub(super) fn key_capacity(&self) -> usize {
        self.key.capacity()
    }

    pub(super) fn has_key(&self) -> bool {
        !self.key.is_empty()
    }

    pub(super) fn set_key(&mut self, key: Vec<u8>) {
        self.key = key;
    }

    pub(super) fn load_value(
        &mut self,
        reader: &dyn StateReader,
    ) -> Result<&mut Tracked<Option<AccountState>>, StateError> {
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

    pub(super) fn load_mark(&mut self, reader: &dyn StateReader) -> Result<&mut Tracked<bool>, StateError> {
        if !self.parts.is_marked.is_loaded {
            let is_marked = reader.get(&keys::mark_key_of(self.key()))?.is_some();
            self.parts.is_marked.load(is_marked);
        }
        Ok(&mut self.parts.is_marked)
    }

    pub(super) fn load_code(&mut self, reader: &dyn StateReader) -> Result<&mut Tracked<Code>, StateError> {
        if !self.parts.code.is_loaded {
            let found = reader.length_and_hash(&keys::code_key_of(self.key()))?;
            self.parts.code.load(found.map_or(Code::Absent, |(length, hash)| Code::unread(length, hash)));
        }
        Ok(&mut self.parts.code)
    }

    pub(super) fn read_code(&mut self, reader: &dyn StateReader) -> Result<Bytes, StateError> {
        Ok(reader.get(&keys::code_key_of(self.key()))?.unwrap_or_default())
    }

    pub(super) fn read_slot(&mut self, slot: &U256, reader: &dyn StateReader) -> Result<SlotRecord, StateError> {
        let key = keys::storage_key_of(self.key(), &B256::from(*slot));
        let value = reader.get(&key)?.map_or(SlotContent::ABSENT, SlotContent::of_bytes);
        Ok(SlotRecord { key, base: value.clone(), current: value, is_written: false })
    }
}

impl AccountParts {
    /// Returns the parts of an account right after its deletion.
    pub(super) fn deleted(deletion: Deletion) -> AccountParts {
        AccountParts {
            value: Tracked::hidden(),
            is_marked: Tracked::hidden(),
            code: Tracked::hidden(),
            slots: HashMap::default(),
            deletion,
        }
    }
}

/// A storage slot with its value in the base.
#[derive(Clone)]
pub(super) struct SlotRecord {
    /// The trie key; empty until first needed.
    pub(super) key: Vec<u8>,
    pub(super) base: SlotContent,
    pub(super) current: SlotContent,
    pub(super) is_written: bool,
}

impl SlotRecord {
    /// Returns a slot that the base does not have.
    pub(super) fn absent() -> SlotRecord {
        SlotRecord { key: Vec::new(), base: SlotContent::ABSENT, current: SlotContent::ABSENT, is_written: false }
    }
}

/// The value of a storage slot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SlotContent {
    /// A word, stored without leading zero bytes. Zero: the slot is absent.
    Word(U256),
    /// Bytes that are not the stored form of a word. Never empty.
    Raw(Bytes),
}

impl SlotContent {
    pub(super) const ABSENT: SlotContent = SlotContent::Word(U256::ZERO);

    pub(super) fn of_bytes(bytes: Bytes) -> SlotContent {
        match bytes.first() {
            None => SlotContent::ABSENT,
            Some(first) if *first != 0 && bytes.len() <= 32 => SlotContent::Word(U256::from_be_slice(&bytes)),
            Some(_) => SlotContent::Raw(bytes),
        }
    }

    pub(super) fn is_absent(&self) -> bool {
        *self == SlotContent::ABSENT
    }

    /// Returns the value as a word; `None` if it is absent or longer than a word.
    #[inline]
    pub(super) fn word(&self) -> Option<U256> {
        match self {
            SlotContent::Word(word) => (!word.is_zero()).then_some(*word),
            SlotContent::Raw(bytes) => keys::decode_slot_value(bytes),
        }
    }

    pub(super) fn bytes(&self) -> Option<Bytes> {
        match self {
            SlotContent::Word(word) => keys::encode_slot_value(*word),
            SlotContent::Raw(bytes) => Some(bytes.clone()),
        }
    }

    /// Appends the bytes of the value; an absent value is empty.
    pub(super) fn put(&self, out: &mut Vec<u8>) {
        match self {
            SlotContent::Word(word) => out.extend_from_slice(rlp::strip_zeros(&word.to_be_bytes::<32>())),
            SlotContent::Raw(bytes) => out.extend_from_slice(bytes),
        }
    }
}
