//! `rsk_*` methods.

use crate::executors::{pooled, sync, sync_or_pooled};
use crate::reply::Reply;
use napi::bindgen_prelude::{Either, Object};
use napi::{Env, Result};
use napi_derive::napi;
use rhizome_answers::block_id::BlockId;
use rhizome_answers::{parameters, rsk};

/// Answers `rsk_flush`.
#[napi(catch_unwind, ts_return_type = "Promise<string | Buffer>")]
pub fn rsk_flush(env: &Env, deadline_ms: i64, token: i64) -> Result<Object<'_>> {
    pooled(env, deadline_ms, token, |node, _limit| rsk::flush::answer(node))
}

/// Answers `rsk_getRawBlockHeaderByHash`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn rsk_get_raw_block_header_by_hash(hash: String) -> Result<Reply> {
    sync(|node| rsk::get_raw_block_header_by_hash::answer(node, &parameters::block_hash(&hash)?))
}

/// Answers `rsk_getRawBlockHeaderByNumber`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn rsk_get_raw_block_header_by_number(block: String) -> Result<Reply> {
    sync(|node| rsk::get_raw_block_header_by_number::answer(node, &BlockId::parse(&block)?))
}

/// Answers `rsk_getRawTransactionReceiptByHash`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn rsk_get_raw_transaction_receipt_by_hash(hash: String) -> Result<Reply> {
    sync(|node| rsk::get_raw_transaction_receipt_by_hash::answer(node, &parameters::transaction_hash(&hash)?))
}

/// Answers `rsk_getStorageBytesAt`.
#[napi(catch_unwind, ts_return_type = "string | Buffer | Promise<string | Buffer>")]
pub fn rsk_get_storage_bytes_at(
    env: &Env,
    address: String,
    position: String,
    block: String,
) -> Result<Either<Reply, Object<'_>>> {
    sync_or_pooled(env, move |node| {
        let (address, position) = (parameters::address(&address)?, parameters::number(&position)?);
        rsk::get_storage_bytes_at::answer(node, &address, &position, &BlockId::parse(&block)?)
    })
}

/// Answers `rsk_getTransactionReceiptNodesByHash`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn rsk_get_transaction_receipt_nodes_by_hash(block: String, transaction: String) -> Result<Reply> {
    sync(|node| {
        let (block, transaction) = (parameters::block_hash(&block)?, parameters::transaction_hash(&transaction)?);
        rsk::get_transaction_receipt_nodes_by_hash::answer(node, &block, &transaction)
    })
}
