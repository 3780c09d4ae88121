//! States, blocks and transactions for tests.

use std::sync::Arc;

use rhizome_primitives::{Address, B256, Bytes, ChainSpec, I256, Transaction, U256, UnsignedTransaction, keccak256};
use rhizome_trie::{MemoryNodes, StateReader, Trie};

use crate::block_env::{AncestorBlock, Ancestry, AncestryError, BlockEnv};
use crate::state::State;

/// Returns a funded account whose key the tests have.
pub(crate) fn rich() -> Address {
    signed(0, None, &[], 0, 0).recover_sender().unwrap()
}

/// Returns the address of a test contract.
pub(crate) fn contract(byte: u8) -> Address {
    Address::repeat_byte(byte)
}

/// Returns a state with the funded account and contracts with the given code.
pub(crate) fn world(contracts: &[(Address, &[u8])]) -> Arc<dyn StateReader> {
    let mut trie = Trie::empty(Arc::new(MemoryNodes::default()));
    let mut state = State::new(Arc::new(trie.clone()));
    state.add_balance(rich(), I256::try_from(1_000_000_000_000_u64).unwrap()).unwrap();
    for (address, code) in contracts {
        state.setup_contract(*address).unwrap();
        state.save_code(*address, Bytes::copy_from_slice(code)).unwrap();
    }
    trie.apply(&state.into_delta()).unwrap();
    Arc::new(trie)
}

/// Returns a transaction of the funded account, at gas price 1.
pub(crate) fn signed(nonce: u64, to: Option<Address>, data: &[u8], gas: u64, value: u64) -> Transaction {
    let unsigned = UnsignedTransaction {
        nonce: U256::from(nonce),
        gas_price: U256::ONE,
        gas_limit: gas,
        to,
        value: U256::from(value),
        data: Bytes::copy_from_slice(data),
    };
    Transaction::sign(unsigned, ChainSpec::regtest().chain_id, &keccak256("cow")).unwrap()
}

pub(crate) fn env(number: u64) -> BlockEnv {
    BlockEnv {
        number,
        timestamp: 1,
        coinbase: Address::ZERO,
        difficulty: U256::ONE,
        gas_limit: 6_800_000,
        minimum_gas_price: U256::ZERO,
        parent_hash: B256::ZERO,
    }
}

/// An ancestry without blocks.
pub(crate) struct NoAncestors;

impl Ancestry for NoAncestors {
    fn ancestor(&self, _number: u64) -> Result<Option<Arc<AncestorBlock>>, AncestryError> {
        Ok(None)
    }
}
