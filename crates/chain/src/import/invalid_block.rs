use rhizome_evm::{TransactionRefusal, Unexecutable};
use rhizome_pow::{ForkDetectionError, HeaderRuleError, PowError, UncleRuleError};
use rhizome_primitives::{B256, Bloom, SignatureError, U256, hex};

/// The first rule that a block breaks, with the values that were compared.
#[derive(Debug, thiserror::Error)]
pub enum InvalidBlock {
    /// The parent field is not a hash.
    #[error("the parent hash has {length} bytes")]
    ParentHash {
        /// Its length.
        length: usize,
    },
    /// A field of a transaction is missing or too long.
    #[error("transaction {index} ({transaction}) has a missing or oversized field")]
    TransactionFields {
        /// Position in the block.
        index: usize,
        /// Its hash.
        transaction: B256,
    },
    /// A transaction has no sender.
    #[error("transaction {index} ({transaction}) has no sender: {reason}")]
    Sender {
        /// Position in the block.
        index: usize,
        /// Its hash.
        transaction: B256,
        /// Why no sender could be recovered.
        reason: SignatureError,
    },
    /// The nonces of a sender are not consecutive from its account on.
    #[error("transaction {index} ({transaction}) has nonce {nonce}, expected {expected}")]
    Nonce {
        /// Position in the block.
        index: usize,
        /// Its hash.
        transaction: B256,
        /// Its nonce.
        nonce: U256,
        /// The next nonce of its sender.
        expected: U256,
    },
    /// A rule about the header alone or with its parent.
    #[error(transparent)]
    Header(#[from] HeaderRuleError),
    /// A gas price below the block's minimum, or no minimum at all.
    #[error("transaction {index} ({transaction}) has gas price {price}, below the minimum {minimum:?}")]
    GasPriceTooLow {
        /// Position in the block.
        index: usize,
        /// Its hash.
        transaction: B256,
        /// Its gas price.
        price: U256,
        /// The block's minimum. `None` if missing or negative.
        minimum: Option<U256>,
    },
    /// A gas price above 100 times the block's minimum (RSKIP-252).
    #[error("transaction {index} ({transaction}) has gas price {price}, more than 100 times the minimum {minimum}")]
    GasPriceTooHigh {
        /// Position in the block.
        index: usize,
        /// Its hash.
        transaction: B256,
        /// Its gas price.
        price: U256,
        /// The block's minimum.
        minimum: U256,
    },
    /// The uncles.
    #[error(transparent)]
    Uncles(UncleRuleError),
    /// The header names other transactions.
    #[error("transactions root {header}, computed {computed}")]
    TransactionsRoot {
        /// Root in the header, in hex.
        header: String,
        /// Root of the transactions.
        computed: B256,
    },
    /// No valid proof of work.
    #[error(transparent)]
    ProofOfWork(PowError),
    /// The last transaction is not the REMASC transaction.
    #[error("the last of {count} transactions is not the REMASC transaction")]
    Remasc {
        /// Number of transactions.
        count: usize,
    },
    /// The fork detection data is wrong.
    #[error(transparent)]
    ForkDetection(ForkDetectionError),
    /// The sublist edges are not increasing positions inside the transaction list.
    #[error("sublist edges {edges:?} do not fit {count} transactions")]
    Edges {
        /// Edges in the header.
        edges: Vec<i16>,
        /// Number of transactions.
        count: usize,
    },
    /// The header cannot be written and read again with the same hash: its version is not one of its height.
    #[error("header version {version} at number {number} does not survive its own encoding")]
    Version {
        /// Version in the header.
        version: u8,
        /// Number of the block.
        number: u64,
    },
    /// The block must not contain a transaction.
    #[error("transaction {index} ({transaction}) cannot be executed: {reason}")]
    Transaction {
        /// Position in the block.
        index: usize,
        /// Its hash.
        transaction: B256,
        /// Why.
        reason: TransactionRefusal,
    },
    /// The reference aborts at a transaction.
    #[error("transaction {index} ({transaction}) cannot be executed: {reason}")]
    Unexecutable {
        /// Position in the block.
        index: usize,
        /// Its hash.
        transaction: B256,
        /// The operation at which it aborts.
        reason: Unexecutable,
    },
    /// Two parallel sublists touch the same state, one of them writing (RSKIP-144).
    #[error("the parallel sublists touch the same state")]
    SublistConflict,
    /// A parallel sublist calls the Bridge or REMASC (RSKIP-144).
    #[error("transaction {index} ({transaction}) calls the Bridge or REMASC outside of the sequential sublist")]
    SequentialContract {
        /// Position in the block.
        index: usize,
        /// Its hash.
        transaction: B256,
    },
    /// Another state after execution.
    #[error("state root {header}, computed {computed}")]
    StateRoot {
        /// Root in the header, in hex.
        header: String,
        /// Root after execution.
        computed: B256,
    },
    /// Another state after execution, for a block before RSKIP-126.
    #[error("state root {header} in the format before RSKIP-126, computed {computed}")]
    OldStateRoot {
        /// Root in the header, in hex.
        header: String,
        /// Root of the accounts in the old format.
        computed: B256,
    },
    /// Another state after execution than the specification of the chain states.
    #[error("state root {computed}, the specification of the chain states {expected}")]
    KnownStateRoot {
        /// Root in the specification.
        expected: B256,
        /// Root after execution.
        computed: B256,
    },
    /// Other receipts.
    #[error("receipts root {header}, computed {computed}")]
    ReceiptsRoot {
        /// Root in the header, in hex.
        header: String,
        /// Root of the receipts.
        computed: B256,
    },
    /// Another bloom.
    #[error("logs bloom {header}, computed {}", hex::encode_prefixed(computed.as_bytes()))]
    LogsBloom {
        /// Bloom in the header, in hex.
        header: String,
        /// Bloom of the receipts.
        computed: Box<Bloom>,
    },
    /// Other gas.
    #[error("gas used {header}, computed {computed}")]
    GasUsed {
        /// In the header.
        header: u64,
        /// Sum over the receipts.
        computed: u64,
    },
    /// Other fees.
    #[error("paid fees {header}, computed {computed}")]
    PaidFees {
        /// In the header.
        header: U256,
        /// Sum over the transactions.
        computed: U256,
    },
    /// The hash is remembered from an earlier import.
    #[error("block {hash} is known to be invalid: {reason}")]
    KnownInvalid {
        /// Hash of the block.
        hash: B256,
        /// The rule that it broke.
        reason: String,
    },
    /// The network has another block at this height.
    #[error("the block is {found}, the checkpoint of the network is {expected}")]
    Checkpoint {
        /// Hash of the checkpoint.
        expected: B256,
        /// Hash of the block.
        found: B256,
    },
    /// An ancestor, stored without execution, turned out to be invalid.
    #[error("its ancestor {number} ({hash}) is invalid: {reason}")]
    Ancestor {
        /// Number of the ancestor.
        number: u64,
        /// Hash of the ancestor.
        hash: B256,
        /// The rule that it breaks.
        reason: String,
    },
}

impl InvalidBlock {
    /// Whether every block with the same hash breaks the rule, at any time. False for rules that look at the clock, and for
    /// the parts of a block that its hash does not cover: transactions and uncles until their roots match, and the proof of
    /// merged mining.
    pub(crate) fn holds_for_hash(&self) -> bool {
        !matches!(
            self,
            Self::ParentHash { .. }
                | Self::Header(_)
                | Self::Uncles(_)
                | Self::TransactionsRoot { .. }
                | Self::ProofOfWork(_)
                | Self::ForkDetection(_)
                | Self::KnownInvalid { .. }
        )
    }
}
