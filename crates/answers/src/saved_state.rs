//! The accounts of a development network as one JSON object in the format of anvil (`anvil_dumpState`, `--state`).
//!
//! The object has `accounts`, by address: `nonce`, `balance`, `code` and `storage`. Other members of anvil (`block`, `blocks`,
//! `transactions`, ...) describe blocks of Ethereum: they are written empty and not read.

pub mod file;
mod read;
mod write;

use crate::error::{ErrorCode, RpcError};
use crate::node::Node;
use crate::saved_state::read::SavedAccount;
use rhizome_evm::{Deadline, State};
use rhizome_primitives::{Address, U256};
use rhizome_trie::StateError;
use std::io;

/// Longest JSON text of a state.
const MAX_BYTES: usize = 256 << 20;

/// Why a text is not a state that can be loaded.
#[derive(Debug, thiserror::Error)]
pub enum SavedStateError {
    /// It is too long, compressed or not.
    #[error("it is longer than {MAX_BYTES} bytes")]
    TooLong,
    /// It begins like a gzip file, but is damaged.
    #[error("its compression (gzip) is damaged: {0}")]
    Compression(#[source] io::Error),
    /// It is no JSON text in the format of anvil.
    #[error("expected a JSON object in the format of anvil: {0}")]
    Format(#[source] serde_json::Error),
    /// A balance that no account can have.
    #[error("account {0}: the balance is 2^255 wei or more")]
    Balance(Address),
}

/// Returns the JSON text of the state of the head, of at most `max_bytes`. Fails outside development networks.
pub(crate) fn dump(node: &Node, max_bytes: usize) -> Result<Vec<u8>, RpcError> {
    let head = node.require_development()?.head();
    node.with_state_trie(&head.record, &Deadline::none(), |trie| write::json(&trie, max_bytes.min(MAX_BYTES)))
}

/// Writes the accounts of a state, as JSON or compressed by gzip, over those of the head. Accounts and storage slots that the
/// state does not name stay. Nothing is changed if it cannot be read. Returns the number of accounts.
pub(crate) fn load(node: &Node, bytes: &[u8]) -> Result<usize, LoadError> {
    node.require_no_fleet("anvil_loadState")?;
    let chain = node.require_development()?;
    let accounts = read::accounts(bytes)?;
    let count = accounts.len();
    chain
        .change_state(move |state| accounts.into_iter().try_for_each(|account| set(state, account)))
        .map_err(RpcError::from)?;
    Ok(count)
}

/// Why a state was not loaded.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LoadError {
    /// The state is no good.
    #[error(transparent)]
    State(#[from] SavedStateError),
    /// The node cannot load it.
    #[error(transparent)]
    Node(#[from] RpcError),
}

impl LoadError {
    /// The error of a request or of a start; `name` is that of the state.
    fn named(self, name: &str, code: ErrorCode) -> RpcError {
        match self {
            Self::State(fault) => RpcError::new(code, format!("Invalid {name}: {fault}")),
            Self::Node(error) => error,
        }
    }

    /// The error of a request whose parameter is the state.
    pub(crate) fn of_parameter(self) -> RpcError {
        self.named("state", ErrorCode::InvalidParams)
    }
}

fn set(state: &mut State, account: SavedAccount) -> Result<(), StateError> {
    let SavedAccount { address, nonce, balance, code, storage } = account;
    // As in anvil: a nonce never goes back, otherwise contracts would be created twice at one address.
    let nonce = state.nonce(address)?.max(U256::from(nonce));
    state.set_nonce(address, nonce)?;
    state.set_balance(address, balance)?;
    if !code.is_empty() || !storage.is_empty() {
        state.setup_contract(address)?;
    }
    state.save_code(address, code)?;
    storage.into_iter().try_for_each(|(slot, word)| state.set_storage_word(address, slot, word))
}

#[cfg(test)]
mod tests;
