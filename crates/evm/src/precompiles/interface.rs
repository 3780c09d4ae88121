//! The interface between a precompile and its callers.

use crate::block_env::{Ancestry, BlockEnv};
use crate::deadline::Deadline;
use crate::error::ExecError;
use crate::state::State;
use rhizome_bridge::BlockIndex;
use rhizome_primitives::{Address, B256, Bytes, ChainSpec, Log, Rules, U256};

/// What a contract that did not fail leaves for its caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PrecompileOutput {
    /// Return data.
    Output(Bytes),
    /// The reference's "null". From RSKIP-197 on callers treat it as a failure.
    NoValue,
}

/// Why a contract did not produce an output.
#[derive(Debug)]
pub enum PrecompileFailure {
    /// The ordinary failure: before RSKIP-197 the calling frame halts, later the call fails.
    Failed,
    /// The execution cannot go on: what is needed is not implemented or could not be read.
    Fatal(ExecError),
    /// BLAKE2 called by a transaction without data before RSKIP-552: no valid block contains it.
    BlakeWithoutData,
}

impl<E: Into<ExecError>> From<E> for PrecompileFailure {
    fn from(error: E) -> Self {
        Self::Fatal(error.into())
    }
}

/// A built-in contract. Calls never panic, whatever the input.
pub trait Precompile: Sync {
    /// The price of a call. The caller must have it before [`Precompile::run`]: it bounds work and memory.
    fn required_gas(&self, input: &[u8], ctx: &mut PrecompileContext<'_>) -> Result<u64, PrecompileFailure>;

    /// Executes a call. On failure the caller undoes the state, but not the logs.
    fn run(&self, input: &[u8], ctx: &mut PrecompileContext<'_>) -> Result<PrecompileOutput, PrecompileFailure>;

    /// The most that a call with so many bytes of input takes, in the units of a brief execution (8 ns). None: more
    /// than such an execution may take.
    fn inline_work(&self, _input_length: u64) -> Option<u64> {
        None
    }
}

/// The instruction that makes a call. Transactions count as CALL.
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

/// What a contract can see of its caller and its block.
pub struct PrecompileContext<'a> {
    /// The chain.
    pub spec: &'a ChainSpec,
    /// Rules of the executing block.
    pub rules: Rules,
    /// The executing block.
    pub env: &'a BlockEnv,
    /// The blocks below it.
    pub ancestry: &'a dyn Ancestry,
    /// State of the transaction.
    pub state: &'a mut State,
    /// Logs of the calling frame.
    pub logs: &'a mut Vec<Log>,
    /// The last transaction of the block calls REMASC.
    pub is_remasc_transaction: bool,
    /// Depth of the calling frame; 0 when a transaction calls directly.
    pub call_depth: u32,
    /// Called by a transaction, not by a contract.
    pub is_direct: bool,
    /// Local execution, outside of any block.
    pub is_local_call: bool,
    /// The calling contract, or the sender of the transaction.
    pub caller: Address,
    /// Wei that the call brings. With direct calls it has not arrived yet.
    pub value: U256,
    /// How the contract is called.
    pub call_scheme: CallScheme,
    /// Position of the transaction in its block.
    pub transaction_index: usize,
    /// Hash of the transaction; zero in local execution.
    pub transaction_hash: B256,
    /// The compressed key that signed the transaction, if that calls directly and is signed.
    pub public_key: &'a dyn Fn() -> Option<[u8; 33]>,
    /// When local execution has to end.
    pub deadline: &'a Deadline,
    /// Bitcoin blocks that the Bridge has added to its main chain while it computed the price of the call.
    pub block_index: BlockIndex,
}

impl<'a> PrecompileContext<'a> {
    /// The context of a CALL without value by the zero address, in a block, at depth 0. Callers set the other fields.
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
            public_key: &|| None,
            deadline,
            block_index: BlockIndex::new(),
        }
    }
}
