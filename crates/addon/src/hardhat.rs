//! `hardhat_*` and `anvil_*` methods.

use crate::evm::natural;
use crate::executors::{pooled, sync};
use crate::process::running;
use crate::reply::Reply;
use crate::text::Text;
use napi::bindgen_prelude::Object;
use napi::{Env, Result};
use napi_derive::napi;
use rhizome_answers::{RpcError, hardhat, parameters, saved_state};
use std::path::Path;

/// Answers `hardhat_impersonateAccount`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn hardhat_impersonate_account(address: String) -> Result<Reply> {
    sync(|node| hardhat::impersonate_account::answer(node, &parameters::address(&address)?))
}

/// Answers `hardhat_stopImpersonatingAccount`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn hardhat_stop_impersonating_account(address: String) -> Result<Reply> {
    sync(|node| hardhat::stop_impersonating_account::answer(node, &parameters::address(&address)?))
}

/// Answers `hardhat_getAutomine`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn hardhat_get_automine() -> Result<Reply> {
    sync(hardhat::get_automine::answer)
}

/// Answers `hardhat_dropTransaction`.
#[napi(catch_unwind, ts_return_type = "Promise<string | Buffer>")]
pub fn hardhat_drop_transaction(env: &Env, hash: String, deadline_ms: i64, token: i64) -> Result<Object<'_>> {
    pooled(env, deadline_ms, token, move |node, _limit| {
        hardhat::drop_transaction::answer(node, &parameters::transaction_hash(&hash)?)
    })
}

/// Answers `hardhat_mine`. An interval below 0 means none.
#[napi(catch_unwind, ts_return_type = "Promise<string | Buffer>")]
pub fn hardhat_mine(env: &Env, blocks: i64, interval: i64, deadline_ms: i64, token: i64) -> Result<Object<'_>> {
    pooled(env, deadline_ms, token, move |node, limit| {
        hardhat::mine::answer(node, natural("blocks", blocks)?, u64::try_from(interval).ok(), &limit.deadline)
    })
}

/// Answers `hardhat_setBalance`.
#[napi(catch_unwind, ts_return_type = "Promise<string | Buffer>")]
pub fn hardhat_set_balance(
    env: &Env,
    address: String,
    balance: String,
    deadline_ms: i64,
    token: i64,
) -> Result<Object<'_>> {
    pooled(env, deadline_ms, token, move |node, _limit| {
        hardhat::set_balance::answer(node, &parameters::address(&address)?, &parameters::number(&balance)?)
    })
}

/// Answers `hardhat_setCode`.
#[napi(catch_unwind, ts_return_type = "Promise<string | Buffer>")]
pub fn hardhat_set_code(env: &Env, address: String, code: String, deadline_ms: i64, token: i64) -> Result<Object<'_>> {
    pooled(env, deadline_ms, token, move |node, _limit| {
        hardhat::set_code::answer(node, &parameters::address(&address)?, &parameters::bytes(&code)?)
    })
}

/// Answers `hardhat_setNonce`.
#[napi(catch_unwind, ts_return_type = "Promise<string | Buffer>")]
pub fn hardhat_set_nonce(env: &Env, address: String, nonce: i64, deadline_ms: i64, token: i64) -> Result<Object<'_>> {
    pooled(env, deadline_ms, token, move |node, _limit| {
        hardhat::set_nonce::answer(node, &parameters::address(&address)?, natural("nonce", nonce)?)
    })
}

/// Answers `hardhat_setStorageAt`.
#[napi(catch_unwind, ts_return_type = "Promise<string | Buffer>")]
pub fn hardhat_set_storage_at(
    env: &Env,
    address: String,
    position: String,
    word: String,
    deadline_ms: i64,
    token: i64,
) -> Result<Object<'_>> {
    pooled(env, deadline_ms, token, move |node, _limit| {
        let (position, word) = (parameters::number(&position)?, parameters::number(&word)?);
        hardhat::set_storage_at::answer(node, &parameters::address(&address)?, &position, &word)
    })
}

/// Answers `hardhat_setCoinbase`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn hardhat_set_coinbase(address: String) -> Result<Reply> {
    sync(|node| hardhat::set_coinbase::answer(node, &parameters::address(&address)?))
}

/// Answers `hardhat_setMinGasPrice`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn hardhat_set_min_gas_price(price: String) -> Result<Reply> {
    sync(|node| hardhat::set_min_gas_price::answer(node, &parameters::number(&price)?))
}

