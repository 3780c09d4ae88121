//! Forks: questions to the remote node, and the cache of its results.

use crate::executors::{pooled, sync};
use crate::process;
use crate::reply::{Reply, refusal};
use napi::bindgen_prelude::Object;
use napi::{Env, Result};
use napi_derive::napi;
use rhizome_answers::block_id::BlockId;
use rhizome_answers::fork::{self, BlockPart};

/// Returns where the older blocks of a fork are: `remote` (in another node), `local` (in a directory), or null without a fork.
#[napi(catch_unwind, ts_return_type = "'remote' | 'local' | null")]
pub fn forked_chain() -> Option<&'static str> {
    let running = process::running().ok()?;
    let node = running.current.load();
    node.fork().map(|fork| if fork.remote().is_some() { "remote" } else { "local" })
}

/// Directs further calls of this thread to the older blocks of a fork of a directory, or back. To be called around one request.
#[napi(catch_unwind)]
pub fn read_older_blocks(is_on: bool) {
    process::read_older_blocks(is_on);
}

/// Returns the number of a block that only the remote node of a fork has, with `is_state` of one whose state only that node has; else
/// `null`.
#[napi(catch_unwind, ts_return_type = "string")]
pub fn remote_block_number(block: String, is_state: bool) -> Result<Reply> {
    let part = if is_state { BlockPart::State } else { BlockPart::Block };
    sync(|node| fork::remote_number(node, &BlockId::parse(&block)?, part))
}

/// Returns the result of the remote node of a fork. `params`: a JSON array.
#[napi(catch_unwind, ts_return_type = "Promise<string | Buffer>")]
pub fn ask_remote(env: &Env, method: String, params: String, deadline_ms: i64, token: i64) -> Result<Object<'_>> {
    pooled(env, deadline_ms, token, move |node, _limit| fork::pass(node, &method, &params))
}

/// Returns the cache files of forks in a folder. Needs no node.
#[napi(catch_unwind, ts_return_type = "string")]
pub fn list_fork_cache(folder: String) -> Result<Reply> {
    fork::list_cache(&folder).map(Reply).map_err(refusal)
}

/// Deletes the cache files of forks in a folder. Needs no node.
#[napi(catch_unwind)]
pub fn clear_fork_cache(folder: String) -> Result<()> {
    fork::clear_cache(&folder).map(drop).map_err(refusal)
}
