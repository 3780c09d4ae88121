//! `eth_*` methods that execute, search, prove or sign: answered inline if short, otherwise in the pool.

use crate::executors::{inline_or_pooled, pooled};
use crate::reply::{Reply, size};
use crate::sending::{self, USUAL_TRANSACTION};
use crate::text::Text;
use napi::bindgen_prelude::{Either, Object};
use napi::{Env, Result};
use napi_derive::napi;
use rhizome_answers::block_id::BlockId;
use rhizome_answers::call_object::CallObject;
use rhizome_answers::eth::call_many::Bundles;
use rhizome_answers::eth::get_storage_values::WantedSlots;
use rhizome_answers::log_filter::LogQuery;
use rhizome_answers::simulation::Simulation;
use rhizome_answers::{eth, parameters};

/// Maximum size of the call object or filter of an inline call, in bytes of JSON: reading a larger one takes too long.
const MAX_INLINE_CALL_BYTES: usize = 8 * 1024;

/// Initial capacity for a call object or filter, in bytes of JSON: enough for a call with two arguments.
const USUAL_CALL: usize = 320;

/// Maximum number of storage slots that an inline call proves.
const MAX_INLINE_SLOTS: usize = 8;

/// Answers `eth_call`. Overrides are JSON objects; an empty text means none. Answers inline if `may_run_inline` and
/// the call is short.
#[allow(clippy::too_many_arguments, reason = "plain values cross the border")]
#[napi(catch_unwind, ts_return_type = "string | Buffer | Promise<string | Buffer>")]
pub fn eth_call(
    env: &Env,
    #[napi(ts_arg_type = "string | object")] call: Text<USUAL_CALL>,
    #[napi(ts_arg_type = "string")] block: Text,
    #[napi(ts_arg_type = "string | object")] state_overrides: Text,
    #[napi(ts_arg_type = "string | object")] block_overrides: Text,
    deadline_ms: i64,
    token: i64,
    may_run_inline: bool,
) -> Result<Either<Reply, Object<'_>>> {
    let is_short = call.len() <= MAX_INLINE_CALL_BYTES && state_overrides.is_empty() && block_overrides.is_empty();
    inline_or_pooled(env, may_run_inline && is_short, deadline_ms, token, move |node, limit| {
        let (call, overrides) = CallObject::parse_with_overrides(&call, &state_overrides, &block_overrides)?;
        let block = BlockId::parse(&block)?;
        eth::call::answer(node, &call, &block, &overrides, &limit.deadline)
    })
}

/// Answers `eth_estimateGas`. Overrides are JSON objects; an empty text means none. Answers inline if `may_run_inline` and
/// the call is short.
#[allow(clippy::too_many_arguments, reason = "plain values cross the border")]
#[napi(catch_unwind, ts_return_type = "string | Buffer | Promise<string | Buffer>")]
pub fn eth_estimate_gas(
    env: &Env,
    #[napi(ts_arg_type = "string | object")] call: Text<USUAL_CALL>,
    #[napi(ts_arg_type = "string")] block: Text,
    #[napi(ts_arg_type = "string | object")] state_overrides: Text,
    #[napi(ts_arg_type = "string | object")] block_overrides: Text,
    deadline_ms: i64,
    token: i64,
    may_run_inline: bool,
) -> Result<Either<Reply, Object<'_>>> {
    let is_short = call.len() <= MAX_INLINE_CALL_BYTES && state_overrides.is_empty() && block_overrides.is_empty();
    inline_or_pooled(env, may_run_inline && is_short, deadline_ms, token, move |node, limit| {
        let (call, overrides) = CallObject::parse_with_overrides(&call, &state_overrides, &block_overrides)?;
        let block = BlockId::parse(&block)?;
        eth::estimate_gas::answer(node, &call, &block, &overrides, &limit.deadline)
    })
}

