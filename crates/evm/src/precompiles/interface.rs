//! The interface between a precompile and its callers.

use crate::block_env::{Ancestry, BlockEnv};
use crate::deadline::Deadline;
use crate::error::ExecError;
use crate::state::State;
use rhizome_bridge::BlockIndex;
use rhizome_primitives::{Address, B256, Bytes, ChainSpec, Log, Rules, U256};

/// The result of a precompile that did not fail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PrecompileOutput {
    /// Return data.
    Output(Bytes),
    /// The `null` of the reference. From RSKIP-197 on callers treat it as a failure.
    NoValue,
}

/// The reason why a precompile has no result.
#[derive(Debug)]
pub enum PrecompileFailure {
    /// The precompile failed. Before RSKIP-197 the calling frame halts, from then on the call fails.
    Failed,
    /// The execution cannot continue: a read failed, or the deadline has passed.
    Fatal(ExecError),
    /// A transaction without data called BLAKE2 before RSKIP-552. No valid block contains it.
    BlakeWithoutData,
}

impl<E: Into<ExecError>> From<E> for PrecompileFailure {
    fn from(error: E) -> Self {
        Self::Fatal(error.into())
    }
}

/// A precompile. Calls must not panic, whatever the input.
pub trait Precompile: Sync {
    /// Returns the price of a call in gas, which bounds work and memory. The caller must compare it with its gas before
    /// [`Precompile::run`].
    fn required_gas(&self, input: &[u8], ctx: &mut PrecompileContext<'_>) -> Result<u64, PrecompileFailure>;

    /// Executes a call. After a failure the caller reverts the state, but not the logs.
    fn run(&self, input: &[u8], ctx: &mut PrecompileContext<'_>) -> Result<PrecompileOutput, PrecompileFailure>;

    /// Returns the largest work of a call with input of this length in bytes, in units of the inline budget (8 ns). `None`:
    /// more than the budget.
    fn inline_work(&self, _input_length: u64) -> Option<u64> {
        None
    }
}

/// The instruction of a call. A transaction counts as CALL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallScheme {
    /// CALL.
    Call,
    /// CALLCODE.
    CallCode,
    /// DELEGATECALL.
    DelegateCall,
    /// STATICCALL.
    StaticCall,
}

/// Caller and block of a call, and the state that it can change.
pub struct PrecompileContext<'a> {
    /// The chain.
    pub spec: &'a ChainSpec,
    /// Rules of the executing block.
    pub rules: Rules,
    /// The executing block.
    pub env: &'a BlockEnv,
    /// Ancestors of the executing block.
    pub ancestry: &'a dyn Ancestry,
    /// State of the transaction.
    pub state: &'a mut State,
    /// Logs of the calling frame.
    pub logs: &'a mut Vec<Log>,
    /// Whether the REMASC transaction of the block makes this call.
    pub is_remasc_transaction: bool,
    /// Depth of the calling frame; 0 if the transaction calls directly.
    pub call_depth: u32,
    /// Whether a transaction, not a contract, makes this call.
    pub is_direct: bool,
    /// Whether this is part of a local call.
    pub is_local_call: bool,
    /// The calling contract, or the sender of the transaction.
    pub caller: Address,
    /// Value of the call in wei. A direct call transfers it after the execution.
    pub value: U256,
    /// Instruction of the call.
    pub call_scheme: CallScheme,
    /// Position of the transaction in its block.
    pub transaction_index: usize,
    /// Hash of the transaction; if a contract calls the Bridge, that of the internal transaction.
    pub transaction_hash: B256,
    /// Hash of the signed transaction that led to the call; zero in local calls.
    pub origin_transaction_hash: B256,
    /// Compressed public key of the signature, if a signed transaction calls directly.
    pub public_key: &'a dyn Fn() -> Option<Vec<u8>>,
    /// Deadline of local calls.
    pub deadline: &'a Deadline,
    /// Bitcoin blocks that the Bridge has added to its main chain while it computed the price of the call.
    pub block_index: BlockIndex,
    /// Payments of the Bridge in this call, for traces.
    pub payments: Vec<Payment>,
}

/// A transfer out of a precompile: receiver and wei.
pub type Payment = (Address, U256);

impl<'a> PrecompileContext<'a> {
    /// Returns the context of a CALL without value by the zero address, in a block, at depth 0. Callers set the other fields.
    pub fn new(
        spec: &'a ChainSpec,
        rules: Rules,
        env: &'a BlockEnv,
        ancestry: &'a dyn Ancestry,
        state: &'a mut State,
        logs: &'a mut Vec<Log>,
        deadline: &'a Deadline,
    ) -> Self {
        Self {
            spec,
            rules,
            env,
            ancestry,
            state,
            logs,
            is_remasc_transaction: false,
            call_depth: 0,
            is_direct: false,
            is_local_call: false,
            caller: Address::ZERO,
            value: U256::ZERO,
            call_scheme: CallScheme::Call,
            transaction_index: 0,
            transaction_hash: B256::ZERO,
            origin_transaction_hash: B256::ZERO,
            public_key: &|| None,
            deadline,
            block_index: BlockIndex::new(),
            payments: Vec::new(),
        }
    }
}
