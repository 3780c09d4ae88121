//! Why an execution ended without a result. Failures of transactions that run are results, not errors.

use rhizome_primitives::{Address, B256, U256};
use rhizome_trie::StateError;

/// An execution that cannot have a result.
#[derive(Debug, thiserror::Error)]
pub enum ExecError {
    /// What a local execution should pretend is not possible.
    #[error(transparent)]
    Override(#[from] OverrideRefusal),
    /// A transaction may not stand in this block at this place. Nothing was changed by it.
    #[error("transaction {index} is refused: {reason}")]
    Refused {
        /// Position in the block.
        index: usize,
        /// The check that failed.
        reason: TransactionRefusal,
    },
    /// Two parallel sublists touched the same trie key, one of them writing (RSKIP-144).
    #[error("the parallel sublists conflict")]
    Conflict,
    /// A parallel sublist reached the Bridge or REMASC (RSKIP-144).
    #[error("transaction {index} calls the Bridge or REMASC outside of the sequential sublist")]
    SequentialContract {
        /// Position in the block.
        index: usize,
    },
    /// The edges do not cut the transactions into sublists (RSKIP-144).
    #[error("the sublist edges do not fit {transactions} transactions")]
    Edges {
        /// Number of transactions in the block.
        transactions: usize,
    },
    /// There is not one sender for every transaction.
    #[error("{senders} senders were given for {transactions} transactions")]
    Senders {
        /// Number of senders.
        senders: usize,
        /// Number of transactions in the block.
        transactions: usize,
    },
    /// The reference breaks off with an error of its own, so that no valid block holds this transaction.
    #[error("transaction {index} cannot be executed: {reason}")]
    Unexecutable {
        /// Position in the block; 0 in local execution.
        index: usize,
        /// What it breaks off at.
        reason: Unexecutable,
    },
    /// A part of the Bridge is needed that is not implemented, and a guess would be a wrong state.
    #[error(
        "bridge part not implemented: {part} (stage {stage}), needed by transaction {index} ({hash}) of block {number}"
    )]
    BridgePart {
        /// The method, or the cell that has a value of a later stage.
        part: &'static str,
        /// The stage that brings it (bridge chapter 14.2).
        stage: u8,
        /// Number of the executing block.
        number: u64,
        /// Position in the block; 0 in local execution.
        index: usize,
        /// Hash of the transaction; zero in local execution.
        hash: B256,
    },
    /// The members of the federation cannot be told without the Bridge.
    #[error("the federation of block {number} is not the genesis federation")]
    UnknownFederation {
        /// Number of the executing block.
        number: u64,
    },
    /// The state could not be read.
    #[error(transparent)]
    State(#[from] StateError),
    /// The ancestors of the block could not be read.
    #[error(transparent)]
    Ancestry(#[from] AncestryError),
    /// Whoever looked on has seen enough.
    #[error("the inspector ended the execution")]
    StoppedByInspector,
    /// Cancelled, or out of time.
    #[error("the execution was stopped before its end")]
    DeadlineExceeded,
}

/// The check before execution that a transaction fails, in the order in which they are made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TransactionRefusal {
    /// Init code longer than 49152 bytes (RSKIP-438).
    #[error("the init code has {length} bytes")]
    InitCodeSize {
        /// In bytes.
        length: usize,
    },
    /// Does not fit into what is left of the block or sublist.
    #[error("gas limit {gas_limit} does not fit, {used} of {limit} are used")]
    BlockGas {
        /// Gas limit of the transaction.
        gas_limit: u64,
        /// Gas used before it in the block or sublist.
        used: u64,
        /// Gas limit of the block or sublist.
        limit: u64,
    },
    /// The gas limit does not pay for the transaction itself.
    #[error("gas limit {gas_limit} is below the intrinsic cost {intrinsic}")]
    IntrinsicGas {
        /// Gas limit of the transaction.
        gas_limit: u64,
        /// What it costs before any code runs.
        intrinsic: u64,
    },
    /// Not the next nonce of the sender.
    #[error("nonce {nonce}, expected {expected}")]
    Nonce {
        /// Nonce of the transaction.
        nonce: U256,
        /// Nonce of the sender.
        expected: U256,
    },
    /// The sender cannot pay value and gas.
    #[error("the balance of the sender is too low")]
    Balance,
    /// The signature is missing, malleable, out of range or for another chain.
    #[error("the signature is not acceptable")]
    Signature,
}

/// What makes the reference break off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unexecutable {
    /// BLAKE2 called without data before RSKIP-552.
    #[error("BLAKE2 without data")]
    BlakeWithoutData,
    /// The top frame halted for a reason without a text, from which no receipt can be built.
    #[error("a failure without a text")]
    SilentHalt,
    /// A local call with less gas than it costs to do nothing.
    #[error("the gas limit does not cover the cost")]
    LocalGas,
    /// An amount that the reference cannot represent.
    #[error("an amount of 2^255 wei or more")]
    Amount,
}

/// Why nothing can be pretended like this. Words of the reference where it has some.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OverrideRefusal {
    /// A built-in contract has no state of its own to change.
    #[error("Precompiled contracts can not be overridden")]
    Precompile(Address),
    /// The new address is an overridden account.
    #[error("Precompiled contracts can not be moved to an overridden address")]
    MovedToOverridden(Address),
    /// Two built-in contracts at one address.
    #[error("Account {0} is already overridden")]
    MovedTwice(Address),
    /// Not a built-in contract, or one that must stay where it is.
    #[error("Account {0} can not be moved")]
    NotMovable(Address),
    /// Either all cells or single ones.
    #[error("state and stateDiff cannot be set at the same time")]
    StateAndDiff(Address),
}

/// The ancestors of the executing block could not be read.
#[derive(Debug, thiserror::Error)]
#[error("the ancestor {number} could not be read: {reason}")]
pub struct AncestryError {
    /// Number of the wanted block.
    pub number: u64,
    /// The failure as the source describes it.
    #[source]
    pub reason: Box<dyn std::error::Error + Send + Sync>,
}
