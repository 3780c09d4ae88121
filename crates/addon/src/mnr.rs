//! Work for other miners. Building and importing blocks executes them, so these answers come from the pool.

use crate::executors::{pooled, sync};
use crate::reply::Reply;
use napi::bindgen_prelude::Object;
use napi::{Env, Result};
use napi_derive::napi;
use rhizome_answers::{eth, mnr};

/// `mnr_getWork`.
#[napi(catch_unwind, ts_return_type = "Promise<string | Buffer>")]
pub fn mnr_get_work(env: &Env, deadline_ms: i64, token: i64) -> Result<Object<'_>> {
    pooled(env, deadline_ms, token, |node, _limit| mnr::get_work::answer(node))
}

/// `mnr_submitBitcoinBlock`. Hex.
#[napi(catch_unwind, ts_return_type = "Promise<string | Buffer>")]
pub fn mnr_submit_bitcoin_block(env: &Env, block: String, deadline_ms: i64, token: i64) -> Result<Object<'_>> {
    pooled(env, deadline_ms, token, move |node, _limit| mnr::submit_bitcoin_block::answer(node, &block))
}

/// `mnr_submitBitcoinBlockTransactions`. Hex; ids with blanks between them.
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

/// `mnr_submitBitcoinBlockPartialMerkle`. Hex; the branch with blanks in between.
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

/// `eth_getWork`.
#[napi(catch_unwind, ts_return_type = "Promise<string | Buffer>")]
pub fn eth_get_work(env: &Env, deadline_ms: i64, token: i64) -> Result<Object<'_>> {
    pooled(env, deadline_ms, token, |node, _limit| eth::get_work::answer(node))
}

/// `eth_submitWork`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn eth_submit_work() -> Result<Reply> {
    sync(|_node| eth::submit_work::answer())
}

/// `eth_submitHashrate`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn eth_submit_hashrate() -> Result<Reply> {
    sync(|_node| eth::submit_hashrate::answer())
}
