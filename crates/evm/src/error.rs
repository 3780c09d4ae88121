//! Errors of executions without a result. A failed transaction is a result, not an error.

use rhizome_primitives::{Address, U256};
use rhizome_trie::StateError;

/// The reason why an execution has no result.
#[derive(Debug, thiserror::Error)]
pub enum ExecError {
    /// The state overrides of a local call are invalid.
    #[error(transparent)]
    Override(#[from] OverrideRefusal),
    /// A transaction is not valid at this position of the block. The state is unchanged.
    #[error("transaction {index} is refused: {reason}")]
    Refused {
        /// Position in the block.
        index: usize,
        /// The failed check.
        reason: TransactionRefusal,
    },
    /// Two parallel sublists accessed the same trie key, at least one of them writing (RSKIP-144).
    #[error("the parallel sublists conflict")]
    Conflict,
    /// A transaction of a parallel sublist called the Bridge or REMASC (RSKIP-144).
    #[error("transaction {index} calls the Bridge or REMASC outside of the sequential sublist")]
    SequentialContract {
        /// Position in the block.
        index: usize,
    },
    /// The sublist edges do not fit the transactions (RSKIP-144).
    #[error("the sublist edges do not fit {transactions} transactions")]
    Edges {
        /// Number of transactions in the block.
        transactions: usize,
    },
    /// The number of senders differs from that of the transactions.
    #[error("{senders} senders were given for {transactions} transactions")]
    Senders {
        /// Number of senders.
        senders: usize,
        /// Number of transactions in the block.
        transactions: usize,
    },
    /// The reference aborts with an internal error, so no valid block contains this transaction.
    #[error("transaction {index} cannot be executed: {reason}")]
    Unexecutable {
        /// Position in the block; 0 in local calls.
        index: usize,
        /// The internal error.
        reason: Unexecutable,
    },
    /// The state could not be read.
    #[error(transparent)]
    State(#[from] StateError),
    /// The storage of the Bridge could not be read.
    #[error("{method} of the Bridge: {source}")]
    Bridge {
        /// Method that reads it.
        method: Box<str>,
        /// The failure.
        source: Box<StateError>,
    },
    /// The ancestors of the block could not be read.
    #[error(transparent)]
    Ancestry(#[from] AncestryError),
    /// The inspector has stopped the execution.
    #[error("the inspector ended the execution")]
    StoppedByInspector,
    /// The deadline has passed, or the call was cancelled.
    #[error("the execution was stopped before its end")]
    DeadlineExceeded,
}

/// The failed check of a transaction, in the order of the checks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TransactionRefusal {
    /// Init code longer than 49152 bytes (RSKIP-438).
    #[error("the init code has {length} bytes")]
    InitCodeSize {
        /// In bytes.
        length: usize,
    },
    /// The gas limit exceeds the gas left in the block or sublist.
    #[error("gas limit {gas_limit} does not fit, {used} of {limit} are used")]
    BlockGas {
        /// Gas limit of the transaction.
        gas_limit: u64,
        /// Gas used by earlier transactions of the block or sublist.
        used: u64,
        /// Gas limit of the block or sublist.
        limit: u64,
    },
    /// The gas limit is below the intrinsic gas.
    #[error("gas limit {gas_limit} is below the intrinsic cost {intrinsic}")]
    IntrinsicGas {
        /// Gas limit of the transaction.
        gas_limit: u64,
        /// Intrinsic gas.
        intrinsic: u64,
    },
    /// The nonce is not the next nonce of the sender.
    #[error("nonce {nonce}, expected {expected}")]
    Nonce {
        /// Nonce of the transaction.
        nonce: U256,
        /// Nonce of the sender.
        expected: U256,
    },
    /// The balance of the sender does not cover value and gas.
    #[error("the balance of the sender is too low")]
    Balance,
    /// The signature is missing, malleable, out of range or for another chain.
    #[error("the signature is not acceptable")]
    Signature,
}

/// Internal errors of the reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unexecutable {
    /// A call of BLAKE2 without data before RSKIP-552.
    #[error("BLAKE2 without data")]
    BlakeWithoutData,
    /// The first frame halted for a reason without a message, from which the reference builds no receipt.
    #[error("a failure without a text")]
    SilentHalt,
    /// The gas of a local call is below its intrinsic gas.
    #[error("the gas limit does not cover the cost")]
    LocalGas,
    /// An amount that the reference cannot represent.
    #[error("an amount of 2^255 wei or more")]
    Amount,
    /// Code runs in a block whose gas limit has more than 32 bytes.
    #[error("a block gas limit of more than 32 bytes")]
    BlockGasLimit,
}

/// Why state overrides are invalid. The messages are those of the reference, if it has one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OverrideRefusal {
    /// Override of the state of a precompile.
    #[error("Precompiled contracts can not be overridden")]
    Precompile(Address),
    /// The new address of a precompile is an overridden account.
    #[error("Precompiled contracts can not be moved to an overridden address")]
    MovedToOverridden(Address),
    /// Two precompiles at one address.
    #[error("Account {0} is already overridden")]
    MovedTwice(Address),
    /// The account is no precompile, or must not be moved.
    #[error("Account {0} can not be moved")]
    NotMovable(Address),
    /// Both all storage slots and single slots are overridden.
    #[error("state and stateDiff cannot be set at the same time")]
    StateAndDiff(Address),
}

/// The ancestors of the executing block could not be read.
#[derive(Debug, thiserror::Error)]
#[error("the ancestor {number} could not be read: {reason}")]
pub struct AncestryError {
    /// Number of the requested block.
    pub number: u64,
    /// The error of the source.
    #[source]
    pub reason: Box<dyn std::error::Error + Send + Sync>,
}
