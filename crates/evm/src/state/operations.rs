//! The changes of a state, with the side effects of the reference (docs/spec/state.md, 8.3).

use rhizome_primitives::{Bytes, I256, U256};
use rhizome_trie::account::AccountState;

use super::access::AccountPart;
use super::account::{AccountIndex, AccountParts, Deletion, SlotContent};
use super::code::Code;
use super::undo::Undo;
use super::{AccountId, Read, State};

impl State {
    /// Writes an account with nonce 0, balance 0 and no flags. Mark, code and storage stay.
    pub fn create_account(&mut self, account: impl Into<AccountId>) -> Read<()> {
        let index = self.locate(account.into());
        self.write_value(index, AccountState::default())
    }

    /// Does the same as [`State::create_account`], but preserves the balance.
    pub fn create_account_with_balance(&mut self, account: impl Into<AccountId>) -> Read<()> {
        let index = self.locate(account.into());
        let balance = self.balance_at(index)?;
        self.write_value(index, AccountState { balance, ..AccountState::default() })
    }

    /// Writes the contract mark. Does not create the account.
    pub fn setup_contract(&mut self, account: impl Into<AccountId>) -> Read<()> {
        let index = self.locate(account.into());
        self.write_mark(index)
    }

    /// Adds one to the nonce. Creates the account if absent.
    pub fn increase_nonce(&mut self, account: impl Into<AccountId>) -> Read<()> {
        let index = self.locate(account.into());
        let mut value = self.value_or_new(index)?;
        value.nonce = value.nonce.wrapping_add(U256::ONE);
        self.write_value(index, value)
    }

    /// Writes the nonce. Creates the account if absent.
    pub fn set_nonce(&mut self, account: impl Into<AccountId>, nonce: U256) -> Read<()> {
        let index = self.locate(account.into());
        let value = self.value_or_new(index)?;
        self.write_value(index, AccountState { nonce, ..value })
    }

    /// Sets the hibernation flag. Creates the account if absent.
    pub fn hibernate(&mut self, account: impl Into<AccountId>) -> Read<()> {
        let index = self.locate(account.into());
        let mut value = self.value_or_new(index)?;
        value.flags |= 1;
        self.write_value(index, value)
    }

    /// Adds to the balance without a check of the result. Creates the account if absent, also for zero.
    pub fn add_balance(&mut self, account: impl Into<AccountId>, amount: I256) -> Read<()> {
        let index = self.locate(account.into());
        self.add_balance_at(index, amount)
    }

    /// Writes the balance. Creates the account if absent.
    pub fn set_balance(&mut self, account: impl Into<AccountId>, balance: I256) -> Read<()> {
        let index = self.locate(account.into());
        let value = self.value_or_new(index)?;
        self.write_value(index, AccountState { balance, ..value })
    }

    /// Moves an amount. Creates both accounts if absent, also for zero.
    pub fn transfer(&mut self, from: impl Into<AccountId>, to: impl Into<AccountId>, amount: I256) -> Read<()> {
        self.add_balance(from, -amount)?;
        self.add_balance(to, amount)
    }

    /// Writes the code. Empty code is present until the end of the block, where the code is deleted. Code that is not
    /// empty creates the account if absent. The mark is not written.
    pub fn save_code(&mut self, account: impl Into<AccountId>, code: Bytes) -> Read<()> {
        let index = self.locate(account.into());
        let is_empty = code.is_empty();
        self.write_code(index, Code::saved(code))?;
        if !is_empty && !self.exists_at(index)? {
            self.write_value(index, AccountState::default())?;
        }
        Ok(())
    }

    /// Writes a storage slot as a word; zero removes it. An absent account is created and marked, also for zero.
    pub fn set_storage_word(&mut self, account: impl Into<AccountId>, slot: U256, word: U256) -> Read<()> {
        let index = self.locate(account.into());
        self.write_storage(index, slot, SlotContent::Word(word))
    }

    /// Writes the bytes of a storage slot; `None` or empty removes it. An absent account is created and marked.
    pub fn set_storage_bytes(&mut self, account: impl Into<AccountId>, slot: U256, bytes: Option<Bytes>) -> Read<()> {
        let index = self.locate(account.into());
        self.write_storage(index, slot, SlotContent::of_bytes(bytes.unwrap_or_default()))
    }

    /// Deletes the account with mark, code and storage. A later write creates a new account.
    pub fn delete(&mut self, account: impl Into<AccountId>) -> Read<()> {
        let index = self.locate(account.into());
        self.note_write(index, AccountPart::Account);
        let earlier = self.account_at(index).parts.deletion;
        let deletion = match earlier {
            Deletion::None if self.load_value(index)?.base.is_some() => Deletion::Whole,
            Deletion::None => Deletion::Hiding,
            Deletion::Whole | Deletion::Hiding => earlier,
        };
        let parts = &mut self.account_at(index).parts;
        let previous = Box::new(std::mem::replace(parts, AccountParts::deleted(deletion)));
        self.undo_log.push(Undo::Deletion { account: index, previous });
        Ok(())
    }

    /// Removes all storage slots of the account, and nothing else.
    pub fn clear_storage(&mut self, account: impl Into<AccountId>) -> Read<()> {
        let id = account.into();
        let (value, is_marked, code) = (self.account(id)?, self.is_contract(id)?, self.code(id)?);
        let index = self.locate(id);
        self.delete(id)?;
        if let Some(value) = value {
            self.write_value(index, value)?;
        }
        if is_marked {
            self.write_mark(index)?;
        }
        if let Some(code) = code.filter(|code| !code.is_empty()) {
            self.write_code(index, Code::saved(code))?;
        }
        Ok(())
    }

