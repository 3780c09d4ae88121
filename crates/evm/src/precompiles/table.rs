//! Which built-in contract lives where, and what callers and contracts agree on.

use super::bn128::{Bn128Add, Bn128Mul, Bn128Pairing};
use super::secp256k1::{Secp256k1Add, Secp256k1Mul};
use super::{
    blake2f, block_header, bridge, ecrecover, environment, hd_wallet, identity, modexp, remasc, ripemd160, sha256,
};
use crate::block_env::{Ancestry, BlockEnv};
use crate::deadline::Deadline;
use crate::error::ExecError;
use crate::state::State;
use rhizome_primitives::{Address, B256, Bytes, ChainSpec, Log, Rule, Rules, U256, address};

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
    /// Bitcoin heights and hashes that the Bridge found while it computed a price, and saves if the call runs well.
    pub opened_index: Vec<(i32, B256)>,
}

/// One row of the table.
pub struct PrecompileEntry {
    /// Where the contract is called.
    pub address: Address,
    /// The rule that brings it; none if it has always been there.
    pub since: Option<Rule>,
    /// Longest input of a call by a contract from RSKIP-516 on, in bytes. Longer input is cut.
    pub input_limit: Option<usize>,
    /// The contract.
    pub precompile: &'static dyn Precompile,
}

const fn row(
    address: Address,
    since: Option<Rule>,
    input_limit: Option<usize>,
    precompile: &'static dyn Precompile,
) -> PrecompileEntry {
    PrecompileEntry { address, since, input_limit, precompile }
}

/// All built-in contracts, in the order of their addresses.
pub static TABLE: [PrecompileEntry; 16] = [
    row(address!("0000000000000000000000000000000000000001"), None, Some(128), &ecrecover::EcRecover),
    row(address!("0000000000000000000000000000000000000002"), None, None, &sha256::Sha256),
    row(address!("0000000000000000000000000000000000000003"), None, None, &ripemd160::Ripemd160),
    row(address!("0000000000000000000000000000000000000004"), None, None, &identity::Identity),
    row(address!("0000000000000000000000000000000000000005"), None, None, &modexp::ModExp),
    row(address!("0000000000000000000000000000000000000006"), Some(Rule::Rskip137), Some(128), &Bn128Add),
    row(address!("0000000000000000000000000000000000000007"), Some(Rule::Rskip137), Some(96), &Bn128Mul),
    row(address!("0000000000000000000000000000000000000008"), Some(Rule::Rskip137), None, &Bn128Pairing),
    row(address!("0000000000000000000000000000000000000009"), Some(Rule::Rskip153), Some(213), &blake2f::Blake2f),
    row(address!("0000000000000000000000000000000001000006"), None, None, &bridge::Bridge),
    row(address!("0000000000000000000000000000000001000008"), None, None, &remasc::Remasc),
    row(address!("0000000000000000000000000000000001000009"), Some(Rule::Rskip106), None, &hd_wallet::HdWallet),
    row(address!("0000000000000000000000000000000001000010"), Some(Rule::Rskip119), None, &block_header::BlockHeader),
    row(address!("0000000000000000000000000000000001000011"), Some(Rule::Rskip203), None, &environment::Environment),
    row(address!("0000000000000000000000000000000001000016"), Some(Rule::Rskip516), Some(128), &Secp256k1Add),
    row(address!("0000000000000000000000000000000001000017"), Some(Rule::Rskip516), Some(96), &Secp256k1Mul),
];

/// The built-in contract at an address, if it is active under `rules`.
pub fn precompile_at(address: &Address, rules: &Rules) -> Option<&'static PrecompileEntry> {
    // Nearly all calls go elsewhere and leave here.
    let [prefix @ .., _, _, _, _] = &address.0.0;
    if prefix != &[0; 16] {
        return None;
    }
    let entry = TABLE.iter().find(|entry| entry.address == *address)?;
    entry.since.is_none_or(|rule| rules.is_active(rule)).then_some(entry)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rhizome_primitives::{BRIDGE, REMASC};

    #[test]
    fn finds_active_contracts() {
        for entry in &TABLE {
            assert!(precompile_at(&entry.address, &Rules::all()).is_some());
            assert_eq!(precompile_at(&entry.address, &Rules::none()).is_some(), entry.since.is_none());
        }
        assert!(TABLE.is_sorted_by_key(|entry| entry.address));
        for address in [BRIDGE, REMASC] {
            assert!(precompile_at(&address, &Rules::none()).is_some());
        }
    }

    #[test]
    fn other_addresses_are_plain() {
        for address in [
            Address::ZERO,
            address!("000000000000000000000000000000000000000a"),
            address!("0000000000000000000000000000000001000007"),
            address!("1000000000000000000000000000000000000001"),
        ] {
            assert!(precompile_at(&address, &Rules::all()).is_none());
        }
    }
}