/// Answers `hardhat_metadata`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn hardhat_metadata() -> Result<Reply> {
    sync(hardhat::metadata::answer)
}

/// Answers `anvil_nodeInfo`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn anvil_node_info() -> Result<Reply> {
    sync(hardhat::node_info::answer)
}

/// Answers `anvil_autoImpersonateAccount`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn anvil_auto_impersonate_account(is_on: bool) -> Result<Reply> {
    sync(|node| hardhat::auto_impersonate_account::answer(node, is_on))
}

/// Answers `anvil_setLoggingEnabled`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn anvil_set_logging_enabled(is_on: bool) -> Result<Reply> {
    sync(|node| hardhat::set_logging_enabled::answer(node, is_on))
}

/// Returns whether events of the chain may be printed.
#[napi(catch_unwind)]
pub fn prints_chain() -> bool {
    running().is_ok_and(|running| running.node().prints_chain())
}

/// Answers `anvil_dropAllTransactions`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn anvil_drop_all_transactions() -> Result<Reply> {
    sync(hardhat::drop_all_transactions::answer)
}

/// Answers `anvil_removePoolTransactions`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn anvil_remove_pool_transactions(sender: String) -> Result<Reply> {
    sync(|node| hardhat::remove_pool_transactions::answer(node, &parameters::address(&sender)?))
}

/// Answers `anvil_setBlockTimestampInterval`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn anvil_set_block_timestamp_interval(seconds: i64) -> Result<Reply> {
    sync(|node| hardhat::set_block_timestamp_interval::answer(node, natural("interval", seconds)?))
}

/// Answers `anvil_removeBlockTimestampInterval`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn anvil_remove_block_timestamp_interval() -> Result<Reply> {
    sync(hardhat::remove_block_timestamp_interval::answer)
}

/// Answers `anvil_dumpState`.
#[napi(catch_unwind, ts_return_type = "Promise<string | Buffer>")]
pub fn anvil_dump_state(env: &Env, max_bytes: i64, deadline_ms: i64, token: i64) -> Result<Object<'_>> {
    pooled(env, deadline_ms, token, move |node, _limit| {
        let max_bytes = usize::try_from(max_bytes).map_err(RpcError::internal)?;
        hardhat::dump_state::answer(node, max_bytes)
    })
}

/// Answers `anvil_loadState`.
#[napi(catch_unwind, ts_return_type = "Promise<string | Buffer>")]
pub fn anvil_load_state(
    env: &Env,
    #[napi(ts_arg_type = "string | object")] state: Text,
    deadline_ms: i64,
    token: i64,
) -> Result<Object<'_>> {
    pooled(env, deadline_ms, token, move |node, _limit| hardhat::load_state::answer(node, &parameters::bytes(&state)?))
}

/// Loads a state file. Returns the number of its accounts, `null` if there is no file.
#[napi(catch_unwind, ts_return_type = "Promise<string | Buffer>")]
pub fn load_state_file(env: &Env, path: String) -> Result<Object<'_>> {
    pooled(env, 0, 0, move |node, _limit| saved_state::file::load_file(node, Path::new(&path)))
}

/// Writes the state of the head to a state file.
#[napi(catch_unwind, ts_return_type = "Promise<string | Buffer>")]
pub fn save_state_file(env: &Env, path: String) -> Result<Object<'_>> {
    pooled(env, 0, 0, move |node, _limit| saved_state::file::save_file(node, Path::new(&path)))
}

/// Answers `anvil_rollback`.
#[napi(catch_unwind, ts_return_type = "Promise<string | Buffer>")]
pub fn anvil_rollback(env: &Env, depth: i64, deadline_ms: i64, token: i64) -> Result<Object<'_>> {
    pooled(env, deadline_ms, token, move |node, _limit| hardhat::rollback::answer(node, natural("depth", depth)?))
}

/// Answers `anvil_reorg`. An empty text means no transactions.
#[napi(catch_unwind, ts_return_type = "Promise<string | Buffer>")]
pub fn anvil_reorg(
    env: &Env,
    depth: i64,
    #[napi(ts_arg_type = "string | object")] transactions: Text,
    deadline_ms: i64,
    token: i64,
) -> Result<Object<'_>> {
    pooled(env, deadline_ms, token, move |node, limit| {
        hardhat::reorg::answer(node, natural("depth", depth)?, &transactions, &limit.deadline)
    })
}
