//! Writes a state.

use crate::error::RpcError;
use crate::json::JsonWriter;
use crate::response_limit;
use rhizome_primitives::{Address, BRIDGE, Bytes, REMASC, U256};
use rhizome_trie::keys::{self, KeyPart, StateKey};
use rhizome_trie::{AccountState, StateError, Trie};

/// Accounts that are left out: their storage belongs to the blocks of one chain.
const OF_THE_CHAIN: [Address; 2] = [BRIDGE, REMASC];

/// Returns the JSON text of a state. Fails if it is longer than `max_bytes`.
pub(super) fn json(state: &Trie, max_bytes: usize) -> Result<Vec<u8>, RpcError> {
    let mut json = JsonWriter::new();
    json.begin_object();
    json.key("block").null();
    json.key("accounts").begin_object();
    let mut current: Option<OpenAccount> = None;
    for entry in state.entries() {
        let (key, value) = entry.map_err(StateError::from)?;
        let Some(StateKey { address, part }) = StateKey::parse(&key) else { continue };
        // The sender of REMASC transactions has another length.
        let Ok(address) = Address::try_from(address) else { continue };
        if OF_THE_CHAIN.contains(&address) {
            continue;
        }
        // The keys of an account follow each other.
        if current.as_ref().is_none_or(|open| open.address != address)
            && let Some(done) = current.replace(OpenAccount::new(address))
        {
            done.write(&mut json);
        }
        let Some(open) = &mut current else { continue };
        match part {
            KeyPart::Account => open.value = AccountState::decode(&value).map_err(RpcError::internal)?,
            KeyPart::Code => open.code = value,
            KeyPart::Mark => {}
            KeyPart::Slot(slot) => {
                // Only slots of the Bridge are longer than a word.
                let word = keys::decode_slot_value(&value).unwrap_or_default();
                open.storage.data_key(slot.as_slice()).word(&word);
                response_limit::check(&open.storage, max_bytes)?;
            }
        }
        response_limit::check(&json, max_bytes)?;
    }
    if let Some(last) = current {
        last.write(&mut json);
    }
    json.end_object();
    json.key("best_block_number").null();
    for list in ["blocks", "transactions"] {
        json.key(list).begin_array();
        json.end_array();
    }
    json.key("historical_states").null();
    json.end_object();
    response_limit::check(&json, max_bytes)?;
    Ok(json.finish())
}

/// An account whose keys are being read.
struct OpenAccount {
    address: Address,
    value: AccountState,
    code: Bytes,
    storage: JsonWriter,
}

impl OpenAccount {
    fn new(address: Address) -> Self {
        let mut storage = JsonWriter::new();
        storage.begin_object();
        Self { address, value: AccountState::default(), code: Bytes::new(), storage }
    }

    fn write(mut self, json: &mut JsonWriter) {
        self.storage.end_object();
        json.data_key(self.address.as_slice()).begin_object();
        json.key("nonce").raw(self.value.nonce.saturating_to::<u64>().to_string().as_bytes());
        let balance = U256::try_from(self.value.balance).unwrap_or_default();
        json.key("balance").quantity_wide(&balance);
        json.key("code").data(&self.code);
        json.key("storage").raw(&self.storage.finish());
        json.end_object();
    }
}
