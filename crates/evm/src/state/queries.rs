//! Reads of the state. A read creates no account.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use rhizome_primitives::{B256, Bytes, EMPTY_CODE_HASH, I256, U256, keccak256};
use rhizome_trie::account::AccountState;
use rhizome_trie::keys::{self, KeyPart, StateKey};

use super::access::AccountPart;
use super::account::{AccountIndex, Deletion};
use super::code::Code;
use super::slot_listing::{ListedSlot, visit_in_parts};
use super::{AccountId, Read, State};
use crate::code::{self, ExecutableCode};

impl State {
    /// Whether the account has a value, which may be empty.
    pub fn exists(&mut self, account: impl Into<AccountId>) -> Read<bool> {
        let index = self.locate(account.into());
        self.exists_at(index)
    }

    /// Whether the account has the contract mark. An account without a value can have one.
    pub fn is_contract(&mut self, account: impl Into<AccountId>) -> Read<bool> {
        let index = self.locate(account.into());
        self.note_read(index, AccountPart::Mark);
        Ok(self.load_mark(index)?.current)
    }

    /// Returns nonce, balance and flags; `None` if the account does not exist.
    pub fn account(&mut self, account: impl Into<AccountId>) -> Read<Option<AccountState>> {
        let index = self.locate(account.into());
        Ok(*self.account_value(index)?)
    }

    /// Returns the balance in wei, zero if the account does not exist. It is negative only in local calls.
    pub fn balance(&mut self, account: impl Into<AccountId>) -> Read<I256> {
        let index = self.locate(account.into());
        self.balance_at(index)
    }

    /// Returns the nonce, zero if the account does not exist.
    pub fn nonce(&mut self, account: impl Into<AccountId>) -> Read<U256> {
        let index = self.locate(account.into());
        Ok(self.account_value(index)?.as_ref().map(|account| account.nonce).unwrap_or_default())
    }

    /// Returns the code: empty if the account does not exist or hibernates, `None` if it has no code entry.
    pub fn code(&mut self, account: impl Into<AccountId>) -> Read<Option<Bytes>> {
        let index = self.locate(account.into());
        if !self.has_readable_code(index)? {
            return Ok(Some(Bytes::new()));
        }
        self.note_read(index, AccountPart::Code);
        self.code_bytes(index)
    }

    /// Returns the length of the code in bytes.
    pub fn code_length(&mut self, account: impl Into<AccountId>) -> Read<usize> {
        let index = self.locate(account.into());
        if !self.has_readable_code(index)? {
            return Ok(0);
        }
        self.note_read(index, AccountPart::Code);
        Ok(self.load_code(index)?.current.length())
    }

    /// Returns the result of EXTCODEHASH for an account that is no precompile; zero if the account does not exist.
    /// Before RSKIP-169 (`is_standard` false) it is zero for a contract without a code entry as well.
    pub fn code_hash(&mut self, account: impl Into<AccountId>, is_standard: bool) -> Read<B256> {
        let index = self.locate(account.into());
        if !self.exists_at(index)? {
            return Ok(B256::ZERO);
        }
        self.note_read(index, AccountPart::Mark);
        if !self.load_mark(index)?.current {
            return Ok(EMPTY_CODE_HASH);
        }
        self.note_read(index, AccountPart::Code);
        let without_entry = if is_standard { EMPTY_CODE_HASH } else { B256::ZERO };
        Ok(self.load_code(index)?.current.hash().unwrap_or(without_entry))
    }

    /// Reads a storage slot as a word; `None` if it is absent or longer than a word.
    pub fn storage_word(&mut self, account: impl Into<AccountId>, slot: &U256) -> Read<Option<U256>> {
        let index = self.locate(account.into());
        self.storage_word_at(index, slot)
    }

    /// Reads the bytes of a storage slot.
    pub fn storage_bytes(&mut self, account: impl Into<AccountId>, slot: &U256) -> Read<Option<Bytes>> {
        let index = self.locate(account.into());
        self.note_read(index, AccountPart::Slot(*slot));
        let record = self.load_slot(index, *slot)?;
        Ok(self.slot_at(record).current.bytes())
    }

    /// Calls `visit` once for each present storage slot of a contract, until `visit` breaks. The cost depends on the number of
    /// visited slots.
    pub fn visit_slots(
        &mut self,
        account: impl Into<AccountId>,
        visit: &mut dyn FnMut(U256) -> ControlFlow<()>,
    ) -> Read<()> {
        let index = self.locate(account.into());
        let reader = Arc::clone(&self.reader);
        let prefix = keys::mark_key_of(self.account_at(index).key());
        let loaded = self.account_at(index).parts.slots.clone();
        let mut is_stopped = false;
        if self.account_at(index).parts.deletion == Deletion::None {
            visit_in_parts(reader.as_ref(), &prefix, &mut |key| {
                let Some(StateKey { part: KeyPart::Slot(slot), .. }) = StateKey::parse(key) else {
                    return ControlFlow::Continue(());
                };
                let slot = U256::from_be_bytes(slot.0);
                if loaded.contains_key(&slot) {
                    return ControlFlow::Continue(());
                }
                let next = visit(slot);
                is_stopped = next.is_break();
                next
            })?;
        }
        for (slot, index) in loaded {
            if is_stopped || !self.slot_at(index).current.is_absent() && visit(slot).is_break() {
                break;
            }
        }
        Ok(())
    }

