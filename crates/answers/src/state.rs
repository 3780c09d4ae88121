//! What answers read from a state: accounts, code and cells.

use crate::error::RpcError;
use crate::node::Node;
use crate::selector::Selector;
use rhizome_primitives::{Address, B256, Bytes, U256};
use rhizome_trie::{AccountState, StateReader, keys};

/// The account at an address, in the state after a block.
pub(crate) fn account_at(node: &Node, at: &Selector<'_>, address: &Address) -> Result<AccountState, RpcError> {
    match at.kept_head(node) {
        Some(head) => head.account(address),
        None => account(&*at.state(node)?, address),
    }
}

/// The stored bytes of a cell, in the state after a block.
pub(crate) fn cell_at(node: &Node, at: &Selector<'_>, address: &Address, position: &U256) -> Result<Bytes, RpcError> {
    match at.kept_head(node) {
        Some(head) => head.cell(address, position),
        None => cell(&*at.state(node)?, address, position),
    }
}

/// The account at an address; an unknown one is empty.
pub(crate) fn account(state: &dyn StateReader, address: &Address) -> Result<AccountState, RpcError> {
    match state.get(&keys::account_key(address.as_slice()))? {
        Some(value) => AccountState::decode(&value).map_err(RpcError::internal),
        None => Ok(AccountState::default()),
    }
}

/// The code of a contract; empty where there is none.
pub(crate) fn code(state: &dyn StateReader, address: &Address) -> Result<Bytes, RpcError> {
    Ok(state.get(&keys::code_key(address.as_slice()))?.unwrap_or_default())
}

/// The stored bytes of a cell: words without leading zeros, nothing for an empty cell.
pub(crate) fn cell(state: &dyn StateReader, address: &Address, position: &U256) -> Result<Bytes, RpcError> {
    let key = keys::storage_key(address.as_slice(), &B256::from(position.to_be_bytes::<32>()));
    Ok(state.get(&key)?.unwrap_or_default())
}
