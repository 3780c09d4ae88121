//! `hardhat_*`.

use crate::evm::natural;
use crate::lanes::{pooled, sync};
use crate::reply::Reply;
use napi::bindgen_prelude::Object;
use napi::{Env, Result};
use napi_derive::napi;
use rhizome_answers::{hardhat, parameters};

/// `hardhat_impersonateAccount`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn hardhat_impersonate_account(address: String) -> Result<Reply> {
    sync(|node| hardhat::impersonate_account::answer(node, &parameters::address(&address)?))
}

/// `hardhat_stopImpersonatingAccount`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn hardhat_stop_impersonating_account(address: String) -> Result<Reply> {
    sync(|node| hardhat::stop_impersonating_account::answer(node, &parameters::address(&address)?))
}

/// `hardhat_getAutomine`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn hardhat_get_automine() -> Result<Reply> {
    sync(hardhat::get_automine::answer)
}

/// `hardhat_dropTransaction`.
#[napi(catch_unwind, ts_return_type = "Promise<string | Buffer>")]
pub fn hardhat_drop_transaction(env: &Env, hash: String, deadline_ms: i64, ticket: i64) -> Result<Object<'_>> {
    pooled(env, deadline_ms, ticket, move |node, _patience| {
        hardhat::drop_transaction::answer(node, &parameters::transaction_hash(&hash)?)
    })
}

/// `hardhat_mine`.
#[napi(catch_unwind, ts_return_type = "Promise<string | Buffer>")]
pub fn hardhat_mine(env: &Env, blocks: i64, interval: i64, deadline_ms: i64, ticket: i64) -> Result<Object<'_>> {
    pooled(env, deadline_ms, ticket, move |node, patience| {
        let (blocks, interval) = (natural("blocks", blocks)?, natural("interval", interval)?);
        hardhat::mine::answer(node, blocks, interval, &patience.deadline)
    })
}

/// `hardhat_setBalance`.
#[napi(catch_unwind, ts_return_type = "Promise<string | Buffer>")]
pub fn hardhat_set_balance(
    env: &Env,
    address: String,
    balance: String,
    deadline_ms: i64,
    ticket: i64,
) -> Result<Object<'_>> {
    pooled(env, deadline_ms, ticket, move |node, _patience| {
        hardhat::set_balance::answer(node, &parameters::address(&address)?, &parameters::number(&balance)?)
    })
}

/// `hardhat_setCode`.
#[napi(catch_unwind, ts_return_type = "Promise<string | Buffer>")]
pub fn hardhat_set_code(env: &Env, address: String, code: String, deadline_ms: i64, ticket: i64) -> Result<Object<'_>> {
    pooled(env, deadline_ms, ticket, move |node, _patience| {
        hardhat::set_code::answer(node, &parameters::address(&address)?, &parameters::bytes(&code)?)
    })
}

/// `hardhat_setNonce`.
#[napi(catch_unwind, ts_return_type = "Promise<string | Buffer>")]
pub fn hardhat_set_nonce(env: &Env, address: String, nonce: i64, deadline_ms: i64, ticket: i64) -> Result<Object<'_>> {
    pooled(env, deadline_ms, ticket, move |node, _patience| {
        hardhat::set_nonce::answer(node, &parameters::address(&address)?, natural("nonce", nonce)?)
    })
}

/// `hardhat_setStorageAt`.
#[napi(catch_unwind, ts_return_type = "Promise<string | Buffer>")]
pub fn hardhat_set_storage_at(
    env: &Env,
    address: String,
    position: String,
    word: String,
    deadline_ms: i64,
    ticket: i64,
) -> Result<Object<'_>> {
    pooled(env, deadline_ms, ticket, move |node, _patience| {
        let (position, word) = (parameters::number(&position)?, parameters::number(&word)?);
        hardhat::set_storage_at::answer(node, &parameters::address(&address)?, &position, &word)
    })
}