    pub(crate) fn set_storage_word_at(&mut self, index: AccountIndex, slot: U256, word: U256) -> Read<()> {
        self.write_storage(index, slot, SlotContent::Word(word))
    }

    pub(crate) fn add_balance_at(&mut self, index: AccountIndex, amount: I256) -> Read<()> {
        let mut value = self.value_or_new(index)?;
        if amount.is_zero() {
            return Ok(());
        }
        // The supply is far below the limit. Only overridden balances of local calls can reach it.
        value.balance = value.balance.saturating_add(amount);
        self.write_value(index, value)
    }

    fn value_or_new(&mut self, index: AccountIndex) -> Read<AccountState> {
        if let Some(value) = self.account_value(index)? {
            return Ok(*value);
        }
        self.write_value(index, AccountState::default())?;
        Ok(AccountState::default())
    }

    fn write_value(&mut self, index: AccountIndex, value: AccountState) -> Read<()> {
        self.note_write(index, AccountPart::Account);
        let record = self.load_value(index)?;
        let previous = record.current.replace(value);
        let was_written = std::mem::replace(&mut record.is_written, true);
        self.undo_log.push(Undo::Value { account: index, previous, was_written });
        Ok(())
    }

    fn write_mark(&mut self, index: AccountIndex) -> Read<()> {
        self.note_write(index, AccountPart::Mark);
        let record = self.load_mark(index)?;
        let previous = std::mem::replace(&mut record.current, true);
        let was_written = std::mem::replace(&mut record.is_written, true);
        self.undo_log.push(Undo::Mark { account: index, previous, was_written });
        Ok(())
    }

    fn write_code(&mut self, index: AccountIndex, code: Code) -> Read<()> {
        self.note_write(index, AccountPart::Code);
        let record = self.load_code(index)?;
        let previous = std::mem::replace(&mut record.current, code);
        let was_written = std::mem::replace(&mut record.is_written, true);
        self.undo_log.push(Undo::Code { account: index, previous, was_written });
        Ok(())
    }

    fn write_storage(&mut self, index: AccountIndex, slot: U256, value: SlotContent) -> Read<()> {
        if !self.exists_at(index)? {
            self.write_value(index, AccountState::default())?;
            self.write_mark(index)?;
        }
        self.note_write(index, AccountPart::Slot(slot));
        let slot = self.load_slot(index, slot)?;
        let record = self.slot_at(slot);
        let previous = std::mem::replace(&mut record.current, value);
        let was_written = std::mem::replace(&mut record.is_written, true);
        self.undo_log.push(Undo::Slot { slot, previous, was_written });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rhizome_primitives::Address;
    use rhizome_trie::{MemoryNodes, Trie, keys};

    use super::*;

    fn state() -> State {
        State::new(Arc::new(Trie::empty(Arc::new(MemoryNodes::default()))))
    }

    #[test]
    fn deleting_a_mark_without_account_hides_it_but_leaves_it_in_the_trie() {
        let address = Address::repeat_byte(3);
        let mut trie = Trie::empty(Arc::new(MemoryNodes::default()));
        trie.put(&keys::mark_key(address.as_slice()), keys::MARK).unwrap();
        let mut state = State::new(Arc::new(trie.clone()));
        state.delete(address).unwrap();
        assert!(!state.is_contract(address).unwrap());
        assert!(state.into_delta().is_empty());

        // A write after the deletion is a change, even of the same value.
        let mut state = State::new(Arc::new(trie));
        state.delete(address).unwrap();
        state.setup_contract(address).unwrap();
        assert_eq!(state.into_delta().writes.len(), 1);
    }

    #[test]
    fn reverts_a_deletion() {
        let address = Address::repeat_byte(4);
        let mut state = state();
        state.set_storage_word(address, U256::ONE, U256::from(5)).unwrap();
        let checkpoint = state.checkpoint();
        state.delete(address).unwrap();
        state.set_storage_word(address, U256::from(2), U256::from(6)).unwrap();
        assert_eq!(state.storage_word(address, &U256::ONE).unwrap(), None);
        state.revert(checkpoint);
        assert_eq!(state.storage_word(address, &U256::ONE).unwrap(), Some(U256::from(5)));
        assert_eq!(state.storage_word(address, &U256::from(2)).unwrap(), None);
    }

    #[test]
    fn accesses_stay_recorded_after_a_revert() {
        let [one, two] = [1, 2].map(Address::repeat_byte);
        let mut state = state();
        let mut record = |action: &dyn Fn(&mut State)| {
            let checkpoint = state.checkpoint();
            state.start_tracking();
            action(&mut state);
            state.revert(checkpoint);
            state.stop_tracking()
        };
        let write_one = record(&|state| state.add_balance(one, I256::ONE).unwrap());
        let read_one = record(&|state| assert!(state.balance(one).unwrap().is_zero()));
        let write_two = record(&|state| state.add_balance(two, I256::ONE).unwrap());
        let delete_one = record(&|state| state.delete(one).unwrap());
        let mark_one = record(&|state| state.setup_contract(one).unwrap());
        assert!(write_one.conflicts_with(&read_one) && read_one.conflicts_with(&write_one));
        assert!(write_one.conflicts_with(&write_one.clone()) && delete_one.conflicts_with(&read_one));
        assert!(!read_one.conflicts_with(&read_one.clone()) && !write_one.conflicts_with(&write_two));
        assert!(!mark_one.conflicts_with(&write_one));
    }
}
