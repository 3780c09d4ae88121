//! The first block of a chain as its specification describes it. The state root belongs to the crate that knows tries.

use alloy_primitives::{Address, B256, Bytes, I256, U256};

/// Accounts and header fields of block 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GenesisSpec {
    /// Accounts with their balances, in the order of the specification.
    pub alloc: Vec<GenesisAccount>,
    /// Parent hash, 32 zero bytes on all networks.
    pub parent_hash: B256,
    /// Address of the miner.
    pub coinbase: Address,
    /// Difficulty as a signed big-endian number, written into the header with these very bytes, leading zeros included.
    pub difficulty: Bytes,
    /// Gas limit, written into the header without leading zeros.
    pub gas_limit: u64,
    /// Seconds.
    pub timestamp: u64,
    /// Free bytes.
    pub extra_data: Bytes,
    /// Wei a unit of gas; `None` is written as an empty string.
    pub minimum_gas_price: Option<I256>,
    /// First mining element.
    pub bitcoin_header: Bytes,
    /// Second mining element.
    pub merkle_proof: Bytes,
    /// Third mining element.
    pub bitcoin_coinbase: Bytes,
    /// State root of the header if it is not the root of the state in the current format (mainnet, testnet).
    pub state_root: Option<B256>,
    /// The hash that the finished genesis block must have, when the specification names it.
    pub expected_hash: Option<B256>,
}

impl GenesisSpec {
    /// Gives an account this balance, and the genesis another hash by that.
    pub fn fund(&mut self, address: Address, balance: U256) {
        self.expected_hash = None;
        match self.alloc.iter_mut().find(|account| account.address == address) {
            Some(account) => account.balance = balance,
            None => self.alloc.push(GenesisAccount { address, balance, nonce: 0, code: None, storage: Vec::new() }),
        }
    }
}

/// An account that exists from the start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GenesisAccount {
    /// Its address.
    pub address: Address,
    /// Wei.
    pub balance: U256,
    /// Transactions or creations made so far.
    pub nonce: u64,
    /// `Some` makes the account a contract, also when the code is empty.
    pub code: Option<Bytes>,
    /// Storage cells: slot and raw cell bytes.
    pub storage: Vec<(B256, Bytes)>,
}
