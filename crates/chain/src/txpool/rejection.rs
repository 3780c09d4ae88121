//! Rejections of transactions by the pool.

use rhizome_primitives::{SignatureError, U256};
use rhizome_trie::StateError;

/// The first rule that a transaction breaks. The texts equal those of the reference if it has one: clients match on them.
#[derive(Debug, thiserror::Error)]
pub enum PoolRejection {
    /// The transaction is already pending.
    #[error("pending transaction with same hash already exists")]
    AlreadyPending,
    /// The transaction is already queued.
    #[error("queued transaction with same hash already exists")]
    AlreadyQueued,
    /// The signature is not valid, so there is no sender.
    #[error("the transaction has no sender: {0}")]
    NoSender(#[from] SignatureError),
    /// Signed for another chain, or with a value of `s` that is not the lower one.
    #[error("the signature is not valid on this chain")]
    SignatureNotAccepted,
    /// The sender has no account.
    #[error("the sender account doesn't exist")]
    NoAccount,
    /// A creation with too much init code (RSKIP-438).
    #[error("transaction's init code size is invalid")]
    InitCodeSize,
    /// An encoding that is too long.
    #[error("transaction's size is higher than defined maximum: {size} > {limit}")]
    Size {
        /// Bytes found.
        size: usize,
        /// Bytes allowed.
        limit: usize,
    },
    /// The transaction has the form of the REMASC transaction.
    #[error("transaction is a remasc transaction")]
    Remasc,
    /// More gas than fits into a block or below the cap of 2^60.
    #[error("transaction's gas limit of {gas_limit} is higher than the block's gas limit of {limit}")]
    GasLimit {
        /// Of the transaction.
        gas_limit: U256,
        /// Maximum gas of a transaction.
        limit: U256,
        /// Gas limit of the block.
        block_limit: U256,
    },
    /// A nonce of more than eight bytes.
    #[error("transaction nonce byte length exceeds maximum: {length} > 8")]
    NonceLength {
        /// Bytes found.
        length: usize,
    },
    /// A nonce with leading zeros.
    #[error("transaction nonce has non-canonical encoding")]
    NonceEncoding,
    /// A nonce that the account has used.
    #[error("transaction nonce too low")]
    NonceTooLow,
    /// A nonce too far ahead of the account's.
    #[error("transaction nonce too high")]
    NonceTooHigh,
    /// The balance does not pay for the gas.
    #[error("insufficient funds")]
    InsufficientFunds,
    /// A gas price below the minimum of the best block.
    #[error("transaction's gas price lower than block's minimum")]
    GasPriceTooLow,
    /// A gas limit below the intrinsic cost.
    #[error("transaction's basic cost is above the gas limit")]
    IntrinsicGas,
    /// A gas price above 80 times the minimum of the best block (RSKIP-252).
    #[error("transaction's gas price exceeds cap")]
    GasPriceTooHigh,
    /// The price is not high enough above that of the pending transaction with the same nonce.
    #[error("gas price not enough to bump transaction")]
    Underpriced,
    /// The rate limiter rejects the transaction.
    #[error("account exceeds quota")]
    QuotaExceeded,
    /// The balance does not pay for this and all other pending transactions of the sender.
    #[error("insufficient funds to pay for pending and new transactions")]
    InsufficientFundsForAll,
    /// The pool is full of transactions that pay at least as much.
    #[error("the transaction pool is full")]
    Full,
    /// The state of the best block could not be read: a failure of the node.
    #[error(transparent)]
    State(#[from] StateError),
}
