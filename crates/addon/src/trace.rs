//! `trace_*` methods.

use crate::executors::traced;
use crate::text::Text;
use napi::bindgen_prelude::Object;
use napi::{Env, Result};
use napi_derive::napi;
use rhizome_answers::block_id::BlockId;
use rhizome_answers::call_object::CallObject;
use rhizome_answers::trace::call_many::WantedCall;
use rhizome_answers::trace::filter::TraceFilter;
use rhizome_answers::tracing::options::ReplayParts;
use rhizome_answers::{RpcError, parameters, trace};

/// Answers `trace_transaction`.
#[napi(catch_unwind, ts_return_type = "Promise<string | Buffer>")]
pub fn trace_transaction(env: &Env, hash: String, deadline_ms: i64, token: i64) -> Result<Object<'_>> {
    traced(env, deadline_ms, token, move |node, limit| {
        trace::transaction::answer(node, &parameters::transaction_hash(&hash)?, &limit.deadline)
    })
}

/// Answers `trace_block`.
#[napi(catch_unwind, ts_return_type = "Promise<string | Buffer>")]
pub fn trace_block(env: &Env, block: String, deadline_ms: i64, token: i64) -> Result<Object<'_>> {
    traced(env, deadline_ms, token, move |node, limit| {
        trace::block::answer(node, &BlockId::parse(&block)?, &limit.deadline)
    })
}

/// Answers `trace_filter`.
#[napi(catch_unwind, ts_return_type = "Promise<string | Buffer>")]
pub fn trace_filter(
    env: &Env,
    #[napi(ts_arg_type = "string | object")] filter: Text<512>,
    deadline_ms: i64,
    token: i64,
) -> Result<Object<'_>> {
    traced(env, deadline_ms, token, move |node, limit| {
        trace::filter::answer(node, &TraceFilter::parse(&filter)?, &limit.deadline)
    })
}

/// Answers `trace_get`.
#[napi(catch_unwind, ts_return_type = "Promise<string | Buffer>")]
pub fn trace_get(env: &Env, hash: String, position: u32, deadline_ms: i64, token: i64) -> Result<Object<'_>> {
    traced(env, deadline_ms, token, move |node, limit| {
        let position = usize::try_from(position).map_err(RpcError::internal)?;
        trace::get::answer(node, &parameters::transaction_hash(&hash)?, position, &limit.deadline)
    })
}

/// Answers `trace_call`.
#[napi(catch_unwind, ts_return_type = "Promise<string | Buffer>")]
pub fn trace_call(
    env: &Env,
    #[napi(ts_arg_type = "string | object")] call: Text<512>,
    types: String,
    block: String,
    deadline_ms: i64,
    token: i64,
) -> Result<Object<'_>> {
    traced(env, deadline_ms, token, move |node, limit| {
        let (call, wanted) = (CallObject::parse(&call)?, ReplayParts::parse(&types)?);
        trace::call::answer(node, &call, wanted, &BlockId::parse(&block)?, &limit.deadline)
    })
}

/// Answers `trace_callMany`.
#[napi(catch_unwind, ts_return_type = "Promise<string | Buffer>")]
pub fn trace_call_many(
    env: &Env,
    #[napi(ts_arg_type = "string | object")] calls: Text<512>,
    block: String,
    deadline_ms: i64,
    token: i64,
) -> Result<Object<'_>> {
    traced(env, deadline_ms, token, move |node, limit| {
        trace::call_many::answer(node, &WantedCall::parse_all(&calls)?, &BlockId::parse(&block)?, &limit.deadline)
    })
}

/// Answers `trace_rawTransaction`.
#[napi(catch_unwind, ts_return_type = "Promise<string | Buffer>")]
pub fn trace_raw_transaction(
    env: &Env,
    #[napi(ts_arg_type = "string | object")] data: Text<512>,
    types: String,
    block: String,
    deadline_ms: i64,
    token: i64,
) -> Result<Object<'_>> {
    traced(env, deadline_ms, token, move |node, limit| {
        let (wanted, block) = (ReplayParts::parse(&types)?, BlockId::parse(&block)?);
        trace::raw_transaction::answer(node, &data, wanted, &block, &limit.deadline)
    })
}

/// Answers `trace_replayTransaction`.
#[napi(catch_unwind, ts_return_type = "Promise<string | Buffer>")]
pub fn trace_replay_transaction(
    env: &Env,
    hash: String,
    types: String,
    deadline_ms: i64,
    token: i64,
) -> Result<Object<'_>> {
    traced(env, deadline_ms, token, move |node, limit| {
        let (hash, wanted) = (parameters::transaction_hash(&hash)?, ReplayParts::parse(&types)?);
        trace::replay_transaction::answer(node, &hash, wanted, &limit.deadline)
    })
}

/// Answers `trace_replayBlockTransactions`.
#[napi(catch_unwind, ts_return_type = "Promise<string | Buffer>")]
pub fn trace_replay_block_transactions(
    env: &Env,
    block: String,
    types: String,
    deadline_ms: i64,
    token: i64,
) -> Result<Object<'_>> {
    traced(env, deadline_ms, token, move |node, limit| {
        let (block, wanted) = (BlockId::parse(&block)?, ReplayParts::parse(&types)?);
        trace::replay_block_transactions::answer(node, &block, wanted, &limit.deadline)
    })
}
