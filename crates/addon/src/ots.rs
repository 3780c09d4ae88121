//! `ots_*` methods.

use crate::executors::{pooled, sync_or_pooled, traced};
use crate::reply::Reply;
use napi::bindgen_prelude::{Either, Object};
use napi::{Env, Result};
use napi_derive::napi;
use rhizome_answers::block_id::BlockId;
use rhizome_answers::ots::search_transactions::SearchFrom;
use rhizome_answers::{RpcError, ots, parameters};

/// Answers `ots_hasCode`.
#[napi(catch_unwind, ts_return_type = "string | Buffer | Promise<string | Buffer>")]
pub fn ots_has_code(env: &Env, address: String, block: String) -> Result<Either<Reply, Object<'_>>> {
    sync_or_pooled(env, move |node| {
        ots::has_code::answer(node, &parameters::address(&address)?, &BlockId::parse(&block)?)
    })
}

/// Answers `ots_getBlockDetails` and `ots_getBlockDetailsByHash`.
#[napi(catch_unwind, ts_return_type = "Promise<string | Buffer>")]
pub fn ots_get_block_details(env: &Env, block: String, deadline_ms: i64, token: i64) -> Result<Object<'_>> {
    pooled(env, deadline_ms, token, move |node, _limit| ots::get_block_details::answer(node, &BlockId::parse(&block)?))
}

/// Answers `ots_getBlockTransactions`.
#[napi(catch_unwind, ts_return_type = "Promise<string | Buffer>")]
pub fn ots_get_block_transactions(
    env: &Env,
    block: String,
    page: u32,
    page_size: u32,
    deadline_ms: i64,
    token: i64,
) -> Result<Object<'_>> {
    pooled(env, deadline_ms, token, move |node, _limit| {
        ots::get_block_transactions::answer(node, &BlockId::parse(&block)?, size(page)?, size(page_size)?)
    })
}

/// Answers `ots_searchTransactionsBefore`, and `ots_searchTransactionsAfter` with `is_forward`, with at most `max_bytes`.
#[allow(clippy::too_many_arguments, reason = "plain values cross the border")]
#[napi(catch_unwind, ts_return_type = "Promise<string | Buffer>")]
pub fn ots_search_transactions(
    env: &Env,
    address: String,
    block: i64,
    is_forward: bool,
    page_size: u32,
    max_bytes: i64,
    deadline_ms: i64,
    token: i64,
) -> Result<Object<'_>> {
    pooled(env, deadline_ms, token, move |node, limit| {
        let number = u64::try_from(block).map_err(RpcError::internal)?;
        let direction = if is_forward { SearchFrom::After(number) } else { SearchFrom::Before(number) };
        let (address, max_bytes) =
            (parameters::address(&address)?, usize::try_from(max_bytes).map_err(RpcError::internal)?);
        ots::search_transactions::answer(node, &address, direction, size(page_size)?, max_bytes, &limit.deadline)
    })
}

/// Answers `ots_getTransactionBySenderAndNonce`.
#[napi(catch_unwind, ts_return_type = "Promise<string | Buffer>")]
pub fn ots_get_transaction_by_sender_and_nonce(
    env: &Env,
    sender: String,
    nonce: String,
    deadline_ms: i64,
    token: i64,
) -> Result<Object<'_>> {
    pooled(env, deadline_ms, token, move |node, limit| {
        let (sender, nonce) = (parameters::address(&sender)?, parameters::number(&nonce)?);
        ots::get_transaction_by_sender_and_nonce::answer(node, &sender, &nonce, &limit.deadline)
    })
}

/// Answers `ots_getContractCreator`.
#[napi(catch_unwind, ts_return_type = "Promise<string | Buffer>")]
pub fn ots_get_contract_creator(env: &Env, address: String, deadline_ms: i64, token: i64) -> Result<Object<'_>> {
    traced(env, deadline_ms, token, move |node, limit| {
        ots::get_contract_creator::answer(node, &parameters::address(&address)?, &limit.deadline)
    })
}

/// Answers `ots_getInternalOperations`.
#[napi(catch_unwind, ts_return_type = "Promise<string | Buffer>")]
pub fn ots_get_internal_operations(env: &Env, hash: String, deadline_ms: i64, token: i64) -> Result<Object<'_>> {
    traced(env, deadline_ms, token, move |node, limit| {
        ots::get_internal_operations::answer(node, &parameters::transaction_hash(&hash)?, &limit.deadline)
    })
}

/// Answers `ots_getTransactionError`.
#[napi(catch_unwind, ts_return_type = "Promise<string | Buffer>")]
pub fn ots_get_transaction_error(env: &Env, hash: String, deadline_ms: i64, token: i64) -> Result<Object<'_>> {
    traced(env, deadline_ms, token, move |node, limit| {
        ots::get_transaction_error::answer(node, &parameters::transaction_hash(&hash)?, &limit.deadline)
    })
}

/// Answers `ots_traceTransaction`.
#[napi(catch_unwind, ts_return_type = "Promise<string | Buffer>")]
pub fn ots_trace_transaction(env: &Env, hash: String, deadline_ms: i64, token: i64) -> Result<Object<'_>> {
    traced(env, deadline_ms, token, move |node, limit| {
        ots::trace_transaction::answer(node, &parameters::transaction_hash(&hash)?, &limit.deadline)
    })
}

fn size(number: u32) -> std::result::Result<usize, RpcError> {
    usize::try_from(number).map_err(RpcError::internal)
}
