//! Files of blocks: import and export, each on a thread of its own.

use crate::lanes::{Promised, guarded, promise, settle};
use crate::node::alone;
use crate::process::{self, Running};
use crate::reply::refusal;
use napi::bindgen_prelude::{Function, Object};
use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode};
use napi::{Env, Result, Status};
use napi_derive::napi;
use rhizome_answers::json::JsonWriter;
use rhizome_answers::{Answer, RpcError};
use rhizome_chain::{ImportedLine, LineResult};
use std::fs::File;
use std::io::{BufReader, BufWriter};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Reports that wait for JavaScript. Import waits when it is so far ahead.
const WAITING_REPORTS: usize = 64;

type Report = ThreadsafeFunction<String, (), String, Status, true, false, WAITING_REPORTS>;

/// Imports a file of blocks. `onProgress(null, json)` is called for each block with `{number, hash, stateRoot, result}`.
/// Resolves with counts: `{"blocks","best","side","known","head"}`. `options` is a JSON object, empty so far.
#[napi(catch_unwind, ts_return_type = "Promise<string>")]
pub fn import_blocks<'env>(
    env: &'env Env,
    path: String,
    _options: String,
    #[napi(ts_arg_type = "(error: Error | null, progress: string) => void")] on_progress: Function<'_, String, ()>,
) -> Result<Object<'env>> {
    let report = on_progress.build_threadsafe_function::<String>();
    let report: Report = report.callee_handled::<true>().max_queue_size::<WAITING_REPORTS>().build()?;
    in_background(env, move |running| import(running, &path, &report))
}

/// Writes the blocks of the main chain from one height to another. Resolves with `{"blocks","from","to"}`.
#[napi(catch_unwind, ts_return_type = "Promise<string>")]
pub fn export_blocks(env: &Env, path: String, from: i64, to: i64) -> Result<Object<'_>> {
    in_background(env, move |running| export(running, &path, height(from)?, height(to)?))
}

fn in_background(env: &Env, work: impl FnOnce(&Running) -> Answer + Send + 'static) -> Result<Object<'_>> {
    let running = process::running().map_err(refusal)?;
    let (promised, promise): (Promised, _) = promise(env)?;
    alone("rhizome-blocks", move || {
        let answer = guarded(|| work(&running));
        // Given back before anybody learns of the end and closes the node.
        drop(running);
        settle(promised, answer);
    })?;
    Ok(promise)
}

fn import(running: &Running, path: &str, report: &Report) -> Answer {
    let file = File::open(path).map_err(|error| RpcError::internal(format!("{path}: {error}")))?;
    let is_closing = Arc::clone(&running.is_closing);
    let chain = running.node.chain();
    let mut counts = [0i64; 3];
    let imported = chain.import_blocks(BufReader::with_capacity(1 << 20, file), |line| {
        let (slot, result) = match line.result {
            LineResult::Best => (0, "IMPORTED_BEST"),
            LineResult::Side => (1, "IMPORTED_NOT_BEST"),
            LineResult::Known => (2, "EXIST"),
        };
        counts.iter_mut().skip(slot).take(1).for_each(|count| *count += 1);
        report.call(Ok(line_report(line, result)), ThreadsafeFunctionCallMode::Blocking);
        if is_closing.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    let blocks = imported.map_err(|error| RpcError::internal(format!("{path}: {error}")))?;
    let [best, side, known] = counts;
    let head = chain.head().number().cast_signed();
    let members = [("blocks", blocks.cast_signed()), ("best", best), ("side", side), ("known", known), ("head", head)];
    Ok(summary(&members))
}

fn line_report(line: &ImportedLine, result: &str) -> String {
    let mut json = JsonWriter::with_capacity(256);
    json.begin_object();
    json.key("number").number(line.number.cast_signed());
    json.key("hash").hash(&line.hash);
    json.key("stateRoot").hash(&line.state_root);
    json.key("result").text(result);
    json.end_object();
    String::from_utf8_lossy(&json.finish()).into_owned()
}

fn export(running: &Running, path: &str, from: u64, to: u64) -> Answer {
    let failed = |error: &dyn std::fmt::Display| RpcError::internal(format!("{path}: {error}"));
    let file = File::create(path).map_err(|error| failed(&error))?;
    let is_closing = Arc::clone(&running.is_closing);
    let go_on =
        |_number| if is_closing.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
    let written = running.node.chain().export_blocks(from, to, &mut BufWriter::with_capacity(1 << 20, file), go_on);
    let blocks = written.map_err(|error| failed(&error))?;
    Ok(summary(&[("blocks", blocks.cast_signed()), ("from", from.cast_signed()), ("to", to.cast_signed())]))
}

fn summary(members: &[(&str, i64)]) -> Vec<u8> {
    let mut json = JsonWriter::new();
    json.begin_object();
    members.iter().for_each(|(name, number)| json.key(name).number(*number));
    json.end_object();
    json.finish()
}

fn height(number: i64) -> std::result::Result<u64, RpcError> {
    u64::try_from(number).map_err(|_negative| RpcError::invalid_params("block numbers are not negative"))
}
