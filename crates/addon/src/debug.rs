//! `debug_*` methods.

use crate::executors::{sync, traced};
use crate::reply::Reply;
use crate::text::Text;
use napi::bindgen_prelude::Object;
use napi::{Env, Result};
use napi_derive::napi;
use rhizome_answers::block_id::BlockId;
use rhizome_answers::call_object::CallObject;
use rhizome_answers::debug::storage_range_at::StorageRange;
use rhizome_answers::tracing::options::TraceOptions;
use rhizome_answers::{RpcError, debug, parameters};
use rhizome_primitives::B256;

/// Answers `debug_getRawBlock`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn debug_get_raw_block(block: String) -> Result<Reply> {
    sync(|node| debug::get_raw_block::answer(node, &BlockId::parse(&block)?))
}

/// Answers `debug_getRawHeader`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn debug_get_raw_header(block: String) -> Result<Reply> {
    sync(|node| debug::get_raw_header::answer(node, &BlockId::parse(&block)?))
}

/// Answers `debug_getRawReceipts`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn debug_get_raw_receipts(block: String) -> Result<Reply> {
    sync(|node| debug::get_raw_receipts::answer(node, &BlockId::parse(&block)?))
}

/// Answers `debug_wireProtocolQueueSize`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn debug_wire_protocol_queue_size() -> Result<Reply> {
    sync(|_node| debug::wire_protocol_queue_size::answer())
}

/// Answers `debug_accountTransactionQuota`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn debug_account_transaction_quota(address: String) -> Result<Reply> {
    sync(|node| debug::account_transaction_quota::answer(node, &parameters::address(&address)?))
}

/// Answers `debug_traceTransaction`.
#[napi(catch_unwind, ts_return_type = "Promise<string | Buffer>")]
pub fn debug_trace_transaction(
    env: &Env,
    hash: String,
    #[napi(ts_arg_type = "string | object")] options: Text,
    deadline_ms: i64,
    token: i64,
) -> Result<Object<'_>> {
    traced(env, deadline_ms, token, move |node, limit| {
        let (hash, options) = (parameters::transaction_hash(&hash)?, TraceOptions::parse(&options)?);
        debug::trace_transaction::answer(node, &hash, &options, &limit.deadline)
    })
}

/// Answers `debug_traceBlockByHash` and `debug_traceBlockByNumber`.
#[napi(catch_unwind, ts_return_type = "Promise<string | Buffer>")]
pub fn debug_trace_block(
    env: &Env,
    block: String,
    #[napi(ts_arg_type = "string | object")] options: Text,
    deadline_ms: i64,
    token: i64,
) -> Result<Object<'_>> {
    traced(env, deadline_ms, token, move |node, limit| {
        let (block, options) = (BlockId::parse(&block)?, TraceOptions::parse(&options)?);
        debug::trace_block::answer(node, &block, &options, &limit.deadline)
    })
}

/// Answers `debug_traceCall`.
#[napi(catch_unwind, ts_return_type = "Promise<string | Buffer>")]
pub fn debug_trace_call(
    env: &Env,
    #[napi(ts_arg_type = "string | object")] call: Text<512>,
    block: String,
    #[napi(ts_arg_type = "string | object")] options: Text,
    deadline_ms: i64,
    token: i64,
) -> Result<Object<'_>> {
    traced(env, deadline_ms, token, move |node, limit| {
        let (call, (options, overrides)) = (CallObject::parse(&call)?, TraceOptions::parse_for_call(&options)?);
        debug::trace_call::answer(node, &call, &BlockId::parse(&block)?, &options, &overrides, &limit.deadline)
    })
}

/// Answers `debug_traceBlock`.
#[napi(catch_unwind, ts_return_type = "Promise<string | Buffer>")]
pub fn debug_trace_raw_block(
    env: &Env,
    #[napi(ts_arg_type = "string | object")] block: Text,
    #[napi(ts_arg_type = "string | object")] options: Text,
    deadline_ms: i64,
    token: i64,
) -> Result<Object<'_>> {
    traced(env, deadline_ms, token, move |node, limit| {
        let (block, options) = (parameters::bytes(&block)?, TraceOptions::parse(&options)?);
        debug::trace_raw_block::answer(node, &block, &options, &limit.deadline)
    })
}

/// Answers `debug_storageRangeAt`.
#[allow(clippy::too_many_arguments, reason = "plain values cross the border")]
#[napi(catch_unwind, ts_return_type = "Promise<string | Buffer>")]
pub fn debug_storage_range_at(
    env: &Env,
    block: String,
    index: u32,
    address: String,
    start: String,
    most: u32,
    deadline_ms: i64,
    token: i64,
) -> Result<Object<'_>> {
    traced(env, deadline_ms, token, move |node, limit| {
        let size = |number| usize::try_from(number).map_err(RpcError::internal);
        let start = B256::from(parameters::number(&start)?.to_be_bytes::<32>());
        let range =
            StorageRange { address: parameters::address(&address)?, index: size(index)?, start, most: size(most)? };
        debug::storage_range_at::answer(node, &BlockId::parse(&block)?, &range, &limit.deadline)
    })
}
