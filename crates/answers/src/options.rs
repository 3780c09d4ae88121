//! The choices that the API document and the reference node leave open, and the limits of an answer.

use rhizome_fleet::FleetRole;
use rhizome_primitives::{Transaction, U256};

/// How blocks come into being on this node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MiningMode {
    /// A block for each submitted transaction, before the submission is answered.
    Auto,
    /// Milliseconds between two blocks.
    Interval {
        /// Milliseconds.
        milliseconds: u64,
    },
    /// Blocks come from outside only.
    Off,
}

/// Block of the tag `latest` in a fleet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LatestBlock {
    /// The head of this node.
    Own,
    /// The highest block of the best chain that all ready nodes of the fleet have.
    Agreed,
}

/// Answer of `eth_estimateGas` when the simulated execution fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EstimateOnFailure {
    /// Returns an estimate anyway (API document).
    Estimate,
    /// The error where code reverts or halts; an estimate where only the sender's balance is missing.
    CodeError,
    /// The error of the execution (reference).
    Error,
}

/// The estimate of `eth_estimateGas` for a successful execution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EstimateSearch {
    /// That of one run: the most gas that was spent or lent at the same time (reference).
    Single,
    /// The least gas that leads to the same result, found by further runs.
    Tight,
}

/// Answer of `eth_call` when the execution halts without reverting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallOnHalt {
    /// -32015 that names the halt.
    Error,
    /// `"0x"` (reference).
    Empty,
}

/// Answer of `eth_bridgeState` while a peg-out is queued or waits for confirmations (RSKIP-146).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BridgeStateForm {
    /// The stored state.
    Stored,
    /// -32603: the reference cannot decode its own encoding of the state.
    Decodable,
}

/// How `r` and `s` of a transaction are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignatureForm {
    /// DATA(32) (API document).
    Word,
    /// QUANTITY (reference).
    Quantity,
}

/// How the REMASC transaction, the last of each block, is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShownRemasc {
    /// As any transaction.
    Listed,
    /// Not in block objects; counts and look-ups by index know it (reference with `rpc.skipRemasc`).
    Unlisted,
    /// Not in block objects, counts, block receipts and look-ups by index. By its hash it is found.
    Hidden,
}

/// How transactions are written, alone and in blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TransactionForm {
    /// `r` and `s`.
    pub signature: SignatureForm,
    /// The REMASC transaction.
    pub remasc: ShownRemasc,
    /// Whether `v`, `r` and `s` of the REMASC transaction, which is not signed, are `0x0`. Otherwise they are null.
    pub has_zero_signature: bool,
}

impl TransactionForm {
    /// The API document's form.
    pub const DOCUMENT: Self =
        Self { signature: SignatureForm::Word, remasc: ShownRemasc::Listed, has_zero_signature: true };

    /// Whether counts, block receipts and look-ups by index know this transaction.
    pub fn counts(&self, transaction: &Transaction) -> bool {
        self.remasc != ShownRemasc::Hidden || !transaction.has_remasc_form()
    }
}

/// Methods that are only partially supported: may they be asked at `pending`?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PendingOnPartial {
    /// -32602 (API document).
    Refused,
    /// Served (reference).
    Served,
}

/// The upper bound of an estimate without `gas`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EstimateBound {
    /// The gas limit of the pending block, as far as the pool accepts it (API document).
    PendingBlock,
    /// A fixed amount of gas (reference).
    Fixed(u64),
}

/// Answer of `net_listening`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listening {
    /// Whether a port for peers is open.
    Actual,
    /// True (the reference, whose port for peers is open).
    Always,
}

/// The shape of `trace_*` results and of the `callTracer`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TraceShape {
    /// As most nodes write them: all calls, real outputs, short error names.
    Standard,
    /// Like the reference node, with its omissions.
    Reference,
}

/// Shape of `eth_getProof`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProofFormat {
    /// As in EIP-1186: root first, slots from the storage root, and absence is proven.
    Rhizome,
    /// As in pull request 3460 of rskj: leaf first, slots from the state root, keys of 32 bytes, nothing for absent keys.
    Rskj,
}

/// Blocks below the head that the tags `safe` and `finalized` name. The genesis block on a shorter chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TagDepths {
    /// Depth of `safe`.
    pub safe: u64,
    /// Depth of `finalized`.
    pub finalized: u64,
}

impl TagDepths {
    /// Depths of public networks: the usual confirmations, and those of a peg-out on mainnet.
    pub const PUBLIC: Self = Self { safe: 12, finalized: 4_000 };
    /// Depths of development networks, whose only user mines: the head.
    pub const HEAD: Self = Self { safe: 0, finalized: 0 };
}

/// Limits of traces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceLimits {
    /// Largest answer, in bytes.
    pub bytes: usize,
    /// Most traces that `trace_filter` returns or skips.
    pub count: usize,
}

