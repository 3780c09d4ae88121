//! The account of the Bridge in memory.

use rhizome_bridge::{Call, CallMode, Host};
use rhizome_primitives::{Address, Bytes, ChainSpec, DecodeError, I256, Network, U256, keccak256, rlp};
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

/// Returns a call by a transaction in block 1000 of regtest, with all rules of that network.
pub(crate) fn regtest_call(caller: Address) -> Call<'static> {
    Call {
        network: Network::Regtest,
        rules: ChainSpec::regtest().rules(1_000),
        block_number: 1_000,
        block_timestamp: 1_700_000_000,
        caller,
        value: U256::ZERO,
        mode: CallMode::Call,
        is_direct: true,
        is_local: false,
        transaction_hash: keccak256("transaction"),
        origin_transaction_hash: keccak256("transaction"),
        public_key: &|| None,
        is_past_deadline: &|| false,
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
