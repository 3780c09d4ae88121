//! Reads accounts, code and storage slots of a state.

use crate::error::RpcError;
use rhizome_primitives::{Address, B256, Bytes, U256};
use rhizome_trie::{AccountState, StateReader, keys};

/// Reads an account. An absent account is empty.
pub(crate) fn account(state: &dyn StateReader, address: &Address) -> Result<AccountState, RpcError> {
    match state.get(&keys::account_key(address.as_slice()))? {
        Some(value) => AccountState::decode(&value).map_err(RpcError::internal),
        None => Ok(AccountState::default()),
    }
}

/// Reads the code of a contract: empty if there is none.
pub(crate) fn code(state: &dyn StateReader, address: &Address) -> Result<Bytes, RpcError> {
    Ok(state.get(&keys::code_key(address.as_slice()))?.unwrap_or_default())
}

/// Reads a storage slot: a word without leading zeros, empty for zero.
pub(crate) fn slot(state: &dyn StateReader, address: &Address, position: &U256) -> Result<Bytes, RpcError> {
    let key = keys::storage_key(address.as_slice(), &B256::from(position.to_be_bytes::<32>()));
    Ok(state.get(&key)?.unwrap_or_default())
}
