//! The state of an executing block: accounts and storage slots over a reader, with an undo log.
//!
//! Nothing is written to storage: [`State::into_delta`] returns the changes as trie keys and values.

mod access;
mod account;
mod account_id;
mod code;
mod delta;
mod memory_size;
mod operations;
mod queries;
mod slot_listing;
mod transient;
mod undo;

use std::sync::Arc;

use crate::hash_maps::HashMap;
use rhizome_primitives::{Address, U256};
use rhizome_trie::account::AccountState;
use rhizome_trie::{PriorValues, StateDelta, StateError, StateReader, keys};

pub use access::{AccessKey, AccessKeys, AccessSet};
pub use account_id::AccountId;
pub use slot_listing::ListedSlot;
pub use undo::Checkpoint;

use access::AccountPart;
pub(crate) use access::TouchedSlots;
pub(crate) use account::AccountIndex;
use account::{AccountRecord, Deletion, SlotIndex, SlotRecord, Tracked};
use code::Code;
use transient::Transient;
use undo::Undo;

/// Accounts, code and storage as the executing block sees them.
///
/// Values are read from the reader on first use. Every change is in the undo log until [`State::settle`], so that
/// [`State::revert`] can return to an earlier [`Checkpoint`].
pub struct State {
    reader: Arc<dyn StateReader>,
    accounts: Vec<AccountRecord>,
    slots: Vec<SlotRecord>,
    index: HashMap<Address, AccountIndex>,
    remasc_sender: Option<AccountIndex>,
    null: Option<AccountIndex>,
    transient: Transient,
    undo_log: Vec<Undo>,
    access: Option<Box<AccessSet>>,
    /// [`State::settle`] preserves the undo log.
    is_recording: bool,
}

impl State {
    /// Creates an unchanged state over a reader.
    pub fn new(reader: Arc<dyn StateReader>) -> State {
        State {
            reader,
            accounts: Vec::new(),
            slots: Vec::new(),
            index: HashMap::default(),
            remasc_sender: None,
            null: None,
            transient: Transient::default(),
            undo_log: Vec::new(),
            access: None,
            is_recording: false,
        }
    }

    /// Returns a checkpoint for [`State::revert`].
    #[inline]
    pub fn checkpoint(&self) -> Checkpoint {
        Checkpoint(self.undo_log.len())
    }

    /// Undoes every change made since the checkpoint.
    pub fn revert(&mut self, to: Checkpoint) {
        while self.undo_log.len() > to.0 {
            if let Some(undo) = self.undo_log.pop() {
                undo.apply(self);
            }
        }
    }

    /// Makes all changes so far final. Earlier checkpoints become invalid.
    pub fn settle(&mut self) {
        if !self.is_recording {
            self.undo_log.clear();
        }
    }

    /// Preserves the undo log from now on, so that checkpoints stay valid for [`State::at`].
    pub(crate) fn start_recording(&mut self) {
        self.is_recording = true;
    }

    /// Returns a copy of the state at a checkpoint between two transactions, over the same base. The copy includes the
    /// records of accounts and slots that were read later, with their values at the checkpoint.
    pub(crate) fn at(&self, checkpoint: Checkpoint, reader: Arc<dyn StateReader>) -> State {
        let mut state = State {
            accounts: self.accounts.clone(),
            slots: self.slots.clone(),
            index: self.index.clone(),
            remasc_sender: self.remasc_sender,
            null: self.null,
            ..State::new(reader)
        };
        for undo in self.undo_log.iter().skip(checkpoint.0).rev() {
            undo.clone().apply(&mut state);
        }
        state.clear_transient();
        state
    }

    /// Returns a copy of the state at a checkpoint between two calls.
    pub(crate) fn before(&self, checkpoint: Checkpoint) -> State {
        self.at(checkpoint, Arc::clone(&self.reader))
    }

    /// Replaces the reader by a different reader over the same base. Returns the previous reader.
    pub(crate) fn replace_reader(&mut self, reader: Arc<dyn StateReader>) -> Arc<dyn StateReader> {
        std::mem::replace(&mut self.reader, reader)
    }

    /// Returns the changes against the reader. A value that equals the base again is left out.
    pub fn into_delta(self) -> StateDelta {
        self.into_changes().0
    }

    /// Like [`State::into_delta`], with the values of the reader for all writes; `None` if an account was deleted or code replaced.
    pub fn into_changes(mut self) -> (StateDelta, Option<PriorValues>) {
        delta::collect(&mut self.accounts, &mut self.slots)
    }

    /// Returns the approximate memory in bytes, without the reader.
    pub(crate) fn memory_size(&self) -> usize {
        memory_size::of(&self.accounts, &self.index, &self.slots, &self.undo_log)
    }

