//! The Bridge (0x01000006): the two-way peg with Bitcoin (docs/spec/bridge.md).
//!
//! A call decodes its data, runs a method on typed storage slots that it holds in memory, and saves the slots that it has
//! read or changed.
//!
//! The machine that makes the call provides the storage ([`Host`]), the block and the caller ([`Call`]), and a list for
//! logs. Must not: know the EVM, a database or JSON.
//!
//! Start reading at [`run`], then `methods` (the table), `dispatch`, `storage` (the slots), and one file for each subject of
//! the chapter.

mod asn1;
mod balance_adjustment;
mod batches;
mod bitcoin_signature;
mod coin_selection;
mod coinbase_information;
mod confirmation_order;
mod confirming;
mod constants;
mod context;
mod dispatch;
mod display_order;
mod election;
mod error;
mod events;
mod federation;
mod federation_change;
mod federation_outputs;
mod federation_votes;
mod federators;
mod fee_estimates;
mod fee_per_kb;
mod flyover;
mod genesis_federation;
mod headers;
mod java_hash_set;
mod locking_cap;
mod methods;
mod migration;
mod peg_in;
mod peg_out_index;
mod peg_out_requests;
mod placeholders;
mod processed_transactions;
mod public_key;
mod redeem_script;
mod refunds;
mod registration;
mod release_requests;
mod return_value;
mod scripts;
mod settlement;
mod signing;
mod size_estimates;
mod slots;
mod state_views;
mod storage;
mod submission;
mod svp;
mod transaction_builder;
mod transaction_size;
mod transaction_type;
mod union_bridge;
mod units;
mod update_collections;
mod wallet;
mod whitelist;

#[cfg(test)]
#[path = "../../primitives/tests/mutation.rs"]
mod mutation;
#[cfg(test)]
mod random_calls;

pub use constants::FirstBlock;
use constants::constants;
use context::CallContext;
pub use context::{Call, CallMode};
use error::MethodFailure;
pub use error::{BridgeError, CallFailure};
pub use federators::federators;
pub use genesis_federation::genesis_federation;
pub use headers::checkpoint;
pub use methods::selectors;
use methods::{Method, parse};
use rhizome_primitives::{Address, B256, Bytes, Log, Network, Rule, Rules};
pub use scripts::{FederationScripts, federation_scripts};
pub use slots::access::Host;
use storage::Storage;

/// Gas of a call whose data do not select a method.
const PARSE_FAILURE_GAS: u64 = 23_000;
const GAS_PER_BYTE: u64 = 2;

/// Bitcoin heights and block hashes (display order) that the computation of the price has added to the main chain. The
/// save of the same call writes them.
pub type BlockIndex = Vec<(i32, B256)>;

/// Returns true if transactions of `sender` to the Bridge cost no gas (docs/spec/bridge.md, 1.3). Members of later
/// federations pay.
pub fn is_free(network: Network, rules: &Rules, sender: &Address) -> bool {
    !rules.is_active(Rule::AreBridgeTxsPaid)
        && constants(network).is_some_and(|constants| {
            let authorizers = [&constants.federation_change, &constants.whitelist_change, &constants.fee_change];
            authorizers.iter().any(|authorizer| authorizer.contains(sender))
                || genesis_federation(network).is_some_and(|members| members.contains(sender))
        })
}

/// Method that call data select.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CalledMethod {
    /// Name, as in the interface of the contract.
    pub name: String,
    /// Whether it changes nothing.
    pub only_reads: bool,
}

/// Returns the method that call data select; `None` if no enabled method accepts them.
pub fn called_method(input: &[u8], rules: &Rules) -> Option<CalledMethod> {
    let (entry, _) = parse(input, rules)?;
    let name = format!("{:?}", entry.method);
    let lower = name.chars().take(1).flat_map(char::to_lowercase).chain(name.chars().skip(1)).collect();
    Some(CalledMethod { name: lower, only_reads: entry.accepts_static_calls() })
}

/// Returns the address of a compressed public key; `None` if it is not a point of the curve.
pub fn address_of_key(key: &[u8]) -> Option<Address> {
    federation::member_address::address_of(&key.try_into().ok()?)
}

/// Returns the gas of a call that is not free (docs/spec/bridge.md, 1.2). May write to the header store.
pub fn required_gas(
    input: &[u8],
    call: &Call<'_>,
    host: &mut dyn Host,
    block_index: &mut BlockIndex,
) -> Result<u64, CallFailure> {
    let Some((entry, arguments)) = parse(input, &call.rules) else { return Ok(PARSE_FAILURE_GAS) };
    let gas = match entry.method {
        Method::ReceiveHeaders => {
            headers::receive_price(&call.rules, arguments.list(0).map_or(0, |headers| headers.len()))
        }
        Method::GetBtcTransactionConfirmations => {
            let ctx = CallContext::of(call)?;
            let mut storage = Storage::new(host, call.network, call.rules, std::mem::take(block_index));
            let price = headers::confirmations::price(&mut storage, &ctx, arguments)?;
            *block_index = storage.block_index;
            price
        }
        _ => entry.gas,
    };
    Ok(gas.saturating_add(GAS_PER_BYTE.saturating_mul(input.len() as u64)))
}

/// Executes a call (docs/spec/bridge.md, 1.1). Returns `None` if the call has no return value.
pub fn run(
    input: &[u8],
    call: &Call<'_>,
    host: &mut dyn Host,
    logs: &mut Vec<Log>,
    block_index: &mut BlockIndex,
) -> Result<Option<Bytes>, CallFailure> {
    let rules = &call.rules;
    let raises_errors = rules.is_active(Rule::Rskip88);
    let has_call_modes = rules.is_active(Rule::Rskip417);
    let Some((entry, arguments)) = parse(input, rules) else {
        return if raises_errors { Err(CallFailure::Rejected) } else { Ok(None) };
    };
    if raises_errors && !call.is_local && entry.is_local_only(rules) {
        return Err(CallFailure::Rejected);
    }
    let is_accepted = match call.mode {
        CallMode::Call => true,
        CallMode::Static => entry.accepts_static_calls(),
        CallMode::Delegated => false,
    };
    if has_call_modes && !is_accepted {
        return Err(CallFailure::Rejected);
    }
    let ctx = CallContext::of(call)?;
    let mut storage = Storage::new(host, call.network, call.rules, std::mem::take(block_index));
    let value = match dispatch::run(entry.method, arguments, &mut storage, &ctx, logs) {
        Ok(value) => value,
        Err(MethodFailure::Argument) if !raises_errors => return Ok(None),
        Err(failure) => return Err(failure.into()),
    };
    storage.save()?;
    Ok(value.encode().or_else(|| has_call_modes.then(Bytes::new)))
}
