//! The Bridge (0x01000006): the two-way peg with Bitcoin, as far as it is implemented.
//!
//! An invocation reads its data, runs a method on cells that it keeps in memory, and saves what it has read (bridge chapter
//! 1). What is not implemented stops the execution with [`ExecError::BridgePart`]: it never becomes a result of the Bridge.
//!
//! Start reading at [`Bridge`], then `methods` (what exists), `invocation` and `cells` (what is kept), `dispatch`.

mod cells;
mod constants;
mod debugging;
mod dispatch;
mod election;
mod events;
mod federation;
mod federation_votes;
mod fees;
mod headers;
mod invocation;
mod locking_cap;
mod methods;
mod release;
mod union;
mod whitelist;

use super::abi;
use super::interface::{CallScheme, Precompile, PrecompileContext, PrecompileFailure, PrecompileOutput};
use crate::error::ExecError;
use constants::constants;
pub use federation::{FederationScripts, federation_scripts};
use invocation::Invocation;
#[cfg(test)]
pub(super) use methods::selectors;
use methods::{Method, parse};
use rhizome_primitives::{Address, Bytes, ChainSpec, Rule, Rules, U256};

/// What a call costs whose data select nothing.
const PARSE_FAILURE_GAS: u64 = 23_000;
const GAS_PER_BYTE: u64 = 2;

pub(super) struct Bridge;

/// What a method returns.
#[derive(Debug)]
enum Answer {
    Nothing,
    /// Any static type.
    Word(U256),
    /// `bytes` and `string`.
    Bytes(Vec<u8>),
    /// `string[]`
    Texts(Vec<Vec<u8>>),
}

/// Why a method returns nothing and saves nothing.
#[derive(Debug)]
enum Failure {
    /// A call error.
    Call,
    /// Bad input: the absent value until RSKIP-88, then a call error.
    Argument,
    /// Nothing can be said about this call.
    Fatal(ExecError),
}

impl<E: Into<ExecError>> From<E> for Failure {
    fn from(error: E) -> Failure {
        Failure::Fatal(error.into())
    }
}

type Result<T> = std::result::Result<T, Failure>;

/// True if this sender's transactions to the Bridge cost no gas. Later federations than the first one pay.
pub(crate) fn is_free(spec: &ChainSpec, rules: &Rules, sender: &Address) -> bool {
    !rules.is_active(Rule::AreBridgeTxsPaid)
        && constants(spec.network).is_some_and(|constants| {
            let authorizers = [&constants.federation_change, &constants.whitelist_change, &constants.fee_change];
            authorizers.iter().any(|authorizer| authorizer.knows(sender)) || federation::is_member(spec.network, sender)
        })
}

impl Precompile for Bridge {
    fn required_gas(
        &self,
        input: &[u8],
        ctx: &mut PrecompileContext<'_>,
    ) -> std::result::Result<u64, PrecompileFailure> {
        if ctx.is_direct && !ctx.is_local_call && is_free(ctx.spec, &ctx.rules, &ctx.caller) {
            return Ok(0);
        }
        let Some((row, arguments)) = parse(input, &ctx.rules) else { return Ok(PARSE_FAILURE_GAS) };
        let gas = match row.method {
            Method::ReceiveHeaders => {
                headers::receive_price(&ctx.rules, arguments.list(0).map_or(0, |headers| headers.len()))
            }
            Method::GetBtcTransactionConfirmations => {
                let mut invocation = Invocation::new(ctx)?;
                let price = invocation.confirmations_price(arguments).map_err(settle)?;
                invocation.keep_index();
                price
            }
            _ => row.gas,
        };
        Ok(gas.saturating_add(GAS_PER_BYTE.saturating_mul(input.len() as u64)))
    }

    fn run(
        &self,
        input: &[u8],
        ctx: &mut PrecompileContext<'_>,
    ) -> std::result::Result<PrecompileOutput, PrecompileFailure> {
        let rules = ctx.rules;
        let raises_errors = rules.is_active(Rule::Rskip88);
        let has_call_kinds = rules.is_active(Rule::Rskip417);
        let Some((row, arguments)) = parse(input, &rules) else {
            return if raises_errors { Err(PrecompileFailure::Failed) } else { Ok(PrecompileOutput::NoValue) };
        };
        if raises_errors && !ctx.is_local_call && row.is_local_only(&rules) {
            return Err(PrecompileFailure::Failed);
        }
        let is_accepted = match ctx.call_scheme {
            CallScheme::Call => true,
            CallScheme::StaticCall => row.accepts_static_calls(),
            CallScheme::CallCode | CallScheme::DelegateCall => false,
        };
        if has_call_kinds && !is_accepted {
            return Err(PrecompileFailure::Failed);
        }
        let mut invocation = Invocation::new(ctx)?;
        let answer = match invocation.run(row.method, arguments) {
            Ok(answer) => answer,
            Err(Failure::Argument) if !raises_errors => return Ok(PrecompileOutput::NoValue),
            Err(failure) => return Err(settle(failure)),
        };
        invocation.save().map_err(settle)?;
        Ok(match answer {
            Answer::Nothing if has_call_kinds => PrecompileOutput::Output(Bytes::new()),
            Answer::Nothing => PrecompileOutput::NoValue,
            Answer::Word(word) => PrecompileOutput::Output(abi::encode_word(word)),
            Answer::Bytes(bytes) => PrecompileOutput::Output(abi::encode_bytes(&bytes)),
            Answer::Texts(texts) => PrecompileOutput::Output(abi::encode_list(&texts)),
        })
    }
}

fn settle(failure: Failure) -> PrecompileFailure {
    match failure {
        Failure::Call | Failure::Argument => PrecompileFailure::Failed,
        Failure::Fatal(error) => PrecompileFailure::Fatal(error),
    }
}