    /// Returns a word of transient storage (RSKIP-446), zero if absent.
    pub fn transient_word(&self, address: &Address, slot: &U256) -> U256 {
        self.transient.get(address, slot)
    }

    /// Writes a word of transient storage.
    pub fn set_transient_word(&mut self, address: Address, slot: U256, word: U256) {
        let previous = self.transient.set(address, slot, word);
        self.undo_log.push(Undo::Transient { address, slot, previous });
    }

    /// Empties the transient storage at the end of a transaction. This cannot be reverted.
    pub fn clear_transient(&mut self) {
        self.transient.clear();
    }

    /// Records every access from now on. Accesses recorded earlier are dropped.
    pub fn start_tracking(&mut self) {
        self.access = Some(Box::default());
    }

    /// Stops recording and returns the recorded accesses; empty if nothing was being recorded.
    pub fn stop_tracking(&mut self) -> AccessSet {
        self.access.take().map(|access| *access).unwrap_or_default()
    }

    /// Returns the accounts and slots of a set that this state has recorded, without accounts that have no
    /// address of 20 bytes.
    pub(crate) fn touched(&self, access: &AccessSet) -> TouchedSlots {
        access.touched(|account| self.id_at(account))
    }

    #[inline]
    fn note_read(&mut self, account: AccountIndex, part: AccountPart) {
        if let Some(access) = &mut self.access {
            access.read(account, part);
        }
    }

    #[inline]
    fn note_write(&mut self, account: AccountIndex, part: AccountPart) {
        if let Some(access) = &mut self.access {
            access.write(account, part);
        }
    }

    /// Returns the record of an account, which is created without a read.
    pub(crate) fn locate(&mut self, id: AccountId) -> AccountIndex {
        let next = AccountIndex::after(&self.accounts);
        let found = match id {
            AccountId::Address(address) => *self.index.entry(address).or_insert(next),
            AccountId::RemascSender => *self.remasc_sender.get_or_insert(next),
            AccountId::Null => *self.null.get_or_insert(next),
        };
        if found == next {
            self.accounts.push(AccountRecord::new(id));
        }
        found
    }

    /// Computes the trie keys of accounts that will be needed. One batch is cheaper than single keys.
    pub(crate) fn prepare_keys(&mut self, addresses: impl Iterator<Item = Address>) {
        self.accounts.reserve(addresses.size_hint().0);
        self.index.reserve(addresses.size_hint().0);
        let mut indexes: Vec<AccountIndex> = addresses.map(|address| self.locate(address.into())).collect();
        indexes.sort_unstable();
        indexes.dedup();
        indexes.retain(|index| !self.account_at(*index).has_key());
        let ids: Vec<AccountId> = indexes.iter().map(|index| self.id_at(*index)).collect();
        let addresses: Vec<&[u8]> = ids.iter().map(AccountId::as_bytes).collect();
        for (index, key) in indexes.into_iter().zip(keys::account_keys(&addresses)) {
            self.account_at(index).set_key(key);
        }
    }

    /// An index is only made by this state, which never removes a record.
    #[inline]
    fn account_at(&mut self, index: AccountIndex) -> &mut AccountRecord {
        &mut self.accounts[index.position()]
    }

    fn id_at(&self, index: AccountIndex) -> AccountId {
        self.accounts[index.position()].id
    }

    #[inline]
    fn slot_at(&mut self, index: SlotIndex) -> &mut SlotRecord {
        &mut self.slots[index.position()]
    }

    #[inline]
    fn load_value(&mut self, index: AccountIndex) -> Read<&mut Tracked<Option<AccountState>>> {
        self.accounts[index.position()].load_value(&*self.reader)
    }

    #[inline]
    fn load_mark(&mut self, index: AccountIndex) -> Read<&mut Tracked<bool>> {
        self.accounts[index.position()].load_mark(&*self.reader)
    }

    #[inline]
    fn load_code(&mut self, index: AccountIndex) -> Read<&mut Tracked<Code>> {
        self.accounts[index.position()].load_code(&*self.reader)
    }

    /// Returns the record of a storage slot, read from the base on first use.
    #[inline]
    fn load_slot(&mut self, account: AccountIndex, slot: U256) -> Read<SlotIndex> {
        let account = &mut self.accounts[account.position()];
        if let Some(found) = account.parts.slots.get(&slot) {
            return Ok(*found);
        }
        let record = match account.parts.deletion {
            Deletion::None => account.read_slot(&slot, &*self.reader)?,
            Deletion::Whole | Deletion::Hiding => SlotRecord::absent(),
        };
        let index = SlotIndex::after(&self.slots);
        account.parts.slots.insert(slot, index);
        self.slots.push(record);
        Ok(index)
    }
}

/// A read of the state. Only the reader can fail.
type Read<T> = Result<T, StateError>;
