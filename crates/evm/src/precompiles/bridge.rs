//! The Bridge (0x01000006): joins the crate `bridge` to the machine.

use super::interface::{CallScheme, Payment, Precompile, PrecompileContext, PrecompileFailure, PrecompileOutput};
use crate::error::ExecError;
use crate::state::State;
use rhizome_bridge::{BlockIndex, BridgeError, Call, CallFailure, CallMode, Host};
use rhizome_primitives::{Address, BRIDGE, Bytes, I256, Log, Rule, U256};
use rhizome_trie::StateError;

pub(super) struct Bridge;

/// The account of the Bridge in the state of the executing block.
struct BridgeAccount<'a> {
    state: &'a mut State,
    payments: &'a mut Vec<Payment>,
}

impl Host for BridgeAccount<'_> {
    fn slot(&mut self, key: &U256) -> Result<Option<Bytes>, StateError> {
        self.state.storage_bytes(BRIDGE, key)
    }

    fn set_slot(&mut self, key: U256, value: Bytes) -> Result<(), StateError> {
        self.state.set_storage_bytes(BRIDGE, key, Some(value))
    }

    fn balance(&mut self) -> Result<I256, StateError> {
        self.state.balance(BRIDGE)
    }

    fn pay(&mut self, to: Address, wei: U256) -> Result<(), StateError> {
        self.payments.push((to, wei));
        self.refund(to, wei)
    }

    fn refund(&mut self, to: Address, wei: U256) -> Result<(), StateError> {
        self.state.transfer(BRIDGE, to, I256::from_raw(wei))
    }
}

impl Precompile for Bridge {
    fn required_gas(&self, input: &[u8], ctx: &mut PrecompileContext<'_>) -> Result<u64, PrecompileFailure> {
        let gas = with_call(ctx, |call, host, _logs, index| rhizome_bridge::required_gas(input, call, host, index));
        gas.map_err(|failure| named(failure, input, ctx))
    }

    fn run(&self, input: &[u8], ctx: &mut PrecompileContext<'_>) -> Result<PrecompileOutput, PrecompileFailure> {
        let run = with_call(ctx, |call, host, logs, index| rhizome_bridge::run(input, call, host, logs, index));
        match run {
            Ok(value) => Ok(value.map_or(PrecompileOutput::NoValue, PrecompileOutput::Output)),
            Err(failure @ PrecompileFailure::Fatal(ExecError::State(_))) => read_elsewhere(failure, input, ctx),
            Err(failure) => Err(failure),
        }
    }
}

/// Answers a call whose storage cannot be read: if it only reads, with the answer that the Bridge gives elsewhere.
fn read_elsewhere(
    failure: PrecompileFailure,
    input: &[u8],
    ctx: &PrecompileContext<'_>,
) -> Result<PrecompileOutput, PrecompileFailure> {
    let reads = rhizome_bridge::called_method(input, &ctx.rules).is_some_and(|method| method.only_reads);
    match ctx.ancestry.bridge_answers().filter(|_| reads) {
        Some(answers) => Ok(PrecompileOutput::Output(answers.read(input)?)),
        None => Err(named(failure, input, ctx)),
    }
}

/// Adds the name of the called method to a failure to read a storage that is elsewhere.
fn named(failure: PrecompileFailure, input: &[u8], ctx: &PrecompileContext<'_>) -> PrecompileFailure {
    match (failure, rhizome_bridge::called_method(input, &ctx.rules)) {
        (PrecompileFailure::Fatal(ExecError::State(source)), Some(method))
            if ctx.ancestry.bridge_answers().is_some() =>
        {
            PrecompileFailure::Fatal(ExecError::Bridge { method: method.name.into(), source: source.into() })
        }
        (failure, _) => failure,
    }
}

/// Returns the addresses that REMASC pays for the block `height`: no addresses if the federation is unknown, as on the devnet.
pub(super) fn federators(ctx: &mut PrecompileContext<'_>, height: u64) -> Result<Vec<Address>, PrecompileFailure> {
    if let Some(answers) = ctx.ancestry.bridge_answers() {
        let keys = answers.federation_keys(height, !ctx.rules.is_active(Rule::Rskip415))?;
        let members = keys.iter().map(|key| rhizome_bridge::address_of_key(key).ok_or(PrecompileFailure::Failed));
        return members.collect();
    }
    let mut account = BridgeAccount { state: &mut *ctx.state, payments: &mut ctx.payments };
    match rhizome_bridge::federators(ctx.spec.network, ctx.rules, height, &mut account) {
        Ok(members) => Ok(members),
        // The reference asks for the members, and fails, only once they have a share.
        Err(CallFailure::Rejected) => Ok(Vec::new()),
        Err(CallFailure::Fatal(error)) => Err(no_verdict(error)),
    }
}

/// Describes the call to the Bridge and translates its failures.
fn with_call<T>(
    ctx: &mut PrecompileContext<'_>,
    execute: impl FnOnce(&Call<'_>, &mut dyn Host, &mut Vec<Log>, &mut BlockIndex) -> Result<T, CallFailure>,
) -> Result<T, PrecompileFailure> {
    let deadline = ctx.deadline;
    let call = Call {
        network: ctx.spec.network,
        rules: ctx.rules,
        block_number: ctx.env.number,
        block_timestamp: ctx.env.timestamp,
        caller: ctx.caller,
        value: ctx.value,
        mode: match ctx.call_scheme {
            CallScheme::Call => CallMode::Call,
            CallScheme::StaticCall => CallMode::Static,
            CallScheme::CallCode | CallScheme::DelegateCall => CallMode::Delegated,
        },
        is_direct: ctx.is_direct,
        is_local: ctx.is_local_call,
        transaction_hash: ctx.transaction_hash,
        origin_transaction_hash: ctx.origin_transaction_hash,
        public_key: ctx.public_key,
        is_past_deadline: &|| deadline.has_passed(),
    };
    let mut account = BridgeAccount { state: &mut *ctx.state, payments: &mut ctx.payments };
    execute(&call, &mut account, ctx.logs, &mut ctx.block_index).map_err(|failure| match failure {
        CallFailure::Rejected => PrecompileFailure::Failed,
        CallFailure::Fatal(error) => no_verdict(error),
    })
}

/// Translates a failure that leaves the call without a verdict.
fn no_verdict(error: BridgeError) -> PrecompileFailure {
    match error {
        BridgeError::State(error) => error.into(),
        BridgeError::DeadlineExceeded => ExecError::DeadlineExceeded.into(),
    }
}
