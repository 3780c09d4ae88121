//! Genesis block in a chain specification. Its state root is computed in the trie crate.

use alloy_primitives::{Address, B256, Bytes, I256, U256};

/// Accounts and header fields of block 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GenesisSpec {
    /// Accounts in the order of the specification.
    pub alloc: Vec<GenesisAccount>,
    /// Parent hash, 32 zero bytes on all networks.
    pub parent_hash: B256,
    /// Address of the miner.
    pub coinbase: Address,
    /// Difficulty as a signed big-endian number. The header contains exactly these bytes, including leading zeros.
    pub difficulty: Bytes,
    /// Gas limit, written into the header without leading zeros.
    pub gas_limit: u64,
    /// Timestamp in seconds.
    pub timestamp: u64,
    /// Extra data.
    pub extra_data: Bytes,
    /// Wei for each unit of gas; `None` is encoded as an empty string.
    pub minimum_gas_price: Option<I256>,
    /// First mining element: the Bitcoin header.
    pub bitcoin_header: Bytes,
    /// Second mining element: the Merkle proof.
    pub merkle_proof: Bytes,
    /// Third mining element: the Bitcoin coinbase.
    pub bitcoin_coinbase: Bytes,
    /// State root of the header, if it is not the root of the state in the current format (mainnet, testnet).
    pub state_root: Option<B256>,
    /// Hash of the genesis block, if the specification states it.
    pub expected_hash: Option<B256>,
}

impl GenesisSpec {
    /// Sets the balance of an account. This changes the genesis hash, so the expected hash is removed.
    pub fn fund(&mut self, address: Address, balance: U256) {
        self.expected_hash = None;
        match self.alloc.iter_mut().find(|account| account.address == address) {
            Some(account) => account.balance = balance,
            None => self.alloc.push(GenesisAccount { address, balance, nonce: 0, code: None, storage: Vec::new() }),
        }
    }
}

/// Account of the genesis state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GenesisAccount {
    /// Address of the account.
    pub address: Address,
    /// Balance in wei.
    pub balance: U256,
    /// Initial nonce.
    pub nonce: u64,
    /// `Some` makes the account a contract, even if the code is empty.
    pub code: Option<Bytes>,
    /// Storage slots: number and raw value.
    pub storage: Vec<(B256, Bytes)>,
}
