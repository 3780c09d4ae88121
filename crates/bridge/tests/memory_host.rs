//! The account of the Bridge in memory.

use rhizome_bridge::Host;
use rhizome_primitives::{Address, Bytes, DecodeError, I256, U256, rlp};
use rhizome_trie::StateError;
use std::collections::HashMap;

/// Storage slots, and the balance of the Bridge in wei.
#[derive(Clone, Default)]
pub(crate) struct MemoryHost {
    pub(crate) slots: HashMap<U256, Bytes>,
    pub(crate) balance: I256,
}

impl MemoryHost {
    /// Writes the slot with a name.
    pub(crate) fn put(&mut self, name: &str, value: Vec<u8>) {
        self.slots.insert(U256::from_be_slice(name.as_bytes()), value.into());
    }

    /// Returns the elements of the RLP list in the slot with a name. An absent slot has no elements.
    pub(crate) fn list(&self, name: &str) -> Result<Vec<Vec<u8>>, DecodeError> {
        let Some(bytes) = self.slots.get(&U256::from_be_slice(name.as_bytes())) else { return Ok(Vec::new()) };
        Ok(rlp::decode_list(bytes)?.list("slot")?.iter().map(|item| item.bytes().to_vec()).collect())
    }
}

impl Host for MemoryHost {
    fn slot(&mut self, key: &U256) -> Result<Option<Bytes>, StateError> {
        Ok(self.slots.get(key).cloned())
    }

    fn set_slot(&mut self, key: U256, value: Bytes) -> Result<(), StateError> {
        self.slots.insert(key, value);
        Ok(())
    }

    fn balance(&mut self) -> Result<I256, StateError> {
        Ok(self.balance)
    }

    fn pay(&mut self, _to: Address, wei: U256) -> Result<(), StateError> {
        self.balance -= I256::from_raw(wei);
        Ok(())
    }
}