/// Limits of `eth_getLogs`: refused only when the range is wider than `blocks` *and* the answer holds more than `logs`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogLimits {
    /// Widest range without a cap on logs.
    pub blocks: u64,
    /// Cap on logs for wider ranges.
    pub logs: usize,
}

/// Settings of the answers. `document()` is the product's default, `reference()` imitates the reference node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnswerOptions {
    /// Text of `web3_clientVersion`.
    pub client_version: String,
    /// How blocks come into being, until a developer says otherwise.
    pub mining: MiningMode,
    /// A new chain starts with an empty block after the genesis block, whose timestamp is old: test suites read the time of the
    /// head first.
    pub begins_with_block: bool,
    /// Whether the development accounts sign for callers.
    pub has_wallet: bool,
    /// Whether `txpool_content` says why a transaction waits. With instant mining, also whether further blocks are mined for a
    /// transaction that finds no room in the first one.
    pub explains_waiting: bool,
    /// Gas that `eth_call` may use at most; more is lowered to it.
    pub call_gas_cap: u64,
    /// Bound of an estimate without `gas`.
    pub estimate_bound: EstimateBound,
    /// Estimates of executions that succeed.
    pub estimate_search: EstimateSearch,
    /// Estimates of failing executions.
    pub estimate_on_failure: EstimateOnFailure,
    /// Calls that halt.
    pub call_on_halt: CallOnHalt,
    /// `eth_bridgeState`.
    pub bridge_state: BridgeStateForm,
    /// Whether calls may pretend another state or block.
    pub has_overrides: bool,
    /// How transactions are written.
    pub transaction_form: TransactionForm,
    /// `pending` on partially supported methods.
    pub pending_on_partial: PendingOnPartial,
    /// The blocks of the tags `safe` and `finalized`. `None`: refused with -32602 (reference).
    pub tag_depths: Option<TagDepths>,
    /// Result of `net_listening`.
    pub listening: Listening,
    /// Limits of log searches.
    pub log_limits: LogLimits,
    /// Shape of `eth_getProof`.
    pub proof_format: ProofFormat,
    /// Shape of traces.
    pub trace_shape: TraceShape,
    /// Limits of traces.
    pub trace_limits: TraceLimits,
    /// Part of the node in a fleet, `None` without one.
    pub fleet_role: Option<FleetRole>,
    /// Block of the tag `latest` in a fleet.
    pub latest: LatestBlock,
    /// `eth_gasPrice` = best minimum gas price * this / 100.
    pub gas_price_percent: u64,
    /// Price of `eth_sendTransaction` without `gasPrice`. `None`: the price of `eth_gasPrice`.
    pub default_gas_price: Option<U256>,
    /// Room for finished block, transaction and receipt texts, in bytes.
    pub cache_bytes: usize,
    /// Room for the blocks that were executed again for traces, in bytes.
    pub replay_bytes: usize,
}

impl AnswerOptions {
    /// The API document's choices.
    pub fn document() -> Self {
        Self {
            client_version: concat!("Rhizome/", env!("CARGO_PKG_VERSION")).into(),
            mining: MiningMode::Off,
            begins_with_block: false,
            has_wallet: false,
            explains_waiting: true,
            call_gas_cap: 10_000_000,
            estimate_bound: EstimateBound::PendingBlock,
            estimate_search: EstimateSearch::Single,
            estimate_on_failure: EstimateOnFailure::Estimate,
            call_on_halt: CallOnHalt::Error,
            bridge_state: BridgeStateForm::Stored,
            has_overrides: true,
            transaction_form: TransactionForm::DOCUMENT,
            pending_on_partial: PendingOnPartial::Refused,
            tag_depths: Some(TagDepths::PUBLIC),
            listening: Listening::Actual,
            log_limits: LogLimits { blocks: 2_000, logs: 10_000 },
            proof_format: ProofFormat::Rhizome,
            trace_shape: TraceShape::Standard,
            trace_limits: TraceLimits { bytes: 10_485_760, count: 10_000 },
            fleet_role: None,
            latest: LatestBlock::Own,
            gas_price_percent: 110,
            default_gas_price: None,
            cache_bytes: 32 << 20,
            replay_bytes: 32 << 20,
        }
    }

    /// The reference node's choices.
    pub fn reference() -> Self {
        Self {
            estimate_bound: EstimateBound::Fixed(6_800_000),
            estimate_on_failure: EstimateOnFailure::Error,
            call_on_halt: CallOnHalt::Empty,
            bridge_state: BridgeStateForm::Decodable,
            has_overrides: false,
            transaction_form: TransactionForm { signature: SignatureForm::Quantity, ..TransactionForm::DOCUMENT },
            pending_on_partial: PendingOnPartial::Served,
            tag_depths: None,
            listening: Listening::Always,
            trace_shape: TraceShape::Reference,
            default_gas_price: Some(U256::ZERO),
            explains_waiting: false,
            ..Self::document()
        }
    }
}
