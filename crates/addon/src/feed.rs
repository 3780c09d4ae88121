//! Changes that filters and subscriptions read between two polls.

use crate::executors::{ExecutionLimit, pooled, sync, traced};
use crate::reply::{Reply, refusal, size};
use napi::bindgen_prelude::Object;
use napi::{Env, Result};
use napi_derive::napi;
use rhizome_answers::block_id::BlockId;
use rhizome_answers::feed::page::PageLimits;
use rhizome_answers::feed::{self, FeedContent, FeedForm};
use rhizome_answers::log_filter::LogQuery;
use rhizome_answers::{Node, RpcError, parameters};
use rhizome_evm::Deadline;
use rhizome_primitives::B256;
use std::time::{Duration, Instant};

/// Time after which a page of a feed ends, behind a transaction.
const PAGE_TIME: Duration = Duration::from_secs(2);

/// Returns the head: `{"number","hash"}`.
#[napi(catch_unwind, ts_return_type = "string")]
pub fn head_cursor() -> Result<Reply> {
    sync(feed::head_cursor::answer)
}

/// Returns the height of the block of a tag.
#[napi(catch_unwind)]
pub fn tagged_height(tag: String) -> Result<i64> {
    let running = crate::process::running().map_err(refusal)?;
    let height = || Ok(BlockId::parse(&tag)?.locate(&running.node())?.block().header.number.cast_signed());
    height().map_err(refusal)
}

/// Returns the changes of the main chain since a block, at most `most` new blocks: `{"hashes","removed","cursor"}`.
#[napi(catch_unwind, ts_return_type = "string")]
pub fn main_hashes_since(number: i64, hash: String, most: u32) -> Result<String> {
    let moved = sync(|node| {
        let number = u64::try_from(number).map_err(RpcError::internal)?;
        feed::main_hashes_since::answer(node, number, &parameters::block_hash(&hash)?, most.into())
    })?;
    Ok(String::from_utf8_lossy(&moved.0).into_owned())
}

/// Returns the transactions that became executable after a position: `{"hashes","position"}`.
#[napi(catch_unwind, ts_return_type = "string")]
pub fn pending_hashes_since(position: i64) -> Result<String> {
    let waiting = sync(|node| {
        let position = u64::try_from(position).map_err(RpcError::internal)?;
        feed::pending_hashes::answer(node, position)
    })?;
    Ok(String::from_utf8_lossy(&waiting.0).into_owned())
}

/// Returns the position after the last transaction that became executable.
#[napi(catch_unwind)]
pub fn pending_position() -> Result<i64> {
    let running = crate::process::running().map_err(refusal)?;
    Ok(feed::pending_hashes::position(&running.node()).cast_signed())
}

/// Returns the transactions that blocks have left out since the last call: `[{"hash","from","nonce","reason","isDropped"}]`.
#[napi(catch_unwind, ts_return_type = "string")]
pub fn left_out() -> Result<Reply> {
    sync(feed::waiting::answer)
}

/// Returns the matching logs of blocks (a JSON array of hashes), at most `max_bytes`; logs of removed blocks in reverse order and
/// marked.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn logs_of_blocks(hashes: String, filter: String, is_removed: bool, max_bytes: i64) -> Result<Reply> {
    sync(|node| {
        let texts: Vec<String> = serde_json::from_str(&hashes).map_err(RpcError::internal)?;
        let hashes: Vec<B256> =
            texts.iter().map(|hash| parameters::block_hash(hash)).collect::<std::result::Result<_, _>>()?;
        feed::logs_of_blocks::answer(node, &hashes, &LogQuery::parse(&filter)?, is_removed, size(max_bytes)?)
    })
}

/// Returns the header of a block in the form of `newHeads` subscriptions, `null` if the block is unknown.
#[napi(catch_unwind, ts_return_type = "string")]
pub fn head_of_block(hash: String) -> Result<Reply> {
    sync(|node| feed::head::answer(node, &parameters::block_hash(&hash)?))
}

/// Returns the events of a change feed behind a place, and a last line with the place of the next page: see
/// `answers/src/feed/page.rs`. A page ends after [`PAGE_TIME`]; the execution of a block fails after `deadline_ms`.
#[napi(catch_unwind, ts_return_type = "Promise<string | Buffer>")]
pub fn feed_page(
    env: &Env,
    from: String,
    content: String,
    is_event_stream: bool,
    max_bytes: i64,
    deadline_ms: i64,
    token: i64,
) -> Result<Object<'_>> {
    let form = if is_event_stream { FeedForm::EventStream } else { FeedForm::Lines };
    let needs_execution = FeedContent::parse(&content).map_err(refusal)?.needs_execution();
    let read = move |node: &Node, limit: &ExecutionLimit| {
        let content = FeedContent::parse(&content)?;
        let end = Deadline::at(Instant::now() + PAGE_TIME);
        let limits = PageLimits { bytes: size(max_bytes)?, deadline: &end, execution: &limit.deadline };
        feed::page::answer(node, &from, &content, form, &limits)
    };
    match needs_execution {
        true => traced(env, deadline_ms, token, read),
        false => pooled(env, deadline_ms, token, read),
    }
}