/// Answers `eth_callMany` with at most `max_bytes`. Empty texts of context and overrides mean none.
#[allow(clippy::too_many_arguments, reason = "plain values cross the border")]
#[napi(catch_unwind, ts_return_type = "Promise<string | Buffer>")]
pub fn eth_call_many(
    env: &Env,
    #[napi(ts_arg_type = "string | object")] bundles: Text<USUAL_CALL>,
    #[napi(ts_arg_type = "string | object")] context: Text,
    #[napi(ts_arg_type = "string | object")] state_overrides: Text,
    max_bytes: i64,
    deadline_ms: i64,
    token: i64,
) -> Result<Object<'_>> {
    pooled(env, deadline_ms, token, move |node, limit| {
        let bundles = Bundles::parse(&bundles, &context, &state_overrides)?;
        eth::call_many::answer(node, &bundles, size(max_bytes)?, &limit.deadline)
    })
}

/// Answers `eth_getStorageValues`.
#[napi(catch_unwind, ts_return_type = "Promise<string | Buffer>")]
pub fn eth_get_storage_values(
    env: &Env,
    #[napi(ts_arg_type = "string | object")] slots: Text<USUAL_CALL>,
    block: String,
    deadline_ms: i64,
    token: i64,
) -> Result<Object<'_>> {
    pooled(env, deadline_ms, token, move |node, limit| {
        let (slots, block) = (WantedSlots::parse(&slots)?, BlockId::parse(&block)?);
        eth::get_storage_values::answer(node, &slots, &block, &limit.deadline)
    })
}

/// Answers `eth_getTransactionBySenderAndNonce`.
#[napi(catch_unwind, ts_return_type = "Promise<string | Buffer>")]
pub fn eth_get_transaction_by_sender_and_nonce(
    env: &Env,
    sender: String,
    nonce: String,
    deadline_ms: i64,
    token: i64,
) -> Result<Object<'_>> {
    pooled(env, deadline_ms, token, move |node, limit| {
        let (sender, nonce) = (parameters::address(&sender)?, parameters::number(&nonce)?);
        eth::get_transaction_by_sender_and_nonce::answer(node, &sender, &nonce, &limit.deadline)
    })
}

/// Answers `eth_fillTransaction`.
#[napi(catch_unwind, ts_return_type = "Promise<string | Buffer>")]
pub fn eth_fill_transaction(
    env: &Env,
    #[napi(ts_arg_type = "string | object")] transaction: Text<USUAL_CALL>,
    deadline_ms: i64,
    token: i64,
) -> Result<Object<'_>> {
    pooled(env, deadline_ms, token, move |node, limit| {
        eth::fill_transaction::answer(node, &CallObject::parse_transaction(&transaction)?, &limit.deadline)
    })
}

/// Answers `eth_simulateV1` with at most `max_bytes`.
#[napi(catch_unwind, ts_return_type = "Promise<string | Buffer>")]
pub fn eth_simulate(
    env: &Env,
    #[napi(ts_arg_type = "string | object")] simulation: Text<USUAL_CALL>,
    block: String,
    max_bytes: i64,
    deadline_ms: i64,
    token: i64,
) -> Result<Object<'_>> {
    pooled(env, deadline_ms, token, move |node, limit| {
        let (simulation, block) = (Simulation::parse(&simulation)?, BlockId::parse(&block)?);
        eth::simulate_v1::answer(node, &simulation, &block, size(max_bytes)?, &limit.deadline)
    })
}

/// Answers `eth_getLogs` with at most `max_bytes`. Answers inline if `may_run_inline` and few blocks have to be searched.
#[napi(catch_unwind, ts_return_type = "string | Buffer | Promise<string | Buffer>")]
pub fn eth_get_logs(
    env: &Env,
    #[napi(ts_arg_type = "string | object")] filter: Text<USUAL_CALL>,
    max_bytes: i64,
    deadline_ms: i64,
    token: i64,
    may_run_inline: bool,
) -> Result<Either<Reply, Object<'_>>> {
    let is_short = filter.len() <= MAX_INLINE_CALL_BYTES;
    inline_or_pooled(env, may_run_inline && is_short, deadline_ms, token, move |node, limit| {
        let query = LogQuery::parse(&filter)?;
        eth::get_logs::answer(node, &query, size(max_bytes)?, &limit.deadline, &limit.cancellation)
    })
}

