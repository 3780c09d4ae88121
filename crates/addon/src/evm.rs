//! `evm_*` methods.

use crate::executors::{pooled, sync};
use crate::reply::Reply;
use napi::bindgen_prelude::Object;
use napi::{Env, Result};
use napi_derive::napi;
use rhizome_answers::{RpcError, evm, parameters};

/// Answers `evm_snapshot`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn evm_snapshot() -> Result<Reply> {
    sync(evm::snapshot::answer)
}

/// Answers `evm_increaseTime`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn evm_increase_time(seconds: i64) -> Result<Reply> {
    sync(|node| evm::increase_time::answer(node, natural("seconds", seconds)?))
}

/// Answers `evm_revert`.
#[napi(catch_unwind, ts_return_type = "Promise<string | Buffer>")]
pub fn evm_revert(env: &Env, id: i64, deadline_ms: i64, token: i64) -> Result<Object<'_>> {
    pooled(env, deadline_ms, token, move |node, _limit| evm::revert::answer(node, natural("id", id)?))
}

/// Answers `evm_mine`. A timestamp below 0 means none.
#[napi(catch_unwind, ts_return_type = "Promise<string | Buffer>")]
pub fn evm_mine(env: &Env, blocks: i64, timestamp: i64, deadline_ms: i64, token: i64) -> Result<Object<'_>> {
    pooled(env, deadline_ms, token, move |node, limit| {
        evm::mine::answer(node, natural("blocks", blocks)?, u64::try_from(timestamp).ok(), &limit.deadline)
    })
}

/// Answers `evm_setAutomine`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn evm_set_automine(is_on: bool) -> Result<Reply> {
    sync(|node| evm::set_automine::answer(node, is_on))
}

/// Answers `evm_setIntervalMining`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn evm_set_interval_mining(milliseconds: i64) -> Result<Reply> {
    sync(|node| evm::set_interval_mining::answer(node, natural("interval", milliseconds)?))
}

/// Answers `evm_setNextBlockTimestamp`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn evm_set_next_block_timestamp(timestamp: i64) -> Result<Reply> {
    sync(|node| evm::set_next_block_timestamp::answer(node, natural("timestamp", timestamp)?))
}

/// Answers `evm_setTime`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn evm_set_time(timestamp: i64) -> Result<Reply> {
    sync(|node| evm::set_time::answer(node, natural("timestamp", timestamp)?))
}

/// Answers `evm_setBlockGasLimit`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn evm_set_block_gas_limit(gas_limit: String) -> Result<Reply> {
    sync(|node| evm::set_block_gas_limit::answer(node, &parameters::number(&gas_limit)?))
}

/// Answers `evm_reset`.
#[napi(catch_unwind, ts_return_type = "Promise<string | Buffer>")]
pub fn evm_reset(env: &Env, deadline_ms: i64, token: i64) -> Result<Object<'_>> {
    pooled(env, deadline_ms, token, |node, _limit| evm::reset::answer(node))
}

/// Answers `evm_startMining`.
#[napi(catch_unwind, ts_return_type = "Promise<string | Buffer>")]
pub fn evm_start_mining(env: &Env, deadline_ms: i64, token: i64) -> Result<Object<'_>> {
    pooled(env, deadline_ms, token, |node, _limit| evm::start_mining::answer(node))
}

/// Answers `evm_stopMining`.
#[napi(catch_unwind, ts_return_type = "Promise<string | Buffer>")]
pub fn evm_stop_mining(env: &Env, deadline_ms: i64, token: i64) -> Result<Object<'_>> {
    pooled(env, deadline_ms, token, |node, _limit| evm::stop_mining::answer(node))
}

/// Converts a number. Fails with invalid params if it is negative.
pub(crate) fn natural(name: &str, number: i64) -> std::result::Result<u64, RpcError> {
    u64::try_from(number).map_err(|_negative| RpcError::invalid_params(format!("{name} must not be negative")))
}
