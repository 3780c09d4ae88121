//! `mnr_*` methods and the mining methods of `eth_*`. Building and importing a block executes it, so the pool answers.

use crate::executors::{pooled, sync};
use crate::reply::Reply;
use napi::bindgen_prelude::Object;
use napi::{Env, Result};
use napi_derive::napi;
use rhizome_answers::{eth, mnr};

/// Answers `mnr_getWork`.
#[napi(catch_unwind, ts_return_type = "Promise<string | Buffer>")]
pub fn mnr_get_work(env: &Env, deadline_ms: i64, token: i64) -> Result<Object<'_>> {
    pooled(env, deadline_ms, token, |node, _limit| mnr::get_work::answer(node))
}

/// Returns the block template in the form of `mnr_getWork`. The next miner still gets the request to change over.
#[napi(catch_unwind, ts_return_type = "Promise<string | Buffer>")]
pub fn mnr_current_work(env: &Env, deadline_ms: i64, token: i64) -> Result<Object<'_>> {
    pooled(env, deadline_ms, token, |node, _limit| mnr::get_work::current(node))
}

/// Answers `mnr_submitBitcoinBlock`. Hex.
#[napi(catch_unwind, ts_return_type = "Promise<string | Buffer>")]
pub fn mnr_submit_bitcoin_block(env: &Env, block: String, deadline_ms: i64, token: i64) -> Result<Object<'_>> {
    pooled(env, deadline_ms, token, move |node, _limit| mnr::submit_bitcoin_block::answer(node, &block))
}

/// Answers `mnr_submitBitcoinBlockTransactions`. Hex; transaction ids separated by blanks.
#[napi(catch_unwind, ts_return_type = "Promise<string | Buffer>")]
pub fn mnr_submit_bitcoin_block_transactions(
    env: &Env,
    header: String,
    coinbase: String,
    ids: String,
    deadline_ms: i64,
    token: i64,
) -> Result<Object<'_>> {
    pooled(env, deadline_ms, token, move |node, _limit| {
        mnr::submit_bitcoin_block_transactions::answer(node, &header, &coinbase, &ids)
    })
}

/// Answers `mnr_submitBitcoinBlockPartialMerkle`. Hex; hashes of the Merkle branch separated by blanks.
#[napi(catch_unwind, ts_return_type = "Promise<string | Buffer>")]
pub fn mnr_submit_bitcoin_block_partial_merkle(
    env: &Env,
    header: String,
    coinbase: String,
    branch: String,
    count: String,
    deadline_ms: i64,
    token: i64,
) -> Result<Object<'_>> {
    pooled(env, deadline_ms, token, move |node, _limit| {
        mnr::submit_bitcoin_block_partial_merkle::answer(node, &header, &coinbase, &branch, &count)
    })
}

/// Answers `eth_getWork`.
#[napi(catch_unwind, ts_return_type = "Promise<string | Buffer>")]
pub fn eth_get_work(env: &Env, deadline_ms: i64, token: i64) -> Result<Object<'_>> {
    pooled(env, deadline_ms, token, |node, _limit| eth::get_work::answer(node))
}

/// Answers `eth_submitWork`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn eth_submit_work() -> Result<Reply> {
    sync(|_node| eth::submit_work::answer())
}

/// Answers `eth_submitHashrate`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn eth_submit_hashrate() -> Result<Reply> {
    sync(|_node| eth::submit_hashrate::answer())
}