/// Answers `eth_getProof`. `positions`: storage slots in the form of a parameter. Answers inline if `may_run_inline`
/// and the slots are few.
#[napi(catch_unwind, ts_return_type = "string | Buffer | Promise<string | Buffer>")]
pub fn eth_get_proof(
    env: &Env,
    address: String,
    positions: Vec<String>,
    block: String,
    deadline_ms: i64,
    token: i64,
    may_run_inline: bool,
) -> Result<Either<Reply, Object<'_>>> {
    let are_few = positions.len() <= MAX_INLINE_SLOTS;
    inline_or_pooled(env, may_run_inline && are_few, deadline_ms, token, move |node, limit| {
        let (address, block) = (parameters::address(&address)?, BlockId::parse(&block)?);
        let positions = parameters::numbers(&positions)?;
        eth::get_proof::answer(node, &address, &positions, &block, &limit.deadline)
    })
}

/// Answers `eth_feeHistory`.
#[napi(catch_unwind, ts_return_type = "Promise<string | Buffer>")]
pub fn eth_fee_history(
    env: &Env,
    count: String,
    newest: String,
    percentiles: Vec<f64>,
    deadline_ms: i64,
    token: i64,
) -> Result<Object<'_>> {
    pooled(env, deadline_ms, token, move |node, _limit| {
        eth::fee_history::answer(node, &parameters::number(&count)?, &BlockId::parse(&newest)?, &percentiles)
    })
}

/// Answers `eth_sendRawTransaction`.
#[napi(catch_unwind, ts_return_type = "Promise<string | Buffer>")]
pub fn eth_send_raw_transaction(
    env: &Env,
    #[napi(ts_arg_type = "string | object")] data: Text<USUAL_TRANSACTION>,
    deadline_ms: i64,
    token: i64,
) -> Result<Object<'_>> {
    sending::send(env, data, deadline_ms, token)
}

/// Answers `eth_sendTransaction`.
#[napi(catch_unwind, ts_return_type = "Promise<string | Buffer>")]
pub fn eth_send_transaction(
    env: &Env,
    #[napi(ts_arg_type = "string | object")] transaction: Text<USUAL_CALL>,
    deadline_ms: i64,
    token: i64,
) -> Result<Object<'_>> {
    pooled(env, deadline_ms, token, move |node, _limit| {
        eth::send_transaction::answer(node, &CallObject::parse_transaction(&transaction)?)
    })
}

/// Answers `eth_sendUnsignedTransaction`.
#[napi(catch_unwind, ts_return_type = "Promise<string | Buffer>")]
pub fn eth_send_unsigned_transaction(
    env: &Env,
    #[napi(ts_arg_type = "string | object")] transaction: Text<USUAL_CALL>,
    deadline_ms: i64,
    token: i64,
) -> Result<Object<'_>> {
    pooled(env, deadline_ms, token, move |node, _limit| {
        eth::send_unsigned_transaction::answer(node, &CallObject::parse_transaction(&transaction)?)
    })
}

/// Answers `eth_sign`.
#[napi(catch_unwind, ts_return_type = "Promise<string | Buffer>")]
pub fn eth_sign(
    env: &Env,
    address: String,
    #[napi(ts_arg_type = "string | object")] data: Text,
    deadline_ms: i64,
    token: i64,
) -> Result<Object<'_>> {
    pooled(env, deadline_ms, token, move |node, _limit| {
        let (address, message) = (parameters::address(&address)?, parameters::bytes(&data)?);
        eth::sign::answer(node, &address, &message)
    })
}
