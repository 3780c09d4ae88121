use rhizome_evm::{ExecError, TransactionRefusal};
use rhizome_primitives::{Address, B256, U256};

/// A pending transaction that a block skips.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkippedTransaction {
    /// Its hash.
    pub hash: B256,
    /// Its sender.
    pub sender: Address,
    /// Its nonce.
    pub nonce: u64,
    /// Why it is not in the block.
    pub reason: WaitReason,
}

/// Reason why a transaction is not in the next block. The texts are shown to people.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WaitReason {
    /// More gas than one transaction can have in the block.
    #[error(
        "its gas limit of {gas} is above {limit}, the most of one transaction in the next block (gas limit {block_limit})"
    )]
    BlockGas {
        /// Of the transaction.
        gas: U256,
        /// The most that a transaction can have.
        limit: U256,
        /// Gas limit of the block.
        block_limit: U256,
    },
    /// Its nonce is not the next one: a transaction before it is missing.
    #[error("its nonce is {nonce}, and a transaction with nonce {next} is missing")]
    NonceGap {
        /// Of the transaction.
        nonce: u64,
        /// The next one of the account.
        next: u64,
    },
    /// A transaction of the same sender before it waits.
    #[error("the transaction with nonce {nonce} of the same sender is before it: {reason}")]
    Behind {
        /// Of the transaction before it.
        nonce: u64,
        /// Why the transaction before waits.
        reason: Box<WaitReason>,
    },
    /// Other transactions take the gas of the block.
    #[error("the next block is full")]
    NoRoom,
    /// A nonce that the account does not have when the transaction is executed.
    #[error("its nonce is {nonce}, the account's is {expected}")]
    Nonce {
        /// Of the transaction.
        nonce: U256,
        /// Of the account.
        expected: U256,
    },
    /// The sender cannot pay value and gas.
    #[error("the balance of its sender does not pay for value and gas")]
    Balance,
    /// A gas price that the block does not accept.
    #[error("its gas price of {price} does not fit the block's minimum of {minimum}")]
    Price {
        /// Of the transaction.
        price: U256,
        /// Minimum of the block.
        minimum: U256,
    },
    /// Fields that no block accepts.
    #[error("its fields are not valid in a block")]
    Fields,
    /// No valid block can contain the transaction.
    #[error("no block can hold it: {reason}")]
    Unexecutable {
        /// Error of the execution.
        reason: String,
    },
}

impl WaitReason {
    /// Whether the transaction leaves the pool when a block is made. Otherwise it may fit into a later one.
    pub fn is_final(&self) -> bool {
        matches!(self, Self::Price { .. } | Self::Fields | Self::Unexecutable { .. })
    }

    /// Whether the transaction would be in a block that had more gas left.
    pub(crate) fn is_lack_of_room(&self) -> bool {
        match self {
            Self::NoRoom => true,
            Self::Behind { reason, .. } => reason.is_lack_of_room(),
            _ => false,
        }
    }

    /// Converts the error of an execution into the reason for waiting. Failures of the node stay errors.
    pub(crate) fn of_refusal(error: ExecError) -> Result<Self, ExecError> {
        match error {
            ExecError::Refused { reason, .. } => Ok(match reason {
                TransactionRefusal::BlockGas { .. } => Self::NoRoom,
                TransactionRefusal::Nonce { nonce, expected } => Self::Nonce { nonce, expected },
                TransactionRefusal::Balance => Self::Balance,
                refusal => Self::Unexecutable { reason: refusal.to_string() },
            }),
            ExecError::Unexecutable { reason, .. } => Ok(Self::Unexecutable { reason: reason.to_string() }),
            failure => Err(failure),
        }
    }
}
