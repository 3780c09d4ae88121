use rhizome_primitives::{Address, B256, Transaction, U256};

/// A transaction in the pool.
#[derive(Debug)]
pub struct PooledTransaction {
    /// The transaction.
    pub transaction: Transaction,
    /// Its sender.
    pub sender: Address,
    /// Its hash.
    pub hash: B256,
    /// Its nonce.
    pub nonce: u64,
    /// Length of its encoding, in bytes.
    pub size: usize,
    /// Its maximum cost for the sender, in wei.
    pub(super) highest_cost: U256,
    /// Whether the receiver is a contract or absent: the rate limiter ignores such receivers.
    pub(super) is_to_contract: bool,
    /// Number of the arrival.
    pub(super) sequence: u64,
    pub(super) arrived_seconds: u64,
    pub(super) arrived_block: u64,
}

/// An admitted transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdmittedTransaction {
    /// Its hash.
    pub hash: B256,
    /// Its sender.
    pub sender: Address,
    /// Whether it can be mined now. Otherwise it waits for a lower nonce.
    pub is_pending: bool,
    /// Transactions that became pending with it, itself first.
    pub now_pending: Vec<B256>,
}

/// Maximum gas of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransactionGas {
    /// Maximum gas of one transaction.
    pub limit: U256,
    /// Gas limit of the block.
    pub block_limit: U256,
}