    /// Returns the present storage slots of a contract from the hash `first` on with their values, at most `most`, in the order
    /// of the Keccak hashes of the slots. Reads a part of them, by the first byte of the hash, at a time; `is_over` is asked
    /// between slots and ends the listing.
    pub fn slots_from(
        &mut self,
        account: impl Into<AccountId>,
        first: B256,
        most: usize,
        is_over: &dyn Fn() -> bool,
    ) -> Read<Vec<ListedSlot>> {
        let index = self.locate(account.into());
        let reader = Arc::clone(&self.reader);
        let prefix = keys::mark_key_of(self.account_at(index).key());
        let is_deleted = self.account_at(index).parts.deletion != Deletion::None;
        let hash_of = |slot: U256| keccak256(slot.to_be_bytes::<32>());
        let loaded: Vec<(B256, U256)> =
            self.account_at(index).parts.slots.keys().map(|slot| (hash_of(*slot), *slot)).collect();
        let mut listed = Vec::new();
        for byte in first[0]..=u8::MAX {
            let is_here = |hash: &B256| hash[0] == byte && *hash >= first;
            let mut part: BTreeMap<B256, U256> = loaded.iter().copied().filter(|(hash, _)| is_here(hash)).collect();
            if !is_deleted {
                reader.visit_keys(&[prefix.as_slice(), &[byte]].concat(), &mut |key| {
                    if let Some(StateKey { part: KeyPart::Slot(slot), .. }) = StateKey::parse(key) {
                        let slot = U256::from_be_bytes(slot.0);
                        part.extend(Some((hash_of(slot), slot)).filter(|(hash, _)| is_here(hash)));
                    }
                    if is_over() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                })?;
            }
            for (hash, slot) in part {
                if listed.len() == most || is_over() {
                    return Ok(listed);
                }
                let record = self.load_slot(index, slot)?;
                if let Some(value) = self.slot_at(record).current.bytes() {
                    listed.push(ListedSlot { hash, slot, value });
                }
            }
        }
        Ok(listed)
    }

    pub(crate) fn exists_at(&mut self, index: AccountIndex) -> Read<bool> {
        Ok(self.account_value(index)?.is_some())
    }

    pub(crate) fn nonce_at(&mut self, index: AccountIndex) -> Read<U256> {
        Ok(self.account_value(index)?.as_ref().map(|account| account.nonce).unwrap_or_default())
    }

    pub(crate) fn balance_at(&mut self, index: AccountIndex) -> Read<I256> {
        Ok(self.account_value(index)?.as_ref().map(|account| account.balance).unwrap_or_default())
    }

    #[inline]
    pub(crate) fn storage_word_at(&mut self, index: AccountIndex, slot: &U256) -> Read<Option<U256>> {
        self.note_read(index, AccountPart::Slot(*slot));
        let record = self.load_slot(index, *slot)?;
        Ok(self.slot_at(record).current.word())
    }

    /// Whether a storage slot is present. A present slot may be zero.
    #[inline]
    pub(crate) fn has_storage_at(&mut self, index: AccountIndex, slot: &U256) -> Read<bool> {
        self.note_read(index, AccountPart::Slot(*slot));
        let record = self.load_slot(index, *slot)?;
        Ok(!self.slot_at(record).current.is_absent())
    }

    /// Returns the analysed code; `None` if the account has no code to run.
    pub(crate) fn executable_code(
        &mut self,
        index: AccountIndex,
        has_old_opcodes: bool,
    ) -> Read<Option<ExecutableCode>> {
        if !self.has_readable_code(index)? {
            return Ok(None);
        }
        self.note_read(index, AccountPart::Code);
        let (hash, bytes) = match &self.load_code(index)?.current {
            Code::Absent | Code::Present { length: 0, .. } => return Ok(None),
            Code::Present { executable: Some(executable), .. } => return Ok(Some(executable.clone())),
            Code::Present { hash, bytes, .. } => (*hash, bytes.clone()),
        };
        let executable = match code::cached(&hash, has_old_opcodes) {
            Some(executable) => executable,
            None => {
                let bytes = match bytes {
                    Some(bytes) => bytes,
                    None => self.code_bytes(index)?.unwrap_or_default(),
                };
                code::analyse_and_cache(hash, bytes, has_old_opcodes)
            }
        };
        if let Code::Present { executable: cached, .. } = &mut self.load_code(index)?.current {
            *cached = Some(executable.clone());
        }
        Ok(Some(executable))
    }

    pub(super) fn account_value(&mut self, index: AccountIndex) -> Read<&Option<AccountState>> {
        self.note_read(index, AccountPart::Account);
        Ok(&self.load_value(index)?.current)
    }

    fn has_readable_code(&mut self, index: AccountIndex) -> Read<bool> {
        Ok(self.account_value(index)?.as_ref().is_some_and(|account| !account.is_hibernated()))
    }

    /// Reads the bytes of the code on first use.
    fn code_bytes(&mut self, index: AccountIndex) -> Read<Option<Bytes>> {
        match &self.load_code(index)?.current {
            Code::Absent => return Ok(None),
            Code::Present { bytes: Some(bytes), .. } => return Ok(Some(bytes.clone())),
            Code::Present { .. } => {}
        }
        let reader = self.reader.clone();
        let read = self.account_at(index).read_code(&*reader)?;
        if let Code::Present { bytes, .. } = &mut self.load_code(index)?.current {
            *bytes = Some(read.clone());
        }
        Ok(Some(read))
    }
}
