//! Block 0 of a chain and its state.

use std::sync::Arc;

use rhizome_primitives::{Address, B256, Block, Bytes, ChainSpec, GenesisAccount, Header, I256, U256};

use crate::account::AccountState;
use crate::activation::activation_delta;
use crate::error::TrieError;
use crate::keys::{MARK, account_key, code_key_of, mark_key_of, storage_key_of};
use crate::source::NodeSource;
use crate::state::{StateDelta, StateError};
use crate::trie::Trie;

/// Failure to build the genesis block of a chain specification.
#[derive(Debug, thiserror::Error)]
pub enum GenesisError {
    /// The state could not be built.
    #[error(transparent)]
    State(#[from] StateError),
    /// A balance does not fit into 255 bits.
    #[error("the balance of {address} is too large")]
    Balance {
        /// Address of the account.
        address: Address,
    },
    /// The genesis block has a different hash than the chain specification states.
    #[error("the genesis block has the hash {got}, the chain specification states {expected}")]
    Hash {
        /// Hash in the specification.
        expected: B256,
        /// Hash of the block built from the specification.
        got: B256,
    },
}

impl From<TrieError> for GenesisError {
    fn from(error: TrieError) -> Self {
        GenesisError::State(error.into())
    }
}

/// Builds the genesis block and the state after it (docs/spec/state.md, 5). The trie is not committed yet.
///
/// The state root of the header is that of the trie, unless the specification states another (networks that started
/// with the old format).
pub fn genesis(spec: &ChainSpec, source: Arc<dyn NodeSource>) -> Result<(Block, Trie), GenesisError> {
    let mut trie = Trie::empty(source);
    trie.apply(&alloc_delta(spec)?)?;
    trie.apply(&activation_delta(spec, 0, &trie)?)?;
    let header = Header::genesis(spec, trie.root_hash());
    let block = Block { header, transactions: Vec::new(), uncles: Vec::new() };
    let got = block.hash();
    match spec.genesis.expected_hash {
        Some(expected) if expected != got => Err(GenesisError::Hash { expected, got }),
        _ => Ok((block, trie)),
    }
}

/// Returns the accounts of the specification, without those of precompiles.
pub fn alloc_delta(spec: &ChainSpec) -> Result<StateDelta, GenesisError> {
    let mut delta = StateDelta::default();
    for account in &spec.genesis.alloc {
        add_account(&mut delta, account)?;
    }
    Ok(delta)
}

fn add_account(delta: &mut StateDelta, account: &GenesisAccount) -> Result<(), GenesisError> {
    let GenesisAccount { address, balance, nonce, code, storage } = account;
    let key = account_key(address.as_slice());
    if let Some(code) = code {
        delta.writes.insert(mark_key_of(&key), Some(Bytes::from_static(MARK)));
        delta.writes.insert(code_key_of(&key), Some(code.clone()));
    }
    for (slot, slot_value) in storage {
        delta.writes.insert(storage_key_of(&key, slot), Some(slot_value.clone()));
    }
    let too_large = |_error| GenesisError::Balance { address: *address };
    let balance = I256::try_from(*balance).map_err(too_large)?;
    let state = AccountState { nonce: U256::from(*nonce), balance, flags: 0 };
    delta.writes.insert(key, Some(state.encode()));
    Ok(())
}
