//! Checkpoints of data directories, without a node: each function runs on a separate thread.

use crate::blocks::{report, without_node};
use crate::config::NodeConfig;
use napi::bindgen_prelude::{Function, Object};
use napi::threadsafe_function::ThreadsafeFunctionCallMode;
use napi::{Env, Result};
use napi_derive::napi;
use rhizome_answers::checkpoints::{self, CheckpointSource};

/// Copies the database of a data directory, also of a running node, and writes it as a checkpoint into a folder or an s3 URL.
/// `keyFile`: private key of the publisher, created if missing. Calls `onProgress(null, json)` with `{done, total}` in bytes.
/// Resolves with the checkpoint as `listCheckpoints` does, and `written`: new bytes in the location.
#[napi(catch_unwind, ts_return_type = "Promise<string>")]
pub fn create_checkpoint<'env>(
    env: &'env Env,
    dir: String,
    location: String,
    key_file: String,
    #[napi(ts_arg_type = "(error: Error | null, progress: string) => void")] on_progress: Function<'_, String, ()>,
) -> Result<Object<'env>> {
    let report = report(&on_progress)?;
    without_node(env, move || {
        checkpoints::create(&dir, &location, &key_file, |line| {
            report.call(Ok(line), ThreadsafeFunctionCallMode::Blocking);
        })
    })
}

/// Lists the checkpoints of a folder or an s3 URL, lowest block first. `trust`: the required publisher, empty for any. Resolves with
/// `[{"name","chainId","genesis","number","hash","stateRoot","sequence","layout","hasAllTries","oldestState","created","files",
/// "bytes","publisher"}]`.
#[napi(catch_unwind, ts_return_type = "Promise<string>")]
pub fn list_checkpoints(env: &Env, location: String, trust: String) -> Result<Object<'_>> {
    without_node(env, move || checkpoints::list(&location, &trust))
}

/// Reads all of a checkpoint and compares it with its hashes. `name`: empty for the latest. Calls `onProgress(null, json)` with
/// `{done, total}` in bytes. Resolves with the checkpoint as `listCheckpoints` does.
#[napi(catch_unwind, ts_return_type = "Promise<string>")]
pub fn verify_checkpoint<'env>(
    env: &'env Env,
    location: String,
    name: String,
    trust: String,
    #[napi(ts_arg_type = "(error: Error | null, progress: string) => void")] on_progress: Function<'_, String, ()>,
) -> Result<Object<'env>> {
    let report = report(&on_progress)?;
    without_node(env, move || {
        let source = CheckpointSource { location: &location, name: &name, trust: &trust };
        checkpoints::verify(&source, |line| {
            report.call(Ok(line), ThreadsafeFunctionCallMode::Blocking);
        })
    })
}

/// Makes a checkpoint the database of a data directory. `config` is that of `openNode`. Calls `onProgress(null, json)` with
/// `{done, total}` in bytes. Resolves with the checkpoint as `listCheckpoints` does, and `read`: downloaded bytes; with null if the
/// directory has a chain.
#[napi(catch_unwind, ts_return_type = "Promise<string>")]
pub fn restore_checkpoint<'env>(
    env: &'env Env,
    config: String,
    location: String,
    name: String,
    trust: String,
    #[napi(ts_arg_type = "(error: Error | null, progress: string) => void")] on_progress: Function<'_, String, ()>,
) -> Result<Object<'env>> {
    let report = report(&on_progress)?;
    without_node(env, move || {
        let config = NodeConfig::parse(&config)?.chain(None)?;
        let source = CheckpointSource { location: &location, name: &name, trust: &trust };
        checkpoints::restore(&config, &source, |line| {
            report.call(Ok(line), ThreadsafeFunctionCallMode::Blocking);
        })
    })
}
