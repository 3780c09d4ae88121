//! What can be asked. Asking creates nothing.

use std::ops::ControlFlow;
use std::sync::Arc;

use rhizome_primitives::{B256, Bytes, EMPTY_CODE_HASH, I256, U256};
use rhizome_trie::account::AccountState;
use rhizome_trie::keys::{self, KeyPart, StateKey};

use super::access::Part;
use super::account::{AccountIndex, Deletion};
use super::code::Code;
use super::{AccountId, Read, State};
use crate::code::{self, ExecutableCode};

impl State {
    /// True if the account has a value, be it empty.
    pub fn exists(&mut self, account: impl Into<AccountId>) -> Read<bool> {
        let index = self.locate(account.into());
        self.exists_at(index)
    }

    /// True if the account carries the contract mark, whether it exists or not.
    pub fn is_contract(&mut self, account: impl Into<AccountId>) -> Read<bool> {
        let index = self.locate(account.into());
        self.note_read(index, Part::Mark);
        Ok(self.load_mark(index)?.current)
    }

    /// Nonce, balance and flags; none if the account does not exist.
    pub fn account(&mut self, account: impl Into<AccountId>) -> Read<Option<AccountState>> {
        let index = self.locate(account.into());
        Ok(*self.account_value(index)?)
    }

    /// Balance in wei, zero if the account does not exist. Negative only in local calls.
    pub fn balance(&mut self, account: impl Into<AccountId>) -> Read<I256> {
        let index = self.locate(account.into());
        self.balance_at(index)
    }

    /// Nonce, zero if the account does not exist.
    pub fn nonce(&mut self, account: impl Into<AccountId>) -> Read<U256> {
        let index = self.locate(account.into());
        Ok(self.account_value(index)?.as_ref().map(|account| account.nonce).unwrap_or_default())
    }

    /// The code: empty if the account does not exist or hibernates, none if it has no code entry.
    pub fn code(&mut self, account: impl Into<AccountId>) -> Read<Option<Bytes>> {
        let index = self.locate(account.into());
        if !self.has_readable_code(index)? {
            return Ok(Some(Bytes::new()));
        }
        self.note_read(index, Part::Code);
        self.code_bytes(index)
    }

    /// Length of the code in bytes.
    pub fn code_length(&mut self, account: impl Into<AccountId>) -> Read<usize> {
        let index = self.locate(account.into());
        if !self.has_readable_code(index)? {
            return Ok(0);
        }
        self.note_read(index, Part::Code);
        Ok(self.load_code(index)?.current.length())
    }

    /// What EXTCODEHASH shows of an account that is no built-in contract; zero if it does not exist.
    /// Below RSKIP-169 (`is_standard` false) a contract without a code entry shows zero too.
    pub fn code_hash(&mut self, account: impl Into<AccountId>, is_standard: bool) -> Read<B256> {
        let index = self.locate(account.into());
        if !self.exists_at(index)? {
            return Ok(B256::ZERO);
        }
        self.note_read(index, Part::Mark);
        if !self.load_mark(index)?.current {
            return Ok(EMPTY_CODE_HASH);
        }
        self.note_read(index, Part::Code);
        let without_entry = if is_standard { EMPTY_CODE_HASH } else { B256::ZERO };
        Ok(self.load_code(index)?.current.hash().unwrap_or(without_entry))
    }

    /// A storage cell as a word; none if it is absent or longer than a word.
    pub fn storage_word(&mut self, account: impl Into<AccountId>, slot: &U256) -> Read<Option<U256>> {
        let index = self.locate(account.into());
        self.storage_word_at(index, slot)
    }

    /// The bytes of a storage cell.
    pub fn storage_bytes(&mut self, account: impl Into<AccountId>, slot: &U256) -> Read<Option<Bytes>> {
        let index = self.locate(account.into());
        self.note_read(index, Part::Cell(*slot));
        let cell = self.load_cell(index, *slot)?;
        Ok(self.cell_at(cell).current.bytes())
    }

    /// Shows the slot of each storage cell of a contract once, until `visit` has seen enough.
    pub fn visit_cells(
        &mut self,
        account: impl Into<AccountId>,
        visit: &mut dyn FnMut(U256) -> ControlFlow<()>,
    ) -> Read<()> {
        let index = self.locate(account.into());
        let reader = Arc::clone(&self.reader);
        let prefix = keys::mark_key_of(self.account_at(index).key());
        let known = self.account_at(index).parts.cells.clone();
        let mut has_seen_enough = false;
        if self.account_at(index).parts.deletion == Deletion::None {
            reader.visit_keys(&prefix, &mut |key| {
                let Some(StateKey { part: KeyPart::Slot(slot), .. }) = StateKey::parse(key) else {
                    return ControlFlow::Continue(());
                };
                let slot = U256::from_be_bytes(slot.0);
                if known.contains_key(&slot) {
                    return ControlFlow::Continue(());
                }
                let next = visit(slot);
                has_seen_enough = next.is_break();
                next
            })?;
        }
        for (slot, cell) in known {
            if has_seen_enough || !self.cell_at(cell).current.is_absent() && visit(slot).is_break() {
                break;
            }
        }
        Ok(())
    }

    pub(crate) fn exists_at(&mut self, index: AccountIndex) -> Read<bool> {
        Ok(self.account_value(index)?.is_some())
    }

    pub(crate) fn balance_at(&mut self, index: AccountIndex) -> Read<I256> {
        Ok(self.account_value(index)?.as_ref().map(|account| account.balance).unwrap_or_default())
    }

    #[inline]
    pub(crate) fn storage_word_at(&mut self, index: AccountIndex, slot: &U256) -> Read<Option<U256>> {
        self.note_read(index, Part::Cell(*slot));
        let cell = self.load_cell(index, *slot)?;
        Ok(self.cell_at(cell).current.word())
    }

    /// True if there is a cell, be it one that holds zero.
    #[inline]
    pub(crate) fn has_storage_at(&mut self, index: AccountIndex, slot: &U256) -> Read<bool> {
        self.note_read(index, Part::Cell(*slot));
        let cell = self.load_cell(index, *slot)?;
        Ok(!self.cell_at(cell).current.is_absent())
    }

    /// The code made ready to run; none if there is nothing to run.
    pub(crate) fn executable_code(
        &mut self,
        index: AccountIndex,
        has_old_opcodes: bool,
    ) -> Read<Option<ExecutableCode>> {
        if !self.has_readable_code(index)? {
            return Ok(None);
        }
        self.note_read(index, Part::Code);
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
        if let Code::Present { executable: slot, .. } = &mut self.load_code(index)?.current {
            *slot = Some(executable.clone());
        }
        Ok(Some(executable))
    }

    pub(super) fn account_value(&mut self, index: AccountIndex) -> Read<&Option<AccountState>> {
        self.note_read(index, Part::Account);
        Ok(&self.load_value(index)?.current)
    }

    fn has_readable_code(&mut self, index: AccountIndex) -> Read<bool> {
        Ok(self.account_value(index)?.as_ref().is_some_and(|account| !account.is_hibernated()))
    }

    /// Reads the bytes of known code once.
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
